"""`tidegate store size`: rows and bytes of each table, how far back it goes, and what retention removes."""

from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from tidegate.cli.printing import (
    Format,
    ListFormatOption,
    WideOption,
    instant,
    print_for_tools,
    print_json,
    print_table,
)

UNITS = ("B", "KB", "MB", "GB", "TB")


def show_size(
    every: Annotated[bool, typer.Option("--all", help="Also tables without rows.")] = False,
    wide: WideOption = False,
    format: ListFormatOption = Format.TEXT,
) -> None:
    """Show the rows, bytes and oldest instant of each table, and what retention would remove."""
    from tidegate.cli.opened_store import opened_store
    from tidegate.project.settings.settings import load_settings
    from tidegate.scheduler.retention.journal import pruned_until
    from tidegate.scheduler.retention.outlook import glimpse

    settings, now = load_settings(), datetime.now(UTC)
    with opened_store(settings) as store, store.reading() as reader:
        sizes, since = reader.sizes(), pruned_until(reader)
        going = glimpse(reader, settings.retention, now)
    prunable = {name: getattr(going.pruned, name) for name in going.pruned.__struct_fields__}
    lines: list[dict[str, Any]] = [
        {
            "table": each.table,
            "rows": each.rows,
            "bytes": each.bytes,
            "oldest": each.oldest,
            "prunable": prunable.get(each.table),
        }
        for each in sizes
        if each.rows or every
    ]
    least = "" if going.whole else "at least "
    total = sum(each.bytes for each in sizes if each.bytes is not None)
    if format is Format.TSV:
        print_for_tools(lines, format)
        return
    if format is Format.JSON:
        print_json(
            {
                "tables": lines,
                "bytes": total or None,
                "journal_pruned_until": since,
                "prunable_is_least": not going.whole,
            }
        )
        return
    columns = ["table", "rows", "size", "oldest", "retention would remove"]
    rows = [
        [
            line["table"],
            f"{line['rows']:,}",
            _size(line["bytes"]),
            instant(line["oldest"]),
            f"{least}{line['prunable']:,}" if line["prunable"] else "",
        ]
        for line in lines
    ]
    print_table(columns, rows, right=["rows", "size", "retention would remove"], wide=wide)
    typer.echo(f"in all {_size(total or None)}")
    if since is not None:
        typer.echo(f"the journal begins at {instant(since)}: what came before was pruned")


def _size(number: int | None) -> str:
    if number is None:
        return "unknown"
    size, unit = float(number), 0
    while size >= 1024 and unit < len(UNITS) - 1:
        size, unit = size / 1024, unit + 1
    return f"{size:.0f} {UNITS[unit]}" if unit == 0 else f"{size:.1f} {UNITS[unit]}"
