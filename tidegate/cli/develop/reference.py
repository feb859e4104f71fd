"""`tidegate docs`, `explain` and `schema`: what there is to look up, printed for a terminal or for tools.

`docs` prints the pages of the installed version, `explain` says what a code means, from the registry of all
codes (`scheduler.explain.codes`), and `schema` prints the JSON Schema of the YAML. Editors read the comment
`# yaml-language-server: $schema=...` at the start of a file; save the schema beside the schedules and write
its path there.
"""

import difflib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tidegate.cli.printing import (
    Format,
    ListFormatOption,
    WideOption,
    print_for_tools,
    print_json,
    print_table,
)
from tidegate.cli.terminal import own_colours
from tidegate.domain.error import UserError

if TYPE_CHECKING:
    from tidegate.scheduler.explain.codes import Code


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


def explain(
    code: Annotated[
        str | None,
        typer.Argument(help="A code such as L401, W-WINDOW or E-STATE; default: list all.", metavar="CODE"),
    ] = None,
    wide: WideOption = False,
    format: ListFormatOption = Format.TEXT,
) -> None:
    """Say what a code of a diagnostic, a reason or a refusal means, what has led to it, and what to do."""
    from tidegate.scheduler.explain.codes import near, registry

    known = registry()
    if code is None:
        if format is Format.TEXT:
            rows = [[each.code, each.meaning] for each in known.values()]
            print_table(["code", "meaning"], rows, wide=wide)
        else:
            print_for_tools(list(known.values()), format)
        return
    found = known.get(code.upper())
    if found is None:
        close = near(code, known)
        hint = f"did you mean {', '.join(close)}?" if close else "`tidegate explain` lists all codes"
        raise typer.BadParameter(f'there is no code "{code:.100}"; {hint}')
    if format is Format.TSV:
        print_for_tools([found], format)
    elif format is Format.JSON:
        print_json(found)
    else:
        _print_code(found)


def _print_code(found: "Code") -> None:
    severity = "" if found.severity is None else f" ({found.severity})"
    with own_colours():
        typer.echo(f"{typer.style(found.code, bold=True)}{severity}: {found.meaning}")
    typer.echo(f"  cause:  {found.cause}")
    typer.echo(f"  remedy: {found.remedy}")
    typer.echo(f"  docs:   docs/{found.page}; `tidegate docs {found.page.partition('.')[0]}`")


def schema() -> None:
    """Print the JSON Schema (Draft 2020-12) of an app's YAML file, for editors and other tools."""
    from tidegate.compiler.schema import schema_text

    typer.echo(schema_text(), nl=False)
