"""Every store keeps the job queue: jobs by what they wait for, slots, runs, claims, and the rest."""

from datetime import timedelta
from typing import Any

import pytest

from tests.worlds.samples import at, gauge, job, launched, run, upstream
from tidegate.domain.model import Priority
from tidegate.scheduler.model.job import ByHand, Job, JobState, LaunchPlan
from tidegate.scheduler.model.launch_order import launch_rank
from tidegate.scheduler.model.queue import queue_of
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.run import GAUGES, ProgramHistory, RunStatus
from tidegate.scheduler.store.protocol import Store


def test_a_job_comes_back_as_it_was_put(store: Store) -> None:
    rich = job(
        "j",
        key="2026-03-09",
        fingerprint="f",
        state=JobState.PENDING_CONSTRAINT,
        reason=Reason.W_WINDOW,
        priority=Priority.HIGH,
        first_event_at=at(1),
        satisfied_at=at(2),
        next_check_at=at(3),
        blocked_on="group:nightly",
        needs=(("group:nightly", 2), ("runs", 8)),
        by_hand=ByHand.FORCE,
        attempt=2,
        offers=3,
        offered_at=at(4),
        run_id="r",
        launch=LaunchPlan(
            program="p",
            partitions=("2026-03-09",),
            manifest={"d": ("2026-03-09",)},
            upstream_runs=("u",),
            upstream=(upstream(args={"x": 1}, outputs={"d": ("2026-03-08",)}),),
            args={"x": [1, {"y": None}]},
            scheduled_time=at(5),
            business_date="2026-03-08",
        ),
        resources=("program:a/p", "group:nightly"),
        decided_at=at(6),
        launched_at=at(7),
        ended_at=at(8),
        closed=True,
        held_at=at(9),
        held_for=timedelta(days=400, microseconds=1),
        detail="text",
    )
    with store.transaction() as transaction:
        transaction.put_jobs([rich, job("k", opened_at=at(1))])
    with store.reading() as reader:
        assert reader.jobs() == (rich, job("k", opened_at=at(1)))
        assert reader.jobs()[0].reason is Reason.W_WINDOW


def test_jobs_are_selected_by_every_filter_and_come_oldest_first(store: Store) -> None:
    waiting, done = JobState.PENDING_TRIGGER, JobState.SUCCEEDED
    with store.transaction() as transaction:
        transaction.put_jobs(
            [
                job("4", "a/s", opened_at=at(4)),
                job("2", "a/t", opened_at=at(2), state=done),
                job("3", "b/s", opened_at=at(2)),
                job("1", "a/s", opened_at=at(1), state=done),
            ]
        )
        cases = [
            ({}, "1234"),
            ({"limit": 2}, "34"),
            ({"limit": 0}, ""),
            ({"apps": ["a"]}, "124"),
            ({"states": {waiting}}, "34"),
            ({"states": {waiting, done}, "schedules": ["a/s"]}, "14"),
            ({"states": []}, ""),
            ({"ids": ["4", "1", "nine"]}, "14"),
            ({"ids": ["4", "1"], "limit": 1}, "4"),
            ({"apps": ["a"], "ids": ["3"]}, ""),
            ({"schedules": ["a/s", "b/s"], "states": [done], "apps": ["a"], "limit": 5}, "1"),
        ]
        for filters, expected in cases:
            assert "".join(found.id for found in transaction.jobs(**filters)) == expected, filters


def test_thousands_of_jobs_at_once(store: Store) -> None:
    many = [job(f"{n:05}", f"a/s{n:05}") for n in range(2500)]
    with store.transaction() as transaction:
        transaction.put_jobs(many)
        transaction.put_jobs(many)
        assert transaction.jobs() == tuple(many)
        assert transaction.jobs(ids=[each.id for each in many]) == tuple(many)
        refs = [each.schedule for each in many]
        assert transaction.jobs(schedules=refs, states=[JobState.PENDING_TRIGGER], limit=3) == tuple(
            many[-3:]
        )


