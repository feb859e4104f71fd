"""Every store counts what it has, by app."""

from typing import Any

from tests.worlds.samples import (
    event,
    job,
    launched,
    operation_job,
    run,
    schedule,
)
from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.run import RunStatus
from tidegate.scheduler.store.parts.counts import Count
from tidegate.scheduler.store.protocol import Store

DEAD: dict[str, Any] = {"state": JobState.FAILED, "reason": Reason.F_LAUNCH}


def counted(found: tuple[Count, ...]) -> list[tuple[str, str, int]]:
    return [(each.app, each.label, each.number) for each in found]


def test_a_store_counts_what_it_has(store: Store) -> None:
    with store.transaction() as transaction:
        transaction.put_schedules(
            [schedule("b/s", status="suspended"), schedule("a/s"), schedule("a/t"), schedule("a/u")]
        )
        transaction.put_runs(
            [
                run("r1", program="a/p"),
                run("r2", program="a/q"),
                run("r3", RunStatus.SUCCEEDED, program="a/p"),
                run("r4", program="b/p"),
            ]
        )
        transaction.add_launches(
            [launched("1", program="a/p"), launched("2", program="a/q"), launched("3", program="b/p")]
        )
        transaction.add_events(
            [
                event("e1", key="partition:a/d"),
                event("e2", key="partition:a/e"),
                event("e3", key="fire:a/s:0"),
                event("e4", key="run:b/p:succeeded"),
            ]
        )
        transaction.put_jobs(
            [
                job("j1", **DEAD),
                job("j2", schedule="b/s", **DEAD),
                job("j3", state=JobState.FAILED, reason=Reason.F_RUN),
                operation_job("j4", **DEAD),
                job("j5"),
            ]
        )
    with store.reading() as reader:
        found = reader.counts()
    assert counted(found.schedules) == [("a", "active", 3), ("b", "suspended", 1)]
    assert counted(found.runs) == [("a", "started", 2), ("a", "succeeded", 1), ("b", "started", 1)]
    assert counted(found.launches) == [("a", "", 2), ("b", "", 1)]
    assert counted(found.events) == [("a", "fire", 1), ("a", "partition", 2), ("b", "run", 1)]
    assert counted(found.dead_letters) == [("a", "", 1), ("b", "", 1)]


def test_only_a_database_has_a_size(store: Store) -> None:
    with store.reading() as reader:
        found = reader.counts()
    assert (found.schedules, found.runs, found.events) == ((), (), ())
    assert found.bytes is None or found.bytes > 10_000
