"""All lists in a terminal of any width, in a pipe and for shells, with values of callers that mean harm."""

import contextlib
import io
import re
import types
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, Union, get_args, get_origin

import msgspec
import pytest

from tidegate.cli.item_table import print_items
from tidegate.cli.plain_table import size
from tidegate.cli.printing import Format, print_for_tools
from tidegate.cli.terminal import cleaned_output
from tidegate.listings.declared import LISTINGS
from tidegate.listings.listing import Listing
from tidegate.scheduler.store.memory.store import MemoryStore

NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)
PARAMETERS = pytest.mark.parametrize("listing", LISTINGS.values(), ids=list(LISTINGS))

HOSTILE = {
    "control": "app/name\twith a tab\nand a line\r\nend \x1b[2J\x1b[31mred\x07 \u202eback",
    "long": "app/" + "n" * 300,
    "many words": "app/name " + "word " * 100,
    "wide": "app/\u4e2d\u6587\u4e2d\u6587 \U0001f600\U0001f469\u200d\U0001f4bb zw\u00f6lf",
    "markup": "app/[bold]name[/bold] [link=x]",
    "empty": "",
}
LABEL_MAX = 22
"""Before a value on a line of its own; an id that is longer than the rest of the line is printed whole."""

PLAIN = "app/report_of_each_day-1a2b3c4d5e6f"


def made(kind: Any, text: str, name: str = "") -> Any:
    """A value of a type, with a text in all its texts."""
    origin, parts = get_origin(kind), get_args(kind)
    if name in ("reason", "waits", "outcome") and kind is not str:
        return "W-WINDOW" if name == "reason" else None
    if hasattr(kind, "__metadata__"):
        return made(kind.__origin__, text, name)
    if origin in (Union, types.UnionType):
        return made(next(part for part in parts if part not in (type(None), msgspec.UnsetType)), text, name)
    if origin is Literal:
        return parts[0]
    if origin in (tuple, list):
        return [made(parts[0], text), made(parts[0], text)] if origin is list else (made(parts[0], text),) * 2
    if origin is dict:
        return {PLAIN if parts[0] is str else made(parts[0], text): made(parts[1], text)}
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        fields = {field.name: made(field.type, text, field.name) for field in msgspec.structs.fields(kind)}
        return kind(**fields)
    plain: dict[Any, Any] = {str: text, int: 12345, float: 0.5, bool: True, datetime: NOW, Any: text}
    return timedelta(hours=1) if kind is timedelta else plain.get(kind)


def items_of(listing: Listing, text: str) -> list[Any]:
    return [made(listing.item, each) for each in (text, PLAIN)]


def printed(listing: Listing, text: str, monkeypatch: pytest.MonkeyPatch, columns: str, *, wide: bool) -> str:
    monkeypatch.setenv("COLUMNS", columns)
    with (
        MemoryStore().reading() as reader,
        contextlib.redirect_stdout(io.StringIO()) as out,
        cleaned_output(),
    ):
        print_items(listing, items_of(listing, text), reader, NOW, wide=wide)
    return out.getvalue()


@PARAMETERS
@pytest.mark.parametrize("text", HOSTILE.values(), ids=list(HOSTILE))
def test_a_list_fits_and_breaks_no_id(listing: Listing, text: str, monkeypatch: pytest.MonkeyPatch):
    for columns in (40, 80, 200):
        out = printed(listing, text, monkeypatch, str(columns), wide=False)
        assert PLAIN in out or PLAIN[-12:-4] in out.split(), "an id is whole"
        for line in out.splitlines():
            assert line.isprintable(), "codes of callers"
            assert size(line) <= columns or max(map(size, line.split())) > columns - LABEL_MAX, line


@PARAMETERS
@pytest.mark.parametrize("text", HOSTILE.values(), ids=list(HOSTILE))
def test_in_a_pipe_each_row_is_one_line(listing: Listing, text: str, monkeypatch: pytest.MonkeyPatch):
    lines = printed(listing, text, monkeypatch, "", wide=False).splitlines()
    assert len(lines) == 4 and all(line.isprintable() for line in lines)


@PARAMETERS
def test_wide_has_all_columns_and_whole_ids(listing: Listing, monkeypatch: pytest.MonkeyPatch):
    head, _, *rows = printed(listing, PLAIN, monkeypatch, "80", wide=True).splitlines()
    always = [column for column in listing.whole if column.priority != 2]
    assert [column.title for column in always if column.title not in head] == []
    assert len(rows) == 2 and all(PLAIN in row for row in rows)


@PARAMETERS
@pytest.mark.parametrize("text", HOSTILE.values(), ids=list(HOSTILE))
def test_lines_with_tabs_have_each_field_once(listing: Listing, text: str):
    with contextlib.redirect_stdout(io.StringIO()) as out, cleaned_output():
        print_for_tools(items_of(listing, text), Format.TSV, listing.item.__struct_encode_fields__)
    head, *rows = out.getvalue().removesuffix("\n").split("\n")
    assert head.split("\t") == [*listing.item.__struct_encode_fields__]
    assert [row.count("\t") for row in rows] == [head.count("\t")] * 2
    assert all(each.isprintable() or each == "\t" for row in rows for each in row)


@PARAMETERS
def test_an_empty_list_is_a_header_for_shells(listing: Listing):
    with contextlib.redirect_stdout(io.StringIO()) as out:
        print_for_tools([], Format.TSV, listing.item.__struct_encode_fields__)
    assert out.getvalue() == "\t".join(listing.item.__struct_encode_fields__) + "\n"


@pytest.mark.parametrize("columns", ["80", "200", ""])
def test_the_queue_has_five_columns_also_of_jobs_with_a_run(columns: str, monkeypatch: pytest.MonkeyPatch):
    shown = printed(LISTINGS["jobs"], PLAIN, monkeypatch, columns, wide=False)
    # In a narrow terminal each value of these is on a line of its own.
    lines = shown.splitlines() if columns == "80" else re.split(r"\s{2,}", shown.splitlines()[0].strip())
    titles = ["job", "what", "state", "age", "waits for"]
    assert [title for line in lines for title in titles if line.startswith(title)][:5] == titles
    assert "run state" not in shown
    assert "run state" in printed(LISTINGS["jobs"], PLAIN, monkeypatch, columns, wide=True)
