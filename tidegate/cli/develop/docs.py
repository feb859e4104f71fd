"""`tidegate docs`: lists the documentation, or prints a page of it.

The pages are those of `docs/`, which the wheel contains. A terminal gets rendered text, a pipe
gets the Markdown source.
"""

import difflib
import sys
from pathlib import Path
from typing import Annotated

import typer

from tidegate.cli.printing import (
    Format,
    ListFormatOption,
    WideOption,
    print_for_tools,
    print_json,
    print_table,
)
from tidegate.domain.error import UserError

FIRST_PAGES = ("getting-started", "programs", "concepts", "language")
"""The pages for new users, in reading order; the others follow by name."""


def docs(
    page: Annotated[
        str | None, typer.Argument(help="A page, such as getting-started; default: list all pages.")
    ] = None,
    wide: WideOption = False,
    format: ListFormatOption = Format.TEXT,
) -> None:
    """List the documentation, or print a page of it."""
    from tidegate.project.shipped import docs_folder

    folder = docs_folder()
    if page is None:
        _list(folder, format, wide=wide)
        return
    file = _found(folder, page)
    if format is Format.TEXT:
        _print(file)
        return
    name = file.relative_to(folder).with_suffix("").as_posix()
    found = {"page": name, "title": _title(file), "text": file.read_text(encoding="utf-8")}
    if format is Format.JSON:
        print_json(found)
    else:
        print_for_tools([found], format)


def _list(folder: Path, format: Format, *, wide: bool) -> None:
    found = [(name, _title(folder / f"{name}.md")) for name in _names(folder) if "/" not in name]
    if format is not Format.TEXT:
        print_for_tools([{"page": name, "title": title} for name, title in found], format)
        return
    print_table(("page", "title"), found, wide=wide)
    typer.echo("\nPrint one with: tidegate docs PAGE. Decision records: tidegate docs adr/0001")


def _found(folder: Path, page: str) -> Path:
    """Return the file of a page, given its name or a unique prefix.

    Raises:
        UserError: the page does not exist.
    """
    wanted = page.removeprefix("docs/").removesuffix(".md")
    names = _names(folder)
    begun = [name for name in names if name.startswith(wanted)]
    if wanted in names or len(begun) == 1:
        return folder / f"{wanted if wanted in names else begun[0]}.md"
    close = begun or difflib.get_close_matches(wanted, names, n=1)
    raise UserError(
        f"there is no page {page!r:.100}",
        f"did you mean {' or '.join(close)}?" if close else "list the pages with: tidegate docs",
    )


def _names(folder: Path) -> list[str]:
    found = sorted(path.relative_to(folder).with_suffix("").as_posix() for path in folder.rglob("*.md"))
    return [name for name in FIRST_PAGES if name in found] + [
        name for name in found if name not in FIRST_PAGES
    ]


def _title(file: Path) -> str:
    with file.open(encoding="utf-8") as lines:
        return next((line.removeprefix("# ").strip() for line in lines if line.startswith("# ")), "")


def _print(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    if not sys.stdout.isatty():
        typer.echo(text, nl=False)
        return
    from rich.markdown import Markdown

    from tidegate.cli.printing import print_rich

    print_rich(Markdown(text))
