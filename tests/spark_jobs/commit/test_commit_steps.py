"""Each kind of commit step: what it takes for done, and what it refuses to guess."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.doubles.commit_store import MemoryCommitStepStore
from tests.spark_jobs.staging import begin, daily, read_rows, stage_rows, whole
from tidegate.spark_jobs.commit.context import CommitContext
from tidegate.spark_jobs.commit.publish import publish
from tidegate.spark_jobs.commit.sequence import decode_sequence, encode_sequence
from tidegate.spark_jobs.commit.step import Verdict, decode_step, encode_step
from tidegate.spark_jobs.commit.steps.delete_staging import DeleteStaging
from tidegate.spark_jobs.datasets.dataset_ref import Warehouse
from tidegate.spark_jobs.datasets.table_state import TableState
from tidegate.spark_jobs.files.filesystem import LocalFiles
from tidegate.spark_jobs.parquet.folders.publish_folder import MARKER, PublishFolder, write_marker
from tidegate.spark_jobs.parquet.partition_entry import PartitionEntry
from tidegate.spark_jobs.parquet.steps.version import PublishVersion
from tidegate.spark_jobs.parquet.version_log import RECENT_COMMITS, TableVersion, head, put_version
from tidegate.spark_jobs.publication.table import sequence_of

FILES = LocalFiles()
CONTEXT = CommitContext(files=FILES)


@pytest.fixture
def move(tmp_path: Path) -> PublishFolder:
    """A staged folder of two files, not moved yet."""
    source = tmp_path / "staged"
    source.mkdir()
    (source / "part-0.parquet").write_bytes(b"0123456789")
    (source / "part-1.parquet").write_bytes(b"01234")
    (source / ".part-0.parquet.crc").write_bytes(b"x")
    marker = write_marker(FILES, str(source), commit="c1", token=7)
    return PublishFolder(source=str(source), target=str(tmp_path / "data" / "v=c1"), marker=marker)


def test_a_folder_is_not_done_until_it_is_moved(move: PublishFolder) -> None:
    assert move.marker.files == {"part-0.parquet": 10, "part-1.parquet": 5}
    assert move.verify(CONTEXT).verdict is Verdict.NOT_DONE
    move.execute(CONTEXT)
    assert move.verify(CONTEXT).verdict is Verdict.DONE
    assert not Path(move.source).exists()


def _strange_folder(move: PublishFolder) -> None:
    Path(move.target).mkdir(parents=True)
    (Path(move.target) / "part-0.parquet").write_bytes(b"0123456789")


def _strange_file(move: PublishFolder) -> None:
    Path(move.target).parent.mkdir(parents=True)
    Path(move.target).write_text("a file of that name")


def _empty_folder(move: PublishFolder) -> None:
    Path(move.target).mkdir(parents=True)


def _half_a_copy(move: PublishFolder) -> None:
    move.execute(CONTEXT)
    (Path(move.target) / "part-1.parquet").unlink()


def _cut_short(move: PublishFolder) -> None:
    move.execute(CONTEXT)
    (Path(move.target) / "part-0.parquet").write_bytes(b"0123")


def _of_another_commit(move: PublishFolder) -> None:
    move.execute(CONTEXT)
    marker = Path(move.target) / MARKER
    marker.write_text(marker.read_text().replace("c1", "c2"))


def _unreadable_marker(move: PublishFolder) -> None:
    move.execute(CONTEXT)
    (Path(move.target) / MARKER).write_text("{")


def _staging_lost(move: PublishFolder) -> None:
    FILES.delete(move.source)


def _staging_changed(move: PublishFolder) -> None:
    (Path(move.source) / "part-2.parquet").write_bytes(b"more")


@pytest.mark.parametrize(
    ("spoil", "seen"),
    [
        (_strange_folder, "has no _commit.json"),
        (_strange_file, "differs from the staged folder"),
        (_empty_folder, "has no _commit.json"),
        (_half_a_copy, "files differ: part-1.parquet"),
        (_cut_short, "files differ: part-0.parquet"),
        (_of_another_commit, "belongs to commit c2"),
        (_unreadable_marker, "cannot be read"),
        (_staging_lost, "neither the staged folder"),
        (_staging_changed, "files differ: part-2.parquet"),
    ],
    ids=lambda value: value.__name__.strip("_") if callable(value) else "",
)
def test_whatever_is_not_ours_is_unknown(
    move: PublishFolder, spoil: Callable[[PublishFolder], None], seen: str
) -> None:
    spoil(move)
    answer = move.verify(CONTEXT)
    assert answer.verdict is Verdict.UNKNOWN
    assert seen in answer.reason


def entry(commit: str, token: int = 1) -> PartitionEntry:
    return PartitionEntry(path=f"data/v={commit}", commit=commit, token=token, rows=1, bytes=1, files=1)


def switch(root: Path, commit: str, *, token: int = 1, base: int = 0, key: str = "") -> PublishVersion:
    return PublishVersion(
        root=str(root),
        commit=commit,
        token=token,
        base=base,
        schema='{"type":"struct","fields":[]}',
        partitions={key: entry(commit, token)},
        state=TableState(),
    )


def test_a_switch_is_recognised_by_its_commit_id(tmp_path: Path) -> None:
    first, second = switch(tmp_path, "c1", key="a"), switch(tmp_path, "c2", key="b")
    assert first.verify(CONTEXT).verdict is Verdict.NOT_DONE
    first.execute(CONTEXT)
    second.execute(CONTEXT)
    assert first.verify(CONTEXT).verdict is second.verify(CONTEXT).verdict is Verdict.DONE
    assert set(head(FILES, str(tmp_path)).partitions) == {"a", "b"}


def test_a_second_execute_changes_nothing(tmp_path: Path) -> None:
    switch(tmp_path, "c1").execute(CONTEXT)
    switch(tmp_path, "c1").execute(CONTEXT)
    assert head(FILES, str(tmp_path)).number == 1


def test_an_older_token_never_replaces_a_newer_one(tmp_path: Path) -> None:
    """P12: a zombie that wakes up after its successor has published does no harm."""
    switch(tmp_path, "new", token=6).execute(CONTEXT)
    zombie = switch(tmp_path, "old", token=5)
    zombie.execute(CONTEXT)
    assert head(FILES, str(tmp_path)).partitions[""].commit == "new"
    assert zombie.verify(CONTEXT).verdict is Verdict.DONE


@pytest.mark.parametrize(
    ("versions_since", "verdict"),
    [(1, Verdict.NOT_DONE), (RECENT_COMMITS, Verdict.NOT_DONE), (RECENT_COMMITS + 1, Verdict.UNKNOWN)],
)
def test_beyond_the_evidence_the_answer_is_unknown(
    tmp_path: Path, versions_since: int, verdict: Verdict
) -> None:
    put_version(FILES, str(tmp_path), TableVersion(number=10 + versions_since, commit="x"))
    assert switch(tmp_path, "c1", base=10).verify(CONTEXT).verdict is verdict


def test_a_log_that_is_older_than_the_sequence_is_unknown(tmp_path: Path) -> None:
    put_version(FILES, str(tmp_path), TableVersion(number=4, commit="x"))
    answer = switch(tmp_path, "c1", base=9).verify(CONTEXT)
    assert answer.verdict is Verdict.UNKNOWN
    assert "is at version 4, but was at version 9" in answer.reason


def test_the_log_remembers_a_bounded_number_of_commits() -> None:
    version = TableVersion()
    for number in range(RECENT_COMMITS + 5):
        version = version.with_commit(commit=f"c{number}", schema="{}", token=1, partitions={})
    assert len(version.recent) == RECENT_COMMITS
    assert version.recent[-1] == f"c{RECENT_COMMITS + 4}"


def test_staging_is_deleted_once(tmp_path: Path) -> None:
    folder = tmp_path / "c1"
    (folder / "1" / "deep").mkdir(parents=True)
    step = DeleteStaging(folder=str(folder))
    assert step.verify(CONTEXT).verdict is Verdict.NOT_DONE
    step.execute(CONTEXT)
    step.execute(CONTEXT)
    assert step.verify(CONTEXT).verdict is Verdict.DONE


class StubbornFiles(LocalFiles):
    """Whatever is deleted is there again at once, as by an attempt that is still staging."""

    def delete(self, path: str) -> None:
        """Deletes nothing, and says so."""
        raise OSError(f"{path} is not empty")


class SulkingFiles(LocalFiles):
    """The folder of a commit's staging cannot even be looked at."""

    def exists(self, path: str) -> bool:
        """Fails for that folder."""
        if path.endswith("_staging/c1"):
            raise OSError("the store is away")
        return super().exists(path)


