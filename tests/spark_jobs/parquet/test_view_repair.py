"""Links that are old or missing, and tables from before there were links."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.spark_jobs.parquet.viewed_table import D22, DAILY, Table
from tidegate.spark_jobs.parquet import view
from tidegate.spark_jobs.publication.formats import format_of


@pytest.fixture
def table(tmp_path: Path) -> Table:
    return Table(tmp_path)


def test_a_log_that_was_restored_is_shown_again(table: Table) -> None:
    table.publish("c1", {D22: [1]})
    table.publish("c2", {D22: [2]})
    table.files.delete(f"{table.root}/_versions/{2:020d}.json")
    assert "leads to" in (view.stale(table.files, str(table.root)) or "")
    table.publish("c3", {D22: [3]})
    assert table.shown() == [3]
    assert view.stale(table.files, str(table.root)) is None


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda link: link.unlink(), "does not lead to a version"),
        (lambda link: (link.unlink(), link.symlink_to("_views/gone")), "does not lead to a version"),
    ],
)
def test_a_link_that_was_removed_is_found(
    table: Table, spoil: Callable[[Path], object], message: str
) -> None:
    table.publish("c1", {D22: [1]})
    spoil(table.root / "current")
    report = format_of(DAILY).report(DAILY, table.warehouse, lambda: pytest.fail("no Spark"))
    assert message in report.outdated
    assert format_of(DAILY).show(DAILY, table.warehouse) is True
    assert table.shown() == [1]
