"""What readers outside of Tidegate see of a Parquet table: the link `current`, and the dataset's folder."""

import errno
import os
import shutil
from pathlib import Path
from typing import Any

import pyarrow.dataset as ds
import pytest

from tests.spark_jobs.parquet.viewed_table import D21, D22, D23, DAILY, Table, values_in
from tests.spark_jobs.staging import daily, read_rows, whole
from tidegate.spark_jobs.commit.context import CommitContext
from tidegate.spark_jobs.commit.publish import publish
from tidegate.spark_jobs.commit.recovery import recover
from tidegate.spark_jobs.commit.sequence import encode_sequence
from tidegate.spark_jobs.commit.step import Verdict
from tidegate.spark_jobs.datasets.dataset_ref import Warehouse
from tidegate.spark_jobs.errors import CommitFailed
from tidegate.spark_jobs.files.filesystem import LocalFiles
from tidegate.spark_jobs.parquet import prune, view
from tidegate.spark_jobs.parquet.output import staging_folder
from tidegate.spark_jobs.parquet.steps.show_version import ShowVersion
from tidegate.spark_jobs.parquet.version_log import RECENT_COMMITS, TableVersion

pytestmark = pytest.mark.slow  # processes, and files of many versions

APPENDED, WHOLE = daily("table", "append"), whole("table")


@pytest.fixture
def table(tmp_path: Path) -> Table:
    return Table(tmp_path)


def test_the_link_leads_to_one_flat_folder_with_the_newest_version(table: Table) -> None:
    table.publish("c1", {D21: [1], D22: [2]})
    table.publish("c2", {D22: [20], D23: []})
    assert table.shown() == [1, 20]
    assert all(file.is_file() for file in (table.root / "current").iterdir())
    names = sorted(file.name.split("-", 3)[:3] for file in (table.root / "current").iterdir())
    assert names == [D21.split("-"), D22.split("-")]


def test_the_folder_of_the_dataset_shows_the_same_rows_and_nothing_twice(table: Table) -> None:
    for number in range(1, 4):
        table.publish(f"c{number}", {D22: [number]})
    visible = [entry.name for entry in table.root.iterdir() if not entry.name.startswith(("_", "."))]
    assert visible == ["current"]
    assert ds.dataset(table.root, format="parquet").to_table()["value"].to_pylist() == [3]


def test_a_reader_that_has_followed_the_link_reads_its_version_to_the_end(table: Table) -> None:
    table.publish("c1", {D21: [1], D22: [2]})
    followed = (table.root / "current").resolve()
    for number in range(2, prune.KEEP_VERSIONS + 1):
        table.publish(f"c{number}", {D21: [number], D22: [number]})
    prune.prune(table.files, str(table.root), (), prune.Unfinished("", ()))
    assert values_in(followed) == [1, 2]
    table.publish("next", {D21: [0]})
    prune.prune(table.files, str(table.root), (), prune.Unfinished("", ()))
    assert not followed.exists()
    assert len(list((table.root / "_views").iterdir())) == prune.KEEP_VERSIONS