@pytest.mark.parametrize("files", [StubbornFiles(), SulkingFiles()])
def test_staging_that_stays_does_not_fail_the_publish(tmp_path: Path, files: LocalFiles) -> None:
    warehouse = Warehouse(path=tmp_path, project=tmp_path)
    store = MemoryCommitStepStore()
    token = begin(store, "c1", ["test/a"])
    staged = stage_rows(warehouse, daily("a"), {"2013-12-22": [1]}, commit="c1", token=token)

    published = publish(sequence_of("c1", token, [staged]), store, CommitContext(files=files))

    assert [(one.key, one.rows) for one in published] == [("2013-12-22", 1)]
    assert read_rows(warehouse, daily("a")) == {"2013-12-22": [1]}
    assert store.list_unfinished() == ()


def test_a_sequence_survives_its_json(tmp_path: Path) -> None:
    warehouse = Warehouse(path=tmp_path, project=tmp_path)
    tables = [
        stage_rows(warehouse, daily("a"), {"2013-12-22": [1], "2013-12-23": []}, commit="c1", token=3),
        stage_rows(warehouse, whole("b"), {"": [2]}, commit="c1", token=3),
    ]
    sequence = sequence_of("c1", 3, tables)
    again = decode_sequence(encode_sequence(sequence))
    assert again == sequence
    assert [type(step) for step in again.steps] == [type(step) for step in sequence.steps]
    json.loads(encode_sequence(sequence))


def test_a_step_of_another_version_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown kind of commit step 'teleport'"):
        decode_step({"kind": "teleport"})
    with pytest.raises(ValueError):
        decode_step({"kind": "delete_staging", "folder": 7})
    with pytest.raises(TypeError, match="not a registered kind"):
        encode_step(object())  # pyright: ignore[reportArgumentType] -- the point of the test
