"""A new column is one line in the declaration of its list.

As in `test_new_kind`, the line is added to a copy of the package. The table of the command and the page of
the board have the column, with no other change.
"""

import pytest

from tests.new_kind.copied import HERE, added_lines, copied, printed_by

pytestmark = pytest.mark.endurance  # a process, in which the whole package is imported


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What the story prints, played on a copy of the package that has the new column."""
    folder = copied(tmp_path_factory.mktemp("copy"), "column.patch")
    return printed_by(folder, "column_story", str(tmp_path_factory.mktemp("project")))


def test_one_line_of_one_file_is_added() -> None:
    added = added_lines("column.patch")
    assert {path: len(lines) for path, lines in added.items()} == {"tidegate/listings/jobs.py": 1}
    lines = (HERE / "column.patch").read_text("utf-8").split("\n")
    assert not [line for line in lines if line[:1] == "-" and line[:3] != "---"]


def test_the_table_of_the_command_has_it(printed: str) -> None:
    heading = next(line for line in printed.splitlines() if line.startswith("job "))
    row = next(line for line in printed.splitlines() if "sales/report_by_day" in line)
    assert "publish number" in heading
    assert row.split()[-1] == "1"


def test_the_page_of_the_board_has_it(printed: str) -> None:
    assert ">Publish number</th>" in printed
    assert '<td class="number" data-l="publish number">1</td>' in printed