def test_files_of_unchanged_partitions_are_linked_from_the_view_before(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    table.publish("c1", {D21: [1], D22: [2]})
    listed: list[str] = []
    real = os.scandir

    def scandir(folder: Any) -> Any:
        # A folder that is removed is given by its descriptor.
        listed.extend([os.path.relpath(folder, table.root)] if isinstance(folder, str) else [])
        return real(folder)

    sequence = table.sequence("c2", {D22: [20]})
    monkeypatch.setattr(os, "scandir", scandir)
    publish(sequence, table.store, table.context)
    monkeypatch.undo()
    assert {name for name in listed if name.startswith("_data")} == {f"_data/day={D22}/c2"}
    assert table.shown() == [1, 20]


def test_appended_folders_are_all_linked(table: Table) -> None:
    for number in range(1, 4):
        table.publish(f"c{number}", {D22: [number]}, APPENDED)
    assert table.shown() == [1, 2, 3]


def test_a_cleared_table_shows_no_file(table: Table) -> None:
    table.publish("c1", {"": [1]}, WHOLE)
    table.publish("c2", {"": []}, WHOLE)
    assert table.shown() == []
    table.publish("c3", {"": []}, WHOLE)
    assert table.shown() == []


@pytest.mark.parametrize("done", [0, 1, 2])
def test_a_publish_that_dies_around_the_switch_is_shown_by_its_recovery(table: Table, done: int) -> None:
    table.publish("c1", {D22: [1]})
    sequence = table.sequence("c2", {D22: [2]})
    assert (
        table.store.put(sequence.id, sequence.datasets, sequence.token, encode_sequence(sequence)) == "stored"
    )
    for step in sequence.steps[:done]:
        step.execute(table.context)
    assert table.shown() == [1]
    recover([DAILY.id], table.store, table.context)
    assert table.shown() == [2]


def test_a_publish_that_is_overtaken_does_not_bring_the_older_version_back(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    table.publish("c1", {D22: [1]})
    slow = table.sequence("c2", {D22: [2]})
    fast = table.sequence("c3", {D22: [3]})
    real = view.switch_link

    def late(link: Path, target: Path) -> None:
        monkeypatch.setattr(view, "switch_link", real)
        publish(fast, table.store, table.context)
        assert table.shown() == [3]
        real(link, target)
        assert table.shown() == [2], "for a moment"

    monkeypatch.setattr(view, "switch_link", late)
    publish(slow, table.store, table.context)
    assert table.shown() == [3]


def test_the_step_is_done_from_its_version_on(table: Table) -> None:
    table.publish("c1", {D22: [1]})
    table.publish("c2", {D22: [2]})
    assert [
        ShowVersion(root=str(table.root), commit=commit).verify(table.context).verdict
        for commit in ("c1", "c2", "long ago")
    ] == [Verdict.DONE] * 3
    (table.root / "current").unlink()
    step = ShowVersion(root=str(table.root), commit="c1")
    assert step.verify(table.context).verdict is Verdict.NOT_DONE
    step.execute(table.context)
    assert step.verify(table.context).verdict is Verdict.DONE
    assert step.describe() == f"show it to other readers at {table.root}/current"


def test_versions_are_counted_back_from_the_newest_commit() -> None:
    version = TableVersion(number=RECENT_COMMITS + 5, recent=("a", "b", "c"))
    assert [version.number_of(commit) for commit in ("c", "a", "z")] == [
        RECENT_COMMITS + 5,
        RECENT_COMMITS + 3,
        None,
    ]


def test_a_lost_file_stops_the_switch_and_not_silently(table: Table) -> None:
    table.publish("c1", {D21: [1], D22: [2]})
    sequence = table.sequence("c2", {D22: [20]})
    followed = (table.root / "current").resolve()
    for file in [*table.root.glob(f"_data/day={D21}/c1/*.parquet"), *followed.glob(f"{D21}*")]:
        file.unlink()
    with pytest.raises(CommitFailed, match=rf"partition '{D21}' of version 2 has 1 files, and 0 exist"):
        publish(sequence, table.store, table.context)
    assert read_rows(table.warehouse, DAILY)[D22] == [20]


def test_a_folder_of_the_users_in_the_place_of_the_link_stays(table: Table) -> None:
    (table.root / "current").mkdir(parents=True)
    (table.root / "current" / "mine.parquet").touch()
    with pytest.raises(CommitFailed, match="is not a link that Tidegate has created"):
        publish(table.sequence("c1", {D22: [1]}), table.store, table.context)


def test_hard_links_that_are_refused_become_symbolic_ones(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.link

    def link(source: Any, target: Any) -> None:
        if "_views" in str(target):
            raise PermissionError(errno.EPERM, "not your file")
        real(source, target)

    monkeypatch.setattr(os, "link", link)
    table.publish("c1", {D21: [1], D22: [2]})
    table.publish("c2", {D22: [20]})
    assert table.shown() == [1, 20]
    # The files stay when the view is gone from which they were linked.
    view.prune_views(table.files, str(table.root), oldest=2)
    assert table.shown() == [1, 20]


def test_a_warehouse_that_was_copied_without_its_links_goes_on(table: Table, tmp_path: Path) -> None:
    table.publish("c1", {D21: [1], D22: [2]})
    copy = Table(tmp_path / "copy")
    shutil.copytree(table.root, copy.root)
    assert not (copy.root / "current").is_symlink()
    copy.publish("c2", {D22: [20]})
    assert (copy.root / "current").is_symlink() and copy.shown() == [1, 20]


def _no_space(*_: Any) -> None:
    raise OSError(errno.ENOSPC, "disk full")


def test_a_full_disk_leaves_no_half_made_view(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    table.publish("c1", {D22: [1]})
    sequence = table.sequence("c2", {D22: [2]})
    monkeypatch.setattr("tidegate.spark_jobs.files.links._link", _no_space)
    with pytest.raises(CommitFailed, match="disk full"):
        publish(sequence, table.store, table.context)
    assert table.shown() == [1]
    monkeypatch.undo()
    recover([DAILY.id], table.store, table.context)
    assert table.shown() == [2]
    assert len(list((table.root / "_views").iterdir())) == 2


class FarFiles(LocalFiles):
    """A file system without links."""

    def local_path(self, place: str) -> Path | None:
        return None


def test_without_links_the_log_is_all_there_is(tmp_path: Path) -> None:
    table = Table(tmp_path)
    table.files = FarFiles()
    table.warehouse = Warehouse(path=tmp_path, project=tmp_path, files=table.files)
    table.context = CommitContext(files=table.files)
    table.publish("c1", {D22: [1]})
    assert not (table.root / "current").exists() and not (table.root / "_views").exists()
    assert view.shown_view(table.files, str(table.root)) is None
    assert view.stale(table.files, str(table.root)) is None
    assert prune.prune(table.files, str(table.root), (), prune.Unfinished("", ())) == (0, 0)


def test_staging_is_hidden_too(table: Table) -> None:
    table.sequence("c1", {D22: [1]})
    assert Path(staging_folder(str(table.root), "c1", 1)).is_dir()
    assert [entry.name for entry in table.root.iterdir()] == ["_staging"]
