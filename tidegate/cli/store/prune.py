"""`tidegate store prune`: a pass of retention by hand, in the same small transactions as the host's."""

from datetime import UTC, datetime
from typing import Annotated

import typer

from tidegate.cli.printing import Format, FormatOption, print_json


def prune_store(
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only count what would be removed; change nothing.")
    ] = False,
    format: FormatOption = Format.TEXT,
) -> None:
    """Remove what is older than [retention] in tidegate.toml allows and nothing needs any more."""
    from tidegate.cli.opened_store import opened_store
    from tidegate.project.settings.settings import load_settings
    from tidegate.scheduler.retention.outlook import outlook
    from tidegate.scheduler.retention.prune import prune

    settings, now = load_settings(), datetime.now(UTC)
    with opened_store(settings) as store:
        if dry_run:
            with store.reading() as reader:
                pruned = outlook(reader, settings.retention, now)
        else:
            pruned = prune(store, settings.retention, now)
    if format is Format.JSON:
        print_json(pruned)
        return
    counts = {name: getattr(pruned, name) for name in pruned.__struct_fields__}
    found = ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)
    verb = "would be removed" if dry_run else "removed"
    typer.echo(f"{verb}: {found}" if found else "nothing is old enough to be removed")
