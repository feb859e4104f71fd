"""Tables that are printed without rich are those that rich would print."""

import io
import sys
from contextlib import redirect_stdout

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.cli import plain_table
from tidegate.cli.printing import print_table

COLUMNS = ("job", "n", "because")
CELLS = st.text("ab 1[/]", max_size=8)


def printed(rows: list[list[str]], *, by_rich: bool) -> str:
    """What is printed for rows, into a pipe."""
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(io.StringIO()) as out:
        if by_rich:
            patch.setattr(plain_table, "output", lambda: None)
        print_table(COLUMNS, rows, right=["n"])
    return out.getvalue()


@pytest.mark.hypothesis
@given(st.lists(st.lists(CELLS, min_size=3, max_size=3), max_size=5))
def test_what_is_printed_is_what_rich_prints(rows: list[list[str]]) -> None:
    assert printed(rows, by_rich=False) == printed(rows, by_rich=True)


@pytest.mark.parametrize("cell", ["x" * 300, "zwölf", "\u4e2d", "two\nlines"])
def test_what_must_be_folded_or_measured_is_left_to_rich(cell: str) -> None:
    rows = [["a", "1", cell]]
    assert plain_table.plain_table(COLUMNS, rows, (), 200, bold=False) is None
    assert printed(rows, by_rich=False) == printed(rows, by_rich=True)


def test_a_pipe_does_not_import_rich(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "rich"]:
        monkeypatch.delitem(sys.modules, name)
    assert printed([["a", "1", ""]], by_rich=False).startswith("job   n   because\n")
    assert "rich.table" not in sys.modules


def test_a_terminal_shows_the_columns_bold() -> None:
    text = plain_table.plain_table(("job", "n"), [["a", "12"]], ["n"], 80, bold=True)
    assert text == "\x1b[1mjob\x1b[0m   \x1b[1m n\x1b[0m\n────────\na     12"