def test_due_jobs_are_the_waiting_ones_whose_check_has_come_earliest_first(store: Store) -> None:
    with store.transaction() as transaction:
        transaction.put_jobs(
            [
                job("z", next_check_at=at(1)),
                job("a", next_check_at=at(2)),
                job("b", next_check_at=at(1), state=JobState.PENDING_CONSTRAINT),
                job("later", next_check_at=at(2.000001)),
                job("never"),
                job("launching", next_check_at=at(0), state=JobState.PENDING_LAUNCH),
                job("done", next_check_at=at(0), state=JobState.DISCARDED),
            ]
        )
    with store.reading() as reader:
        assert [found.id for found in reader.due_jobs(at(2), 10)] == ["b", "z", "a"]
        assert [found.id for found in reader.due_jobs(at(2), 2)] == ["b", "z"]
        assert [found.id for found in reader.due_jobs(at(2), 10, (at(1), "b"))] == ["z", "a"]
        assert reader.due_jobs(at(0), 10) == ()


def test_a_job_that_waits_no_more_is_not_due(store: Store) -> None:
    with store.transaction() as transaction:
        transaction.put_jobs([job("j", next_check_at=at(1))])
        transaction.put_jobs([job("j", next_check_at=at(1), state=JobState.LAUNCHED)])
        assert transaction.due_jobs(at(2), 10) == ()


def test_a_slot_taken_twice_is_taken_once_and_release_names_what_was_held(store: Store) -> None:
    with store.transaction() as transaction:
        transaction.take_slots({"j": ["b", "a"]})
        transaction.take_slots({"j": ["a"], "k": ["a"]})
        assert transaction.slots(["a", "b", "none"]) == {"a": 2, "b": 1, "none": 0}
        assert transaction.release_slots("j") == ("a", "b")
        assert transaction.release_slots("j") == ()
    with store.reading() as reader:
        assert reader.slots(["a", "b"]) == {"a": 1, "b": 0}


WAKE = [
    # the job before -> its next check after waking "r" at minute 5
    ({"blocked_on": "r"}, at(5)),
    ({"blocked_on": "r", "next_check_at": at(9)}, at(5)),
    ({"blocked_on": "r", "next_check_at": at(1)}, at(1)),
    ({"blocked_on": "r", "state": JobState.PENDING_CONSTRAINT}, at(5)),
    ({"blocked_on": "other"}, None),
    ({}, None),
    ({"blocked_on": "r", "state": JobState.LAUNCHED}, None),
]


@pytest.mark.parametrize(("before", "check_after"), WAKE)
def test_waking_makes_blocked_jobs_due_unless_they_are_due_sooner(store: Store, before, check_after) -> None:
    with store.transaction() as transaction:
        transaction.put_jobs([job("j", **before)])
        transaction.wake(["q", "r"], at(5))
        transaction.wake([], at(0))
    with store.reading() as reader:
        found = reader.jobs()[0]
        assert found.next_check_at == check_after
        assert reader.due_jobs(at(5), 9) == ((found,) if check_after is not None else ())


def test_launches_are_counted_by_program_after_an_instant_oldest_first(store: Store) -> None:
    with store.transaction() as transaction:
        transaction.add_launches([launched("j", 3), launched("r", 1), launched("k", 2, program="a/q")])
        transaction.add_launches([launched("m", 1), launched("j", 9)])
        transaction.add_launches([])
        cases = [
            (at(0), (at(1), at(1), at(3))),
            (at(1), (at(3),)),
            (at(3), ()),
        ]
        for since, expected in cases:
            assert transaction.launches(["a/p"], since) == {"a/p": expected}, since
        transaction.drop_launches(["m"])
        transaction.drop_launches(["never"])
    with store.reading() as reader:
        assert reader.launches(["a/p", "a/q", "a/none"], at(0)) == {
            "a/p": (at(1), at(3)),
            "a/q": (at(2),),
            "a/none": (),
        }
        assert reader.launches([], at(0)) == {}


def test_a_gauge_keeps_the_last_report(store: Store) -> None:
    with store.transaction() as transaction:
        transaction.put_records(GAUGES, [gauge("load", 70, 4), gauge("load", 80, 5), gauge("Load", -0.25, 1)])
        transaction.put_records(GAUGES, [])
        assert transaction.records(GAUGES) == (gauge("Load", -0.25, 1), gauge("load", 80, 5))
        transaction.put_records(GAUGES, [gauge("load", 1, 5), gauge("load", 1e300, 5), gauge("Load", 2, 6)])
    with store.reading() as reader:
        assert reader.records(GAUGES) == (gauge("Load", 2, 6), gauge("load", 1e300, 5))
        assert reader.records(GAUGES, name=["load", "none"]) == (gauge("load", 1e300, 5),)
        assert reader.records(GAUGES, name=[]) == ()


