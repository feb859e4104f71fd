"""Links that are old or missing, and tables from before there were links."""

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as ds
import pytest

from tests.spark_jobs.parquet.viewed_table import D21, D22, DAILY, Table
from tests.spark_jobs.staging import read_rows
from tidegate.spark_jobs.parquet import prune, view
from tidegate.spark_jobs.parquet.version_log import TableVersion, put_version, version_numbers
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


@pytest.fixture
def older(table: Table) -> Table:
    """A table as it was published before there were views: data/day=…/v=<commit>, and no link."""
    table.publish("c1", {D21: [1], D22: [2]})
    version = table.current()
    table.files.delete(f"{table.root}/_views")
    table.files.delete(f"{table.root}/current")
    table.files.delete(f"{table.root}/_versions")
    entries = {}
    for key, entry in version.partitions.items():
        path = f"data/day={key}/v=c1"
        table.files.rename(f"{table.root}/{entry.path}", f"{table.root}/{path}")
        entries[key] = type(entry)(
            path=path, commit="c1", token=entry.token, rows=1, bytes=entry.bytes, files=1
        )
    made = TableVersion(number=1, commit="c1", schema=version.schema, partitions=entries, recent=("c1",))
    assert put_version(table.files, str(table.root), made)
    return table


def test_a_table_of_the_older_layout_goes_on_without_moving_a_file(older: Table) -> None:
    assert read_rows(older.warehouse, DAILY) == {D21: [1], D22: [2]}
    assert format_of(DAILY).report(DAILY, older.warehouse, lambda: pytest.fail("no Spark")).outdated == ""
    older.publish("c2", {D22: [20]})
    assert older.shown() == [1, 20]
    assert (older.root / f"data/day={D21}/v=c1").is_dir()
    with pytest.raises(pa.ArrowInvalid, match="READ-THE-FOLDER-current-INSTEAD"):
        ds.dataset(older.root, format="parquet").to_table()


def keep_newest(table: Table) -> None:
    root = str(table.root)
    folders, newest = prune.version_folders(table.files, root), version_numbers(table.files, root)[-1]
    prune.prune(table.files, root, folders, prune.Unfinished("", ()), oldest=newest)


def test_the_older_folder_goes_when_no_version_refers_to_it(older: Table) -> None:
    older.publish("c2", {D22: [20]})
    root = str(older.root)
    keep_newest(older)
    assert sorted(Path(f).name for f in prune.version_folders(older.files, root)) == ["c2", "v=c1"]
    older.publish("c3", {D21: [10]})
    keep_newest(older)
    assert not (older.root / "data").exists()
    assert older.shown() == [10, 20]


def test_the_view_of_an_older_table_is_made_on_request(older: Table) -> None:
    format = format_of(DAILY)
    assert format.show(DAILY, older.warehouse) is True
    assert older.shown() == [1, 2]
    assert format.show(DAILY, older.warehouse) is False


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
