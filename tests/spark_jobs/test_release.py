"""Withheld publishes of Parquet tables, without Spark: what no reader sees, and what a release demands."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.doubles.commit_store import MemoryCommitStepStore
from tests.spark_jobs.staging import DAILY, Rows, begin, daily, read_rows, stage_rows, whole
from tests.store.commits.sequences import FAILED
from tests.worlds.samples import verdict
from tidegate.domain.commits import CheckVerdict
from tidegate.spark_jobs.commit.context import CommitContext
from tidegate.spark_jobs.commit.lease import AttemptLease
from tidegate.spark_jobs.commit.publish import publish, state_of
from tidegate.spark_jobs.commit.recovery import recover_all
from tidegate.spark_jobs.commit.sequence import decode_sequence, encode_sequence
from tidegate.spark_jobs.commit.state import New
from tidegate.spark_jobs.commit.steps.set_watermark import SetWatermark
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef, Warehouse
from tidegate.spark_jobs.errors import PublishWithheld, WithheldRefused
from tidegate.spark_jobs.publication.release import abandon_withheld, release_withheld
from tidegate.spark_jobs.publication.table import sequence_of
from tidegate.spark_jobs.repair.orphans import find_orphans, remove_orphans

D22, D23 = "2013-12-22", "2013-12-23"
PASSED = verdict("test/a", "rows", "fine", passed=True)
WARNED = verdict("test/a", "w", "few", severity="warn")


class House:
    """Publishes rows given by hand into Parquet tables of one app."""

    def __init__(self, folder: Path) -> None:
        self.warehouse = Warehouse(path=folder, project=folder)
        self.over = set[str]()
        self.store = MemoryCommitStepStore(self.over.__contains__)
        self.context = CommitContext(files=self.warehouse.files, spark=_no_spark)
        self.refs: dict[str, DatasetRef] = {}

    def publish(
        self,
        commit: str,
        outputs: Mapping[DatasetRef, Rows],
        verdicts: Sequence[CheckVerdict] = (),
        marks: Sequence[SetWatermark] = (),
        token: int = 0,
    ) -> int:
        """What a run does from its first staged row on; its token."""
        self.refs |= {ref.id: ref for ref in outputs}
        token = token or begin(self.store, commit, [ref.id for ref in outputs])
        staged = [
            stage_rows(self.warehouse, ref, rows, commit=commit, token=token) for ref, rows in outputs.items()
        ]
        publish(sequence_of(commit, token, staged, marks), self.store, self.context, verdicts=verdicts)
        return token

    def withhold(self, commit: str, outputs: Mapping[DatasetRef, Rows], **more: Any) -> int:
        with pytest.raises(PublishWithheld):
            self.publish(commit, outputs, [PASSED, FAILED], **more)
        return max(kept.token for kept in self.store.list_withheld() if kept.commit == commit)

    def release(self, commit: str) -> None:
        release_withheld(commit, self.store, self.warehouse, self.context, self.refs)

    def refused(self, commit: str) -> str:
        """The reason of a refusal, which has changed nothing."""
        before = (self.store.list_withheld(), self.store.list_unfinished(), self.store.attempts())
        with pytest.raises(WithheldRefused) as refused:
            self.release(commit)
        assert (self.store.list_withheld(), self.store.list_unfinished(), self.store.attempts()) == before
        assert f"tidegate commits abandon {commit}`, and run the job again" in refused.value.hint
        return refused.value.message

    def rows(self, ref: DatasetRef) -> dict[str, list[int]]:
        return read_rows(self.warehouse, ref)

    def staged(self) -> list[int]:
        """The tokens of what is staged, needed or not."""
        found = Path(str(self.warehouse.path)).glob("*/*/_staging/*/*")
        return sorted(int(folder.name) for folder in found)

    def clean(self) -> None:
        """What recovery and `fsck --clean` do."""
        recover_all(self.store, self.context)
        refs = list(self.refs.values())
        remove_orphans(
            find_orphans(refs, self.warehouse, self.store, _no_spark), refs, self.warehouse, _no_spark
        )


def _no_spark() -> Any:
    raise AssertionError("a release of Parquet folders needs no Spark")


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


def test_all_outputs_of_a_run_are_withheld_together_and_then_published_together(house: House) -> None:
    a, b = daily("a"), whole("b")
    house.publish("c1", {a: {D22: [1]}, b: {"": [1]}}, [PASSED, WARNED])
    with pytest.raises(PublishWithheld) as withheld:
        house.publish("c2", {a: {D22: [2], D23: []}, b: {"": [2]}}, [PASSED, WARNED, FAILED])
    assert (withheld.value.commit, withheld.value.verdicts) == ("c2", (PASSED, WARNED, FAILED))
    assert "since 1 of 3 checks failed: app/a, check rows: 0 rows, at least 1" in withheld.value.message
    assert "tidegate commits release c2 --reason" in withheld.value.hint
    assert (house.rows(a), house.rows(b)) == ({D22: [1]}, {"": [1]}), "a warning withholds nothing"
    assert isinstance(state_of("c2", house.store, house.context), New)

    house.clean()
    house.release("c2")
    assert (house.rows(a), house.rows(b)) == ({D22: [2], D23: []}, {"": [2]})
    assert (house.store.list_withheld(), house.store.list_unfinished(), house.store.attempts()) == (
        (),
        (),
        (),
    )
    assert house.staged() == []
    assert house.store.last_token() == 3
    assert house.store.tokens(["c2"]) == {"c2": 3}


def test_it_blocks_no_other_run(house: House) -> None:
    a = daily("a", "append")
    house.withhold("c1", {a: {D22: [1]}})
    house.publish("c2", {a: {D22: [2]}})
    assert house.rows(a) == {D22: [2]}
    house.release("c1")
    assert house.rows(a) == {D22: [2, 1]}


def test_a_lease_that_ends_with_the_attempt_does_not_hide_the_failed_check(house: House) -> None:
    a = daily("a")
    house.refs[a.id] = a
    with pytest.raises(PublishWithheld), AttemptLease(house.store, "c1", [a.id]) as token:
        try:
            house.publish("c1", {a: {D22: [1]}}, [FAILED], token=token)
        finally:
            lease: Any = AttemptLease(house.store, "c1", [a.id])
            lease._token = token
            assert not lease._renew()
            assert not lease._fenced


def test_the_next_attempt_takes_its_place(house: House) -> None:
    a = daily("a")
    first = house.withhold("c1", {a: {D22: [1]}})
    second = house.withhold("c1", {a: {D22: [2]}})
    assert [kept.token for kept in house.store.list_withheld()] == [second]
    assert house.staged() == [first, second]
    house.clean()
    assert house.staged() == [second]
    house.publish("c1", {a: {D22: [3]}})
    assert house.rows(a) == {D22: [3]}
    with pytest.raises(WithheldRefused, match="the next attempt of its work has published it"):
        house.release("c1")
    assert (house.rows(a), house.staged()) == ({D22: [3]}, [])


def test_a_retry_that_runs_while_it_is_released_publishes_nothing_more(house: House) -> None:
    a = daily("a", "append")
    house.withhold("c1", {a: {D22: [1]}})
    retry = begin(house.store, "c1", [a.id])
    house.release("c1")
    house.publish("c1", {a: {D22: [1]}}, token=retry)
    assert house.rows(a) == {D22: [1]}
    house.publish("c1", {a: {D22: [1]}}, [FAILED])
    assert house.rows(a) == {D22: [1]}


def test_a_run_that_began_later_and_publishes_after_the_release_is_not_replaced(house: House) -> None:
    a = daily("a")
    house.withhold("old", {a: {D22: [1], D23: [1]}})
    later = begin(house.store, "new", [a.id])
    house.release("old")
    house.publish("new", {a: {D22: [2]}}, token=later)
    assert house.rows(a) == {D22: [2], D23: [1]}


@pytest.mark.parametrize("finished", [True, False])
def test_a_later_publish_of_a_partition_is_faster(house: House, finished: bool) -> None:
    a = daily("a")
    house.withhold("c1", {a: {D22: [1]}})
    house.publish("elsewhere", {a: {D23: [5]}})
    if finished:
        house.publish("c2", {a: {D22: [2]}})
    else:
        token = begin(house.store, "c2", [a.id])
        staged = stage_rows(house.warehouse, a, {D22: [2]}, commit="c2", token=token)
        house.store.put("c2", [a.id], token, encode_sequence(sequence_of("c2", token, [staged])))
        with pytest.raises(WithheldRefused):
            house.release("c1")
    assert "commit c2 has published test/a, partition 2013-12-22, since" in house.refused("c1")
    assert house.rows(a) == {D23: [5], D22: [2]}


def test_a_later_publish_of_another_partition_is_not(house: House) -> None:
    a = daily("a")
    house.withhold("c1", {a: {D22: [1]}})
    house.publish("c2", {a: {D23: [2]}})
    house.release("c1")
    assert house.rows(a) == {D22: [1], D23: [2]}


def test_of_a_table_that_is_replaced_whole_every_later_publish_is_faster(house: House) -> None:
    a = daily("a", "full")
    house.withhold("c1", {a: {D22: [1]}})
    house.publish("c2", {a: {D23: [2]}})
    assert "commit c2 has published test/a, partition 2013-12-23, since" in house.refused("c1")


def test_a_run_that_began_before_is_not_faster(house: House) -> None:
    a = daily("a")
    earlier = begin(house.store, "c0", [a.id])
    house.withhold("c1", {a: {D22: [1]}})
    house.publish("c0", {a: {D22: [0]}}, token=earlier)
    house.release("c1")
    assert house.rows(a) == {D22: [1]}


def test_a_publish_between_the_look_and_the_put_is_found_by_the_put(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    a = daily("a")
    house.withhold("c1", {a: {D22: [1]}})
    put, left = house.store.put_withheld, ["c2"]

    def late(*given: Any) -> Any:
        if left:
            house.publish(left.pop(), {a: {D22: [2]}})
        return put(*given)

    monkeypatch.setattr(house.store, "put_withheld", late)
    assert "commit c2 has published test/a" in house.refused("c1")
    assert house.rows(a) == {D22: [2]}


def mark(number: int, commit: str, part: str = D22) -> SetWatermark:
    return SetWatermark(
        consumer="test/p", source="test/s", part=part, number=number, position="{}", commit=commit
    )


def test_its_watermarks_move_with_the_release(house: House) -> None:
    a = daily("a", "append")
    house.withhold("c1", {a: {D22: [1]}}, marks=[mark(1, "c1")])
    assert house.store.watermarks("test/p", "test/s") == {}
    house.release("c1")
    assert house.store.watermarks("test/p", "test/s")[D22].commit == "c1"


def test_a_watermark_that_has_moved_is_named_with_the_commit(house: House) -> None:
    a = daily("a", "append")
    house.withhold("c1", {a: {D22: [1]}}, marks=[mark(1, "c1")])
    house.store.set_watermark(("test/p", "test/s", D22, 1), "{}", "c0")
    assert "commit c0 has moved the watermark of test/p in test/s, part 2013-12-22 since" in house.refused(
        "c1"
    )


def test_the_newest_withheld_publish_of_an_incremental_program_replaces_the_older_one(house: House) -> None:
    a = daily("a", "append")
    house.withhold("c1", {a: {D22: [1]}}, marks=[mark(1, "c1")])
    house.withhold("c2", {a: {D22: [1, 2]}}, marks=[mark(1, "c2")])
    assert [kept.commit for kept in house.store.list_withheld()] == ["c2"]
    house.release("c2")
    assert house.rows(a) == {D22: [1, 2]}


def test_a_stopped_or_repeated_instance_is_not_released(house: House) -> None:
    a = daily("a")
    house.withhold("job", {a: {D22: [1]}})
    house.over.add("job")
    assert "the instance that it is the work of was paused, or is run again" in house.refused("job")


@pytest.mark.parametrize("cut", [False, True])
def test_a_staged_file_that_is_lost_or_cut_is_found_before_the_put(house: House, cut: bool) -> None:
    a = daily("a")
    house.withhold("c1", {a: {D22: [1]}})
    (file,) = Path(str(house.warehouse.path)).glob("test/a/_staging/*/*/*/*.parquet")
    if cut:
        file.write_bytes(file.read_bytes()[:-1])
    else:
        file.unlink()
    assert "was changed: files differ: part-0.parquet" in house.refused("c1")


@pytest.mark.parametrize(
    ("now", "because"),
    [
        (None, "test/a is not deployed any more"),
        (daily("a", "append"), "its dataset is declared otherwise now"),
        (whole("a"), "test/a has other partitions now, and 2013-12-22 is none of them"),
        (DatasetRef(app="test", name="a", scheme=DAILY, format="iceberg"), "is declared otherwise now"),
    ],
)
def test_a_dataset_that_was_declared_otherwise_since(
    house: House, now: DatasetRef | None, because: str
) -> None:
    house.withhold("c1", {daily("a"): {D22: [1]}})
    house.refs = {} if now is None else {now.id: now}
    assert because in house.refused("c1")


def test_after_a_restore_of_an_older_store_the_staging_is_an_orphan(house: House) -> None:
    a = daily("a")
    token = house.withhold("c1", {a: {D22: [1]}})
    house.store = MemoryCommitStepStore()
    begin(house.store, "other", ["test/b"], at_least=token)
    with pytest.raises(WithheldRefused, match="never withheld"):
        house.release("c1")
    house.clean()
    assert house.staged() == []


def test_an_abandoned_one_is_gone_with_its_staging(house: House) -> None:
    a = daily("a")
    house.withhold("c1", {a: {D22: [1]}})
    abandon_withheld("c1", house.store, house.warehouse, house.context, house.refs)
    assert (house.store.list_withheld(), house.staged()) == ((), [])
    with pytest.raises(WithheldRefused, match="it was abandoned or replaced meanwhile"):
        house.release("c1")
    with pytest.raises(WithheldRefused, match="it was abandoned or replaced meanwhile"):
        abandon_withheld("c1", house.store, house.warehouse, house.context, house.refs)
    house.publish("c1", {a: {D22: [2]}})
    assert house.rows(a) == {D22: [2]}


def test_the_staging_of_a_released_publish_is_needed_until_it_is_finished(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    a = daily("a")
    staged = house.withhold("c1", {a: {D22: [1]}})
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr("tidegate.spark_jobs.publication.release.finish", _dies)
        house.release("c1")
    sequence = decode_sequence(house.store.get("c1") or "")
    assert (sequence.staged, sequence.token, sequence.tokens) == (staged, 2, {1, 2})
    orphans = find_orphans([a], house.warehouse, house.store, _no_spark)
    assert orphans == ()
    house.clean()
    assert house.rows(a) == {D22: [1]}


def _dies(*_: object) -> None:
    raise KeyboardInterrupt
