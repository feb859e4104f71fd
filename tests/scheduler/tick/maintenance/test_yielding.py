"""Operations that make room for jobs of pipelines."""

import pytest

from tests.worlds.tables import HOURLY, TableWorld
from tidegate.scheduler.launch.run_report import should_yield


@pytest.mark.parametrize(
    ("constraint", "reason"),
    [("concurrency: {group: spark, max: 1}", "W-CONCURRENCY"), ("load: {max_active_runs: 1}", "W-LOAD")],
)
def test_an_operation_yields_to_a_ready_job_of_high_priority_that_lacks_its_slot(constraint, reason):
    def schedule(name, priority):
        trigger = "status: active, trigger: {partitions: {dataset: raw}}"
        return f"{name}: {{program: q, {trigger}, priority: {priority}, constraints: [{{{constraint}}}]}}"

    def yields(world):
        with world.store.reading() as reader:
            return should_yield(reader, world.running()[0].job)

    for priority in ("normal", "high"):
        world = TableWorld(
            HOURLY, "w.a.x", schedules=schedule("s", priority), maintenance="auto_pools: {spark: 1}"
        )
        world.poll("00:00")
        assert not yields(world)
        world.arrive("00:01", "raw", "2026-03-09")
        world.tick("00:01")
        assert world.pipeline_jobs("a/s")[0].reason == reason
        assert yields(world) is (priority == "high")
    world.end_all("00:01:30", "stopped")
    assert world.poll("00:02") == ["a/s"]
    assert world.waiting() == {}
    assert world.reason("00:02", "w.a.x") == (None, "00:02:30")
    # The operation needs a slot of the group, and none of all runs.
    shares = reason == "W-CONCURRENCY"
    assert world.poll("00:03") == ([] if shares else ["w.a.x rewrite"])
    assert world.waiting() == ({"w.a.x rewrite": "W-CONCURRENCY"} if shares else {})
