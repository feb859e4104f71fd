"""`tidegate late`: what is late now, and which data was."""

from typing import TYPE_CHECKING, Annotated

import typer

from tidegate.cli.printing import NUMBER_MAX, Format, FormatOption, instant, print_json, print_table

if TYPE_CHECKING:
    from tidegate.scheduler.explain.lateness import Late

DEFAULT_LIMIT = 50

NAMES_MAX = 5
"""Missing partitions that a row names."""


def late(
    dataset: Annotated[str | None, typer.Option(help='Only this dataset, "app/name".')] = None,
    app: Annotated[str | None, typer.Option(help="Only this app.")] = None,
    every: Annotated[
        bool, typer.Option("--all", help="Also periods of datasets that have landed since.")
    ] = False,
    limit: Annotated[int, typer.Option(min=1, max=NUMBER_MAX, help="The most rows.")] = DEFAULT_LIMIT,
    format: FormatOption = Format.TEXT,
) -> None:
    """List jobs and data that have missed their deadline, the newest deadline first."""
    from tidegate.cli.opened_store import opened_store
    from tidegate.project.settings.settings import load_settings
    from tidegate.scheduler.explain.lateness import lateness
    from tidegate.scheduler.explain.names import find_app, find_dataset

    with opened_store(load_settings(), missing_is_empty=True) as store, store.reading() as reader:
        whole = None if dataset is None else find_dataset(reader, dataset)
        app = find_app(reader, app)
        found = lateness(reader, limit, apps=None if app is None else (app,), dataset=whole, now=not every)
    if format is Format.JSON:
        print_json(found)
        return
    if not found:
        typer.echo("Nothing was late." if every else "Nothing is late.")
        return
    columns = ["what", "name", "key", "due", "deadline", "since", "job", "missing"]
    print_table(columns, [_row(each) for each in found])


def _row(each: "Late") -> list[str]:
    over = "" if each.over_at is None else f"landed {instant(each.over_at)}"
    left = ", ".join(each.missing[:NAMES_MAX]) + (", …" if len(each.missing) > NAMES_MAX else "")
    return [
        each.kind,
        each.name,
        each.key,
        instant(each.due),
        each.deadline,
        instant(each.late_at),
        each.job,
        over or left,
    ]
