"""`tidegate watch`: look once at the watched folders, and say what is in them. Nothing is reported."""

from typing import TYPE_CHECKING, Annotated

import typer

from tidegate.cli.printing import Format, FormatOption, print_json, print_line, print_table

if TYPE_CHECKING:
    from tidegate.watcher.seen import SeenFolder

SHOWN = 20
"""New partitions of a folder in a text; JSON has all."""


def watch(
    dataset: Annotated[
        str | None, typer.Argument(help='The dataset, as "app/dataset" or alone. Default: all.')
    ] = None,
    format: FormatOption = Format.TEXT,
) -> None:
    """Look once at the folders of datasets with `watch`, and report nothing; exit code 1 if one fails."""
    from tidegate.cli.opened_store import opened_store
    from tidegate.domain.suggest import did_you_mean
    from tidegate.project.location import location_of
    from tidegate.project.settings.settings import load_settings
    from tidegate.scheduler.model.refused import UnknownName
    from tidegate.watcher.seen import seen_folders, watched_names

    settings = load_settings()
    with opened_store(settings) as store, store.reading() as reader:
        site = location_of(settings).site
        found, names = seen_folders(reader, site, dataset), watched_names(reader, site)
    if dataset is not None and not found:
        raise UnknownName(f'no watched dataset "{dataset}"', did_you_mean(dataset, names, "watched datasets"))
    if format is Format.JSON:
        print_json(found)
    else:
        _print(found)
    if any(each.problem for each in found):
        raise typer.Exit(1)


def _print(found: "list[SeenFolder]") -> None:
    if not found:
        typer.echo("no deployed dataset has `watch`")
    for each in found:
        print_line(f"{each.dataset}: {each.folder}")
        if each.problem:
            print_line(f"  cannot be looked at: {each.problem}")
            print_line(f"  {each.remedy}")
            continue
        print_line(f"  {each.reported} partitions are known, {len(each.new)} have something new")
        rows = [
            [new.key or "(all)", f"{new.files:,}", f"{new.bytes:,}", new.waits_for]
            for new in each.new[:SHOWN]
        ]
        if rows:
            print_table(["partition", "new files", "bytes", "waits for"], rows, right=["new files", "bytes"])
        if len(each.new) > SHOWN:
            print_line(f"  and {len(each.new) - SHOWN} more: --format json has all")
        for note in each.notes:
            print_line(f"  left out: {note}")
