"""`tidegate store`: the size of the schedule store, a pass of retention by hand, and the journal as a file.

`size` shows rows and bytes of each table, how far back it goes, and what retention would remove. `prune`
removes that in the same small transactions as the host's. `export` writes the journal page by page, into a
whole file or none.
"""

from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tidegate.cli.printing import (
    Format,
    FormatOption,
    ListFormatOption,
    WideOption,
    instant,
    print_for_tools,
    print_json,
    print_table,
)

if TYPE_CHECKING:
    from tidegate.scheduler.store.answers import Numbered
    from tidegate.scheduler.store.engine_reader import EngineReader


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
        print_for_tools(lines, format, ("table", "rows", "bytes", "oldest", "prunable"))
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


PAGE = 5_000
"""Entries that are in memory at once."""


class FileFormat(StrEnum):
    """The format of the file."""

    JSONL = "jsonl"
    PARQUET = "parquet"


def export_journal(
    to: Annotated[Path, typer.Option("--to", help="The file; it must not exist.", metavar="FILE")],
    format: Annotated[
        FileFormat, typer.Option("--format", help="JSON lines, or Parquet (needs pyarrow).")
    ] = FileFormat.JSONL,
    since: Annotated[
        str | None, typer.Option(help="Only entries of this instant and later ones.", metavar="INSTANT")
    ] = None,
    until: Annotated[
        str | None, typer.Option(help="Only entries before this instant.", metavar="INSTANT")
    ] = None,
) -> None:
    """Write the journal to a file, oldest entry first."""
    from tidegate.cli.opened_store import opened_store
    from tidegate.domain.error import UserError

    first, last = _given_instant("--since", since), _given_instant("--until", until)
    if to.exists():
        raise UserError(f"{to} exists", "name another file, or remove it")
    part = to.with_name(f".{to.name}.part")
    try:
        with opened_store(may_be_unreleased=True) as store, store.reading() as reader:
            write = _write_lines if format is FileFormat.JSONL else _write_parquet
            count = write(part, _pages(reader, first, last))
        part.replace(to)
    except OSError as error:
        raise UserError(
            f"{to} cannot be written: {error.strerror}", "name a file in an existing folder with space"
        ) from error
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)
    typer.echo(f"{count:,} entries written to {to}")


def _given_instant(option: str, text: str | None) -> datetime | None:
    from tidegate.domain.time.instant import instant_of

    return None if text is None else instant_of(text, option)


def _pages(
    reader: "EngineReader", since: datetime | None, until: datetime | None
) -> Iterator[list[dict[str, Any]]]:
    """Yield the rows of entries, page by page."""
    after = 0
    while rows := reader.journal_page(after=after, first=PAGE):
        after = rows[-1].number
        wanted = (row for row in rows if since is None or row.entry.at >= since)
        yield [_row(row) for row in wanted if until is None or row.entry.at < until]


def _row(row: "Numbered") -> dict[str, Any]:
    entry = row.entry
    return {
        "number": row.number,
        "at": entry.at,
        "kind": str(entry.kind),
        "schedule": entry.schedule,
        "job": entry.job,
        "run_id": entry.run_id,
        "event": entry.event,
        "reason": entry.reason,
        "data": entry.data,
    }


def _write_lines(file: Path, pages: Iterator[list[dict[str, Any]]]) -> int:
    import msgspec

    count, encode = 0, msgspec.json.Encoder().encode
    with file.open("wb") as stream:
        for page in pages:
            stream.writelines(encode(row) + b"\n" for row in page)
            count += len(page)
    return count


def _write_parquet(file: Path, pages: Iterator[list[dict[str, Any]]]) -> int:
    """Write Parquet; the column `data` is JSON text."""
    import msgspec

    from tidegate.domain.error import UserError

    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ModuleNotFoundError as error:
        raise UserError("Parquet needs the package pyarrow", "install it, or write --format jsonl") from error
    texts = [(name, pa.string()) for name in ("kind", "schedule", "job", "run_id", "event", "reason", "data")]
    schema = pa.schema([("number", pa.int64()), ("at", pa.timestamp("us", tz="UTC")), *texts])
    count = 0
    with pq.ParquetWriter(file, schema) as writer:
        for page in pages:
            plain = [{**row, "data": msgspec.json.encode(row["data"]).decode()} for row in page]
            writer.write_table(pa.Table.from_pylist(plain, schema=schema))
            count += len(page)
    return count


SUMMARY = "Show the size of the schedule store, prune it, export its journal."

app = typer.Typer(no_args_is_help=True, help=SUMMARY)

app.command("size")(show_size)
app.command("prune")(prune_store)
app.command("export")(export_journal)
