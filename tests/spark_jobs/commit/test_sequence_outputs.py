"""The outputs of a sequence one by one, and the sequence without one of them."""

from datetime import UTC, datetime
from pathlib import Path

from tests.doubles.commit_store import MemoryCommitStepStore
from tests.spark_jobs.staging import begin, daily, stage_rows
from tidegate.domain.commits import OutputRecord
from tidegate.domain.model import WriteMode
from tidegate.domain.published import PublishedPartition
from tidegate.spark_jobs.commit.context import CommitContext
from tidegate.spark_jobs.commit.outputs import outputs_in, steps_of, without_output
from tidegate.spark_jobs.commit.publish import state_of
from tidegate.spark_jobs.commit.sequence import CommitSequence, encode_result
from tidegate.spark_jobs.commit.state import New
from tidegate.spark_jobs.commit.step import Effect
from tidegate.spark_jobs.commit.steps.report_event import ReportEvent
from tidegate.spark_jobs.commit.steps.set_watermark import SetWatermark
from tidegate.spark_jobs.datasets.dataset_ref import Warehouse
from tidegate.spark_jobs.datasets.table_state import TableState
from tidegate.spark_jobs.files.filesystem import LocalFiles
from tidegate.spark_jobs.iceberg.steps.drop_staging_tables import DropStagingTables
from tidegate.spark_jobs.iceberg.steps.publish_iceberg import PublishIceberg
from tidegate.spark_jobs.parquet.steps.merge import PublishMerge
from tidegate.spark_jobs.publication.table import sequence_of

DAY = "2013-12-22"
NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)
MODES: dict[str, WriteMode] = {
    "plain": "overwrite_partitions",
    "added": "append",
    "plain2": "overwrite_partitions",
}


def three(tmp_path: Path) -> CommitSequence:
    """A sequence of three tables, of which one name begins with another; the appended one is not the last."""
    warehouse = Warehouse(path=tmp_path / "warehouse", project=tmp_path)
    refs = [daily(name, mode) for name, mode in MODES.items()]
    tables = [stage_rows(warehouse, ref, {DAY: [3]}, commit="c", token=3) for ref in refs]
    move = SetWatermark(consumer="test/p", source="test/s", part="", number=1, position="7", commit="c")
    return sequence_of("c", 3, tables, [move], reports_events=True)


def test_each_output_has_its_own_steps(tmp_path: Path) -> None:
    sequence = three(tmp_path)
    outputs = outputs_in(sequence)
    assert {one.dataset for one in outputs} == {f"test/{name}" for name in MODES}
    owned = [step for one in outputs for step in steps_of(sequence, one)]
    assert len(owned) == len(sequence.steps) - 2, "watermark and event concern them all"
    for one in outputs:
        place = str(tmp_path / "warehouse" / one.dataset)
        steps = steps_of(sequence, one)
        assert one.step in steps and steps[-1].effect is Effect.CLEANS
        assert all(f"{place}/" in str(step) or getattr(step, "root", "") == place for step in steps)
        assert getattr(one.step, "root", "") == place
        assert [part.dataset for part in one.parts] == [one.dataset.removeprefix("test/")]


def test_without_one_the_others_watermarks_and_events_stay(tmp_path: Path) -> None:
    sequence = three(tmp_path)
    by_name = {one.dataset: one for one in outputs_in(sequence)}
    fewer = without_output(sequence, by_name["test/plain"])
    assert {one.dataset for one in outputs_in(fewer)} == {"test/added", "test/plain2"}
    assert {part.dataset for part in fewer.result} == {"added", "plain2"}
    (event,) = [step for step in fewer.steps if isinstance(step, ReportEvent)]
    assert {fact.dataset for fact in event.partitions} == {"test/added", "test/plain2"}
    assert "test/p <- test/s" in fewer.datasets and "test/plain" not in fewer.datasets
    assert not any("/plain/" in str(step) for step in fewer.steps)

    last = without_output(without_output(fewer, by_name["test/added"]), by_name["test/plain2"])
    assert [type(step) for step in last.steps] == [SetWatermark]
    assert (last.result, outputs_in(last)) == ((), ())


def test_the_steps_of_other_kinds_of_tables() -> None:
    iceberg = PublishIceberg(
        table=("a", "t"), staging="s", snapshot=1, mode="append", merge_keys=(), dimensions=(), partitions={},
        commit="c", token=1, job="", base=0, state=TableState(),
    )  # fmt: skip
    merge = PublishMerge(
        root="/w/a/t", commit="c", token=1, base=0, schema="", partitions={}, columns=(), dimensions=(),
        staging="/w/a/t/_staging/c/1", state=TableState(),
    )  # fmt: skip
    mine, other = (DropStagingTables(table=("a", name), commit="c", root="/w") for name in ("t", "u"))
    assert [step for step in (iceberg, merge, mine, other) if iceberg.owns(step)] == [iceberg, mine]
    assert [step for step in (iceberg, merge, mine, other) if merge.owns(step)] == [merge]


def test_what_abandoned_commits_of_the_same_work_have_published() -> None:
    store = MemoryCommitStepStore()
    part = PublishedPartition(dataset="a", key="", rows=1, bytes=2, files=1)
    for commit, name in (("c", "app/a"), ("c~2", "app/b")):
        token = begin(store, commit, ["app/a", "app/b", "app/c"])
        assert store.put(commit, ["app/a", "app/b", "app/c"], token, "steps") == "stored"
        assert store.abandon_output(commit, "app/c", before="steps", body="fewer", note="", now=NOW)
        assert store.abandon(commit, "", NOW, {name: encode_result((part,))})
    context = CommitContext(files=LocalFiles())
    for commit in ("c", "c~2", "c~3"):
        # The id of a later commit means the same work.
        both = {"app/a": (part,), "app/b": (part,)}
        assert state_of(commit, store, context) == New(commit="c~3", before=both)
    assert state_of("d", store, context) == New(commit="d")
    assert store.output_records("c")[1] == OutputRecord(
        dataset="app/c", published=None, error="", note="", at=NOW
    )