def test_runs_are_selected_by_every_filter_and_come_as_they_were_seen(store: Store) -> None:
    given = [
        run("c", RunStatus.QUEUED, seen_at=at(1), job="j", attempt=1),
        run("b", RunStatus.SUCCEEDED, seen_at=at(1), job="j", attempt=2, started_at=at(2), ended_at=at(3)),
        run("a", RunStatus.STARTED, seen_at=at(2), program="a/q"),
        run("d", RunStatus.CANCELLED, seen_at=at(0)),
    ]
    with store.transaction() as transaction:
        transaction.put_runs([run("a"), *given])
        assert transaction.runs() == (given[3], given[1], given[0], given[2])
        cases = [
            ({"active": True}, "ca"),
            ({"active": False}, "db"),
            ({"limit": 2}, "ca"),
            ({"jobs": ["j"]}, "bc"),
            ({"jobs": ["j"], "active": True}, "c"),
            ({"ids": ["d", "a", "x"]}, "da"),
            ({"ids": ["d", "a"], "jobs": ["j"]}, ""),
            ({"ids": []}, ""),
        ]
        for filters, expected in cases:
            assert "".join(found.run_id for found in transaction.runs(**filters)) == expected, filters


def test_history_is_the_latest_start_and_end_of_a_success_and_the_latest_end_of_any_run(store: Store) -> None:
    done = RunStatus.SUCCEEDED
    with store.transaction() as transaction:
        transaction.put_runs(
            [
                run("1", done, started_at=at(1), ended_at=at(20)),
                run("2", done, started_at=at(5), ended_at=at(10), seen_at=at(30)),
                run("3", RunStatus.FAILED, started_at=at(1), ended_at=at(40)),
                run("4", RunStatus.CANCELLED, ended_at=at(45)),
                run("5", RunStatus.STARTED, started_at=at(50)),
                run("8", RunStatus.STARTED, ended_at=at(70)),
                run("6", done, program="a/other", ended_at=at(60)),
                run("7", done, program="a/endless"),
            ]
        )
    with store.reading() as reader:
        assert reader.history(["a/p", "a/other", "a/endless", "a/none"]) == {
            "a/p": ProgramHistory(last_success_started=at(5), last_success_ended=at(20), last_ended=at(45)),
            "a/other": ProgramHistory(last_success_ended=at(60), last_ended=at(60)),
            "a/endless": ProgramHistory(),
            "a/none": ProgramHistory(),
        }


def test_a_claim_has_one_winner_for_each_attempt(store: Store) -> None:
    with store.transaction() as transaction:
        assert transaction.claim_of("j", 1) is None
        assert transaction.claim("j", 1, "r", at(0)) == "r"
        assert transaction.claim("j", 1, "q", at(1)) == "r"
        assert transaction.claim("j", 1, "r", at(2)) == "r"
        assert transaction.claim("j", 2, "q", at(3)) == "q"
    with store.reading() as reader:
        assert (reader.claim_of("j", 1), reader.claim_of("j", 2)) == ("r", "q")


@pytest.mark.parametrize("value", [None, 0, "text", [1, "ü"], {"a": {"b": [None, True]}}, 2**53])
def test_a_cursor_keeps_any_json_value(store: Store, value: object) -> None:
    with store.transaction() as transaction:
        assert transaction.cursor("c") is None
        transaction.set_cursor("c", "before")
        transaction.set_cursor("c", value)
    with store.reading() as reader:
        assert reader.cursor("c") == value


# --- queues of blocked jobs ---

IN_G = '[["group:g",2]]'
IN_BOTH = '[["group:g",2],["program:a/p",1]]'


