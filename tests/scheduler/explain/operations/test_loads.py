"""What `why TABLE` and `maintenance plan` load: nothing twice, and nothing of other schedules."""

from collections import Counter
from datetime import datetime
from typing import Any, cast

import pytest

from tests.worlds.tables import EXPIRE, REWRITE, WRITES_OUT, TableWorld, shown
from tests.worlds.world import at
from tidegate.domain.model import Operation
from tidegate.scheduler.explain.operations.planned import PlannedPoll, planned_polls
from tidegate.scheduler.explain.operations.why import explain_operations
from tidegate.scheduler.explain.past.store_at import store_at
from tidegate.scheduler.model.job import ACTIVE, WRITING
from tidegate.scheduler.model.kind import Kind
from tidegate.scheduler.model.maintenance import MAINTAINED_TABLES
from tidegate.scheduler.store.engine_reader import EngineReader

X, Y, OUT = "w.a.x", "w.a.y", "a/out"
ALL_DAY = """
p:
  tables: ['w.a.*', a/out]
  operations: {rewrite_data_files: {}, rewrite_manifests: {}, expire_snapshots: {}, remove_orphan_files: {}}
"""


class Watched:
    """A reader that notes what is asked of it, and the jobs that it returns."""

    def __init__(self, reader: EngineReader) -> None:
        self.asked: Counter[str] = Counter()
        self.jobs_read: set[str] = set()
        self.tables_asked: list[set[str]] = []
        self._reader = reader

    def jobs(self, **what: Any) -> Any:
        self.asked["active jobs"] += what.get("states") == ACTIVE
        self.asked["writing jobs"] += what.get("states") == WRITING
        found = self._reader.jobs(**what)
        self.jobs_read |= {job.schedule for job in found}
        return found

    def records(self, kind: Kind[Any], /, **what: Any) -> Any:
        if kind == MAINTAINED_TABLES:
            self.tables_asked.append(set(what["name"]))
        return self._reader.records(kind, **what)

    def __getattr__(self, name: str) -> Any:
        self.asked[name] += 1
        return getattr(self._reader, name)


def explained(world: TableWorld, clock: str, table: str) -> tuple[Watched, list[tuple[Operation, str]]]:
    with world.store.reading() as reader:
        watched = Watched(reader)
        found = explain_operations(cast("EngineReader", watched), table, at(clock))
    return watched, [(each.work.operation, each.status) for each in found if each.work is not None]


def test_what_holds_slots_and_what_pipelines_write_are_loaded_once_for_all_operations() -> None:
    world = TableWorld(ALL_DAY, X, maintenance="poll: 1h, auto_pools: {spark: 1}", schedules=WRITES_OUT)
    world.by_hand("00:00:10", X, EXPIRE)
    world.by_hand("00:00:20", OUT, REWRITE)
    watched, found = explained(world, "00:00:30", OUT)
    assert [status for _, status in found] == ["enabled", "by hand", "enabled", "enabled", "enabled"]
    assert (watched.asked["active jobs"], watched.asked["writing jobs"]) == (1, 2), (
        "once for what is shown, and once for what the poll would do"
    )


def test_the_jobs_of_other_schedules_are_not_loaded() -> None:
    world = TableWorld(ALL_DAY, X, Y, maintenance="poll: 1h, auto_pools: {spark: 9}", schedules=WRITES_OUT)
    world.arrive("00:01", "raw", "2026-03-01", "2026-03-02")
    world.tick("00:01:30")
    assert len(world.pipeline_jobs("a/s")) == 2
    world.by_hand("00:01:40", X, REWRITE)
    watched, found = explained(world, "00:01:50", X)
    assert watched.jobs_read == {"a/policy:p"}
    assert (REWRITE, "by hand") in found


def test_an_operation_that_runs_is_found_once_its_policy_has_gone() -> None:
    world = TableWorld(ALL_DAY, X)
    world.by_hand("00:00:10", X, REWRITE)
    world.launch("00:00:20")
    world.deploy("00:01", "q: {tables: w.b.x, operations: {}}")
    assert explained(world, "00:02", X)[1] == [(REWRITE, "not configured any longer")]
    with world.store.reading() as reader:
        past = store_at(reader, at("00:02"))
    with past.reading() as reader:
        (found,) = explain_operations(reader, X, at("00:02"))
    assert found.headline.startswith("LAUNCHED, run run-")


THREE = """
soon: {tables: w.a.x, operations: {rewrite_data_files: {interval: 3m}}}
later: {tables: w.a.y, operations: {rewrite_data_files: {interval: 1d}}}
never: {tables: w.a.z, operations: {rewrite_data_files: {when: {all: [{small_files: 9}]}}}}
"""


def planned(reader: EngineReader, now: datetime) -> list[tuple[str | None, list[str], dict[str, int]]]:
    polls: tuple[PlannedPoll, ...] = planned_polls(reader, now, 3)
    return [(shown(each.at), [start.table for start in each.starts], each.held_back) for each in polls]


@pytest.mark.parametrize("limits", ["budget: {tables_per_poll: 5}", "auto_pools: {spark: 2}"])
def test_a_plan_judges_at_each_poll_only_what_is_due_then(limits: str) -> None:
    world = TableWorld(THREE, X, Y, "w.a.z", maintenance=limits)
    assert world.poll("00:00") == ["w.a.x rewrite", "w.a.y rewrite"]
    world.end_all("00:00:30")
    world.measure("00:00:40")
    with world.store.reading() as reader:
        watched = Watched(reader)
        found = planned(cast("EngineReader", watched), at("00:00:50"))
    assert found == [
        ("00:01", [], {"M-CONDITION": 1}),
        ("00:02", [], {"M-CONDITION": 1}),
        ("00:03", [X], {"M-CONDITION": 1}),
    ]
    judged = [names for names in watched.tables_asked if "w.a.z" in names]
    assert judged == [{"w.a.z"}, {"w.a.z"}, {X, "w.a.z"}]
