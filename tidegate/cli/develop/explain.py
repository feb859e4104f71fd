"""`tidegate explain`: says what a code means, from the registry of all codes (`scheduler.explain.codes`)."""

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

if TYPE_CHECKING:
    from tidegate.scheduler.explain.codes import Code


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
        _print(found)


def _print(found: "Code") -> None:
    severity = "" if found.severity is None else f" ({found.severity})"
    with own_colours():
        typer.echo(f"{typer.style(found.code, bold=True)}{severity}: {found.meaning}")
    typer.echo(f"  cause:  {found.cause}")
    typer.echo(f"  remedy: {found.remedy}")
    typer.echo(f"  docs:   docs/{found.page}; `tidegate docs {found.page.partition('.')[0]}`")
