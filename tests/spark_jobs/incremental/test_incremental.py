"""The watermarks of one run: which are set, with which numbers, and what a table's history says of them."""

import json
from pathlib import Path
from typing import Any, cast

import pytest
from pyspark.sql import SparkSession

from tests.doubles.commit_store import MemoryCommitStepStore
from tests.spark_jobs.staging import DAILY
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef, Warehouse
from tidegate.spark_jobs.datasets.increment import Increment, IncrementalRead
from tidegate.spark_jobs.datasets.key_selection import KeySelection
from tidegate.spark_jobs.incremental import reads as incremental
from tidegate.spark_jobs.incremental.reads import IncrementalReads, manifest_facts
from tidegate.spark_jobs.programs.params import Params

D22, D23 = "2013-12-22", "2013-12-23"
FLIGHTS = DatasetRef(app="test", name="flights", scheme=DAILY)
NO_SPARK = cast(SparkSession, None)


class Run:
    """A run that finds given positions in its source."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.store = MemoryCommitStepStore()
        self.asked: list[IncrementalRead] = []
        self.found: dict[str, str] = {}
        monkeypatch.setattr(incremental, "format_of", lambda _: self)

    def read_new(self, _: SparkSession, asked: IncrementalRead) -> Increment:
        self.asked.append(asked)
        return Increment(frame=None, positions=self.found)

    def read(self, *keys: str, ref: DatasetRef = FLIGHTS) -> IncrementalReads:
        new = IncrementalReads(
            self.store,
            Warehouse(path=Path("w"), project=Path("p")),
            consumer="test/load",
            params=Params(partitions=keys),
        )
        new.read(NO_SPARK, ref, True, KeySelection(DAILY if keys else None, keys))
        return new

    def set(self, part: str, *positions: str) -> None:
        for number, position in enumerate(positions, start=1):
            self.store.set_watermark(("test/load", "test/flights", part, number), position, "c0")


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    return Run(monkeypatch)


def test_each_move_has_the_number_after_the_one_that_was_read(run: Run) -> None:
    run.set(D22, "a", "b")
    run.found = {D22: "c", D23: "d"}
    new = run.read(D22, D23)
    run.set(D22, "a", "b", "moved meanwhile")  # seen by the store, when the sequence is put
    assert [(step.part, step.number, step.position) for step in new.steps("c1")] == [
        (D22, 3, "c"),
        (D23, 1, "d"),
    ]
    assert {(step.consumer, step.source, step.commit) for step in new.steps("c1")} == {
        ("test/load", "test/flights", "c1")
    }


def test_what_stands_where_it_was_is_not_moved(run: Run) -> None:
    run.set(D22, "a")
    run.found = {D22: "a"}
    assert run.read(D22).steps("c1") == ()


def test_the_source_is_told_what_was_read_and_what_was_reset(run: Run) -> None:
    run.set(D22, "a", "")
    run.set(D23, "b")
    run.read(D22)
    (asked,) = run.asked
    assert (asked.positions, asked.reset) == ({D23: "b"}, {D22})
    assert asked.selects(D22) and not asked.selects(D23) and not asked.selects_all
    run.read()
    assert run.asked[-1].selects_all and run.asked[-1].selects(D23)


def test_the_history_of_a_table_tells_short_positions_whole_and_many_by_their_digest(run: Run) -> None:
    run.found = {D22: '{"snapshot":7}'}
    facts = run.read(D22).facts()
    assert json.loads(facts["tidegate.watermarks"]) == {"test/flights": run.found}
    run.found = {str(number): "x" * 100 for number in range(100)}
    facts = run.read(D22).facts()
    assert json.loads(facts["tidegate.watermarks"])["test/flights"].startswith("100 parts, ")
    assert len(facts["tidegate.watermarks"]) < 100


def test_a_run_that_reads_nothing_incrementally_says_nothing_of_watermarks() -> None:
    new = IncrementalReads(
        MemoryCommitStepStore(), Warehouse(path=Path("w"), project=Path("p")), consumer="c", params=Params()
    )
    new.check()
    assert (new.steps("c1"), new.facts()) == ((), {})


def test_the_manifest_is_told_by_a_digest_that_its_order_does_not_change() -> None:
    def digest(**manifest: Any) -> str:
        return manifest_facts(Params(manifest=manifest))["tidegate.manifest"]

    assert digest(flights=(D22, D23), weather=(D22,)) == digest(weather=(D22,), flights=(D23, D22))
    assert digest(flights=(D22,)) != digest(flights=(D23,))