def blocked(id: str, *needs: tuple[str, int], on: str | None = "group:g", **changes: Any) -> Job:
    """A job that waits for slots, ready since minute 1."""
    given = {"state": JobState.PENDING_CONSTRAINT, "satisfied_at": at(1), "blocked_on": on, "needs": needs}
    return job(id, **{**given, **changes})


QUEUES = [
    # what a job is -> its queue
    (blocked("j", ("group:g", 2)), IN_G),
    (blocked("j", ("program:a/p", 1), ("group:g", 2)), IN_BOTH),
    (blocked("j", ("group:g", 2), ("program:a/p", 1), on="program:a/p"), IN_BOTH),
    (blocked("j", ("group:g", 3), ("group:g", 2)), IN_G),
    (blocked("j", ("group:g", 2), on="gauge:cpu"), '[["gauge:cpu",null],["group:g",2]]'),
    (blocked("j", on="gauge:cpu"), None),
    (blocked("j", ("group:g", 2), on=None), None),
    (blocked("j", ("group:g", 2), state=JobState.LAUNCHED), None),
    (blocked("j", ("group:g", 2), state=JobState.PENDING_LAUNCH, gave_back=True), IN_G),
]


@pytest.mark.parametrize(("found", "queue"), QUEUES)
def test_a_job_is_in_the_queue_of_all_that_it_needs(store: Store, found: Job, queue: str | None) -> None:
    assert queue_of(found) == queue
    with store.transaction() as transaction:
        transaction.put_jobs([found])
        assert transaction.queued_jobs(IN_G, "", 9) == ((found,) if queue == IN_G else ())
        assert transaction.queued_jobs(IN_BOTH, "", 9) == ((found,) if queue == IN_BOTH else ())


def test_the_jobs_of_a_queue_come_in_launch_order(store: Store) -> None:
    need = ("group:g", 2)
    jobs = [
        blocked("low", need, priority=Priority.LOW),
        blocked("late", need, satisfied_at=at(2)),
        blocked("b", need, key="2026-03-02"),
        blocked("a", need, key="2026-03-03"),
        blocked("high", need, priority=Priority.HIGH, satisfied_at=at(9)),
        blocked("elsewhere", ("group:h", 2), on="group:h"),
    ]
    with store.transaction() as transaction:
        transaction.put_jobs(jobs)
    with store.reading() as reader:
        found = reader.queued_jobs(IN_G, "", 9)
        assert [each.id for each in found] == ["high", "b", "a", "late", "low"]
        assert reader.queued_jobs(IN_G, "", 2) == found[:2]
        assert reader.queued_jobs(IN_G, launch_rank(found[1]), 2) == found[2:4]
        assert reader.queued_jobs("[]", "", 9) == ()


def test_a_release_wakes_the_queues_that_need_the_resource_and_no_job_of_them(store: Store) -> None:
    with store.transaction() as transaction:
        transaction.put_jobs([blocked("j", ("group:g", 2)), blocked("k", ("group:g", 2), ("program:a/p", 1))])
        transaction.wake(["program:a/p", "other"], at(5))
        assert transaction.woken(at(4)) == ()
        assert transaction.woken(at(5)) == ((IN_BOTH, at(5)),)
        transaction.wake(["group:g"], at(3))
        transaction.wake(["group:g"], at(7))
        transaction.wake([], at(0))
        assert transaction.woken(at(9)) == ((IN_BOTH, at(3)), (IN_G, at(3)))
        assert transaction.woken(at(9), 1) == ((IN_BOTH, at(3)),)
        assert transaction.due_jobs(at(9), 9) == ()


def test_a_queue_that_was_looked_at_rests_and_one_without_jobs_is_forgotten(store: Store) -> None:
    with store.transaction() as transaction:
        transaction.put_jobs([blocked("j", ("group:g", 2))])
        transaction.wake(["group:g"], at(5))
        transaction.mark_looked_at([IN_G])
        assert transaction.woken(at(9)) == ()
        transaction.wake(["group:g"], at(6))
        assert transaction.woken(at(9)) == ((IN_G, at(6)),)
        transaction.put_jobs([blocked("j", ("group:g", 2), state=JobState.LAUNCHED)])
        transaction.mark_looked_at([IN_G])
        transaction.mark_looked_at([])
        transaction.wake(["group:g"], at(7))
        assert transaction.woken(at(9)) == ()
