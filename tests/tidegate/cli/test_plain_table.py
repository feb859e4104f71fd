"""Tables fit into the width of a terminal, and break no id; in a pipe each row is one line."""

import io
import sys
from contextlib import redirect_stdout

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.cli.plain_table import Fit, Heading, lines_of, output, size
from tidegate.cli.printing import print_table

HEADS = (
    Heading("job"),
    Heading("what", fit=Fit.MIDDLE),
    Heading("files", right=True),
    Heading("waits for", fit=Fit.PHRASE),
)
ID = "1a2b3c4d"
LONG = "W-WINDOW the launch window is closed, and opens at eight in the morning of the next working day"
WIDE = "\u4e2d\u6587 \U0001f600 zw\u00f6lf"


def test_what_fits_is_printed_as_it_is() -> None:
    lines = list(lines_of(HEADS, [[ID, "a/s 2026-03-09", "12", ""]], 80))
    assert lines == [
        "job        what             files   waits for",
        "─" * 45,
        "1a2b3c4d   a/s 2026-03-09      12",
    ]


def test_without_a_width_no_text_is_cut_and_no_row_has_two_lines() -> None:
    name = "sales/" + "n" * 200
    assert list(lines_of(HEADS, [[ID, name, "1", LONG]], None))[2].split(maxsplit=3) == [ID, name, "1", LONG]


def test_a_name_loses_its_middle_and_a_phrase_what_is_behind_two_lines() -> None:
    lines = list(lines_of(HEADS, [[ID, "sales/report_of_each_day 2026-03-09", "1", LONG]], 60))
    assert lines == [
        "job       what                   files  waits for",
        "─" * 60,
        "1a2b3c4d  sales/repo…2026-03-09      1  W-WINDOW the launch",
        "                                        window is closed, a…",
    ]


@pytest.mark.parametrize("width", [30, 40, 60, 80, 200])
@pytest.mark.parametrize("text", [LONG, WIDE * 9, "x" * 300, "\u4e2d" * 99, ""], ids=len)
def test_an_id_is_never_broken(width: int, text: str) -> None:
    lines = list(lines_of(HEADS, [[ID, text, "1", text]], width))
    assert sum(ID in line for line in lines) == 1
    too_long = [line for line in lines if size(line) > width and not set(text.split()) & set(line.split())]
    assert too_long == []


def test_what_does_not_fit_is_a_line_for_each_value() -> None:
    assert list(lines_of(HEADS, [[ID, "a/s", "1", ""], ["ffffffff", "a/t", "2", "W-RATE"]], 20)) == [
        "job        1a2b3c4d",
        "what       a/s",
        "files      1",
        "",
        "job        ffffffff",
        "what       a/t",
        "files      2",
        "waits for  W-RATE",
    ]


CELLS = st.text("ab 1[/]\u4e2d\U0001f600\u00e9", max_size=30)


@pytest.mark.hypothesis
@given(st.lists(st.tuples(CELLS, CELLS, CELLS, CELLS), max_size=4), st.integers(60, 100))
def test_columns_are_aligned_and_lines_are_no_wider_than_asked(
    rows: list[tuple[str, str, str, str]], width: int
) -> None:
    lines = list(lines_of([Heading(head.title, fit=Fit.PROSE) for head in HEADS], rows, width))
    assert [line for line in lines if size(line) > width] == []


def printed(*cells: str) -> list[str]:
    with redirect_stdout(io.StringIO()) as out:
        print_table(("job", "n", "because"), [cells], right=["n"])
    return out.getvalue().splitlines()


@pytest.mark.parametrize("cell", ["two\nlines", "a\ttab", "\x1b[31mred", "[bold]"])
def test_a_value_of_a_caller_is_one_line_without_codes(monkeypatch: pytest.MonkeyPatch, cell: str) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    (row,) = printed("a", "1", cell)[2:]
    assert row == f"a     1   {cell.removeprefix(chr(27) + '[31m').translate({9: ' ', 10: ' '})}"


def test_a_pipe_has_no_width_unless_columns_has_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    with redirect_stdout(io.StringIO()):
        for value, width in {"40": 40, "0": None, "wide": None, "": None}.items():
            monkeypatch.setenv("COLUMNS", value)
            assert output() == (width, False)


def test_a_pipe_does_not_import_rich(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "rich"]:
        monkeypatch.delitem(sys.modules, name)
    assert printed("a", "1", "")[0] == "job   n   because"
    assert "rich.table" not in sys.modules


def test_a_terminal_shows_the_columns_bold() -> None:
    lines = lines_of([Heading("job"), Heading("n", right=True)], [["a", "12"]], 80, bold=True)
    assert list(lines) == ["\x1b[1mjob\x1b[0m   \x1b[1m n\x1b[0m", "────────", "a     12"]
