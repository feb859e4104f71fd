"""The fold of a job's journal: the state of a waiting job, what no entry may do, and how a job ends."""

from datetime import timedelta
from typing import Any

import pytest

from tests.worlds.world import World, at
from tidegate.domain.back_off import back_off
from tidegate.scheduler.decision.fold.after import after, record
from tidegate.scheduler.decision.fold.end_job import discard_entry, end_job
from tidegate.scheduler.model.job import IllegalTransition, Job, JobState
from tidegate.scheduler.model.journal import Entry, EntryKind
from tidegate.scheduler.model.reason import Reason

JOB = Job(id="j", schedule="a/s", opened_at=at("10:00"))


def entry(kind: EntryKind, reason: str | None = None, **data: Any) -> Entry:
    return Entry(at=at("11:00"), kind=kind, schedule="a/s", job="j", run_id="r", reason=reason, data=data)


def test_the_engine_writes_the_state_of_a_waiting_job() -> None:
    world = World("s: {program: q, status: active, trigger: {partitions: {dataset: raw, count: 2}}}")
    world.arrive("10:00", "raw", "2026-03-09")
    world.tick("10:00")
    (waiting,) = [each for each in world.journal("s") if each.kind is EntryKind.WAITING]
    assert waiting.data["state"] == world.only("s").state == "PENDING_TRIGGER"


def test_an_entry_that_a_job_cannot_have_is_a_bug_where_it_is_written() -> None:
    claim = entry(EntryKind.CLAIM)
    with pytest.raises(IllegalTransition, match="job j: PENDING_TRIGGER -> LAUNCHED"):
        record(JOB, claim)
    assert after(JOB, claim).state is JobState.LAUNCHED


def test_what_a_person_did_needs_the_schedule_and_other_entries_change_nothing() -> None:
    assert after(JOB, entry(EntryKind.MANUAL, action="force")) == JOB
    assert after(JOB, entry(EntryKind.SPEC)) == JOB


@pytest.mark.parametrize(
    ("state", "ending", "frees", "forgets", "ends"),
    [
        ("PENDING_TRIGGER", discard_entry(JOB, Reason.D_TIMEOUT, at("11:00")), False, False, "DISCARDED"),
        ("PENDING_LAUNCH", discard_entry(JOB, Reason.D_DELETED, at("11:00")), True, True, "DISCARDED"),
        ("PENDING_LAUNCH", entry(EntryKind.LAUNCH_FAILED, "F-LAUNCH", message="m"), True, True, "FAILED"),
        (
            "LAUNCHED",
            entry(EntryKind.RUN, at=at("10:59").isoformat(), status="succeeded"),
            True,
            False,
            "SUCCEEDED",
        ),
    ],
)
def test_a_job_that_ends_gives_back_what_it_holds(
    state: str, ending: Entry, frees: bool, forgets: bool, ends: str
) -> None:
    job = Job(id="j", schedule="a/s", opened_at=at("10:00"), state=JobState(state), next_check_at=at("12:00"))
    end = end_job(job, ending)
    assert (end.released.slots, end.released.launch) == (frees, forgets)
    assert (end.job.state, end.job.next_check_at) == (ends, None)
    with pytest.raises(IllegalTransition):
        end_job(end.job, ending if ends != "SUCCEEDED" else discard_entry(end.job, "D-TIMEOUT", at("12:00")))


@pytest.mark.parametrize(("tries", "seconds"), [(0, 10), (1, 10), (2, 20), (3, 40), (6, 320)])
def test_each_pause_is_twice_the_one_before(tries: int, seconds: int) -> None:
    assert back_off(timedelta(seconds=10), tries) == timedelta(seconds=seconds)
