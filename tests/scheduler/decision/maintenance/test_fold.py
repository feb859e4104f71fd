"""What the journal of an operation says of its job."""

import pytest

from tests.worlds.operations import REWRITE
from tests.worlds.world import at
from tidegate.scheduler.decision.fold.after import after
from tidegate.scheduler.model.job import Job, JobState
from tidegate.scheduler.model.journal import Entry, EntryKind
from tidegate.scheduler.model.maintenance import Work
from tidegate.scheduler.model.reason import Reason

WORK = Work(table="w.a.x", operation=REWRITE, policy="a/p")


def job(**what):
    work = what.pop("maintenance", WORK)
    return Job(
        id="j",
        schedule="a/policy:p",
        state=JobState.LAUNCHED,
        opened_at=at("10:00"),
        maintenance=work,
        **what,
    )


def ends(of, reason=None, **data):
    entry = Entry(
        at=at("11:00"), kind=EntryKind.OPERATION, schedule="a/policy:p", job="j", reason=reason, data=data
    )
    return after(of, entry)


@pytest.mark.parametrize(
    ("ending", "reason", "state", "expected"),
    [
        ("succeeded", None, "SUCCEEDED", None),
        ("failed", None, "FAILED", Reason.F_RUN),
        ("failed", Reason.F_TIMEOUT, "FAILED", Reason.F_TIMEOUT),
        ("conflict", None, "FAILED", Reason.F_CONFLICT),
        ("stopped", None, "FAILED", Reason.F_YIELDED),
    ],
)
def test_the_end_of_its_run_is_the_end_of_its_job(ending, reason, state, expected):
    found = ends(job(), reason, ending=ending, detail="so it was")
    assert (found.state, found.reason, found.ended_at, found.detail) == (
        state,
        expected,
        at("11:00"),
        "so it was",
    )
    assert ends(job(), reason, ending=ending).detail == ""


def test_a_job_that_has_ended_stays_as_it_is():
    ended = ends(job(), ending="succeeded")
    assert ends(ended, Reason.F_TIMEOUT, ending="failed") == ended


def launch(of, **data):
    entry = Entry(
        at=at("10:30"),
        kind=EntryKind.LAUNCH,
        schedule="a/policy:p",
        job="j",
        data={"program": "a/p", "partitions": [], "manifest": {}, "args": {}, "resources": [], **data},
    )
    return after(of, entry).maintenance


def test_its_launch_says_what_was_decided_for_it():
    found = launch(job(), operation={"probe": True, "forced": True, "excluded": ["2026-03-09"]})
    assert (found.probe, found.forced, found.excluded) == (True, True, ("2026-03-09",))
    assert launch(job()) == WORK
    assert launch(job(maintenance=None)) is None
