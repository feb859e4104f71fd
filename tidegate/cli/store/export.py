"""`tidegate store export`: the journal as JSON lines or Parquet, page by page, in a finished file or none."""

from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from tidegate.scheduler.store.answers import Numbered
    from tidegate.scheduler.store.engine_reader import EngineReader

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

    first, last = _instant("--since", since), _instant("--until", until)
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


def _instant(option: str, text: str | None) -> datetime | None:
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
