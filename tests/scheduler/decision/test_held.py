"""A schedule that is suspended and holds: its jobs are decided, but not launched (rules 10, 19)."""

from datetime import timedelta

import msgspec
import pytest

from tests.worlds.job_view_of import JOB, Q, job_view_of
from tests.worlds.world import at
from tidegate.domain.model import ConcurrencyConstraint, DelayConstraint, Timeout
from tidegate.scheduler.decision.decide import Discard, Launch, Wait, decide
from tidegate.scheduler.decision.timeout import deadline, paused_for
from tidegate.scheduler.model.job import ByHand
from tidegate.scheduler.model.reason import Reason

HOUR = timedelta(hours=1)
MINUTE = timedelta(minutes=1)


def job(**changes):
    return msgspec.structs.replace(JOB, **changes)


def outcome(*constraints, clock: str = "10:00", changes=None, **parts):
    return decide(job_view_of(*constraints, job=job(**(changes or {})), **parts), at(clock)).outcome


def test_a_ready_job_waits_for_the_resume_and_for_no_time():
    found = outcome(held=True)
    assert isinstance(found, Wait)
    assert (found.reason, found.next_check, found.blocked_on) == (Reason.W_HELD, None, None)


def test_held_is_judged_last():
    found = outcome(DelayConstraint(for_=5 * MINUTE), held=True)
    assert (found.reason, found.next_check) == (Reason.W_DELAY, at("10:05"))


def test_nothing_is_skipped_while_it_is_held():
    found = outcome(ConcurrencyConstraint(max=1, otherwise="skip"), slots={Q: 1}, held=True)
    assert found.reason is Reason.W_HELD


@pytest.mark.parametrize("by_hand", ByHand)
def test_a_job_by_hand_is_not_held(by_hand):
    assert isinstance(outcome(held=True, changes={"by_hand": by_hand}), Launch)


@pytest.mark.parametrize("then", ["discard", "run"])
def test_no_timeout_strikes_while_it_is_held(then):
    timeout = Timeout(after=HOUR, then=then)
    assert outcome(clock="9d 10:00", held=True, timeout=timeout).reason is Reason.W_HELD


def test_no_timeout_from_the_first_event_strikes_while_it_is_held():
    timeout = Timeout(after=HOUR, from_="first_event")
    waiting = {"satisfied_at": None}
    assert outcome(clock="12:00", held=True, timeout=timeout, changes=waiting).reason is Reason.W_TRIGGER
    found = outcome(clock="12:00", timeout=timeout, changes=waiting)
    assert found == Discard(reason=Reason.D_TIMEOUT, since=at("11:00"))


def test_after_the_resume_the_timeout_goes_on_where_it_stood_still():
    timeout = Timeout(after=HOUR)
    closed = DelayConstraint(for_=timedelta(days=2))
    found = outcome(closed, clock="13:00", timeout=timeout, changes={"held_for": 3 * HOUR})
    assert (found.reason, found.next_check) == (Reason.W_DELAY, at("14:00"))
    found = outcome(closed, clock="14:00", timeout=timeout, changes={"held_for": 3 * HOUR})
    assert found == Discard(reason=Reason.D_TIMEOUT, since=at("14:00"))


PAUSES = [
    ("never held", "satisfied", {}, timedelta(0)),
    ("held since half past", "satisfied", {"held_at": at("10:30")}, 30 * MINUTE),
    ("held before too", "satisfied", {"held_at": at("10:30"), "held_for": HOUR}, 90 * MINUTE),
    ("held before the clock began: from its beginning", "satisfied", {"held_at": at("09:00")}, HOUR),
    ("its clock has not begun", "satisfied", {"held_at": at("09:00"), "satisfied_at": None}, timedelta(0)),
    (
        "from the first event, though not satisfied",
        "first_event",
        {"held_at": at("10:20"), "satisfied_at": None},
        40 * MINUTE,
    ),
    ("held later than is asked", "satisfied", {"held_at": at("11:30")}, timedelta(0)),
]


@pytest.mark.parametrize(("sentence", "begins", "changes", "pause"), PAUSES, ids=[row[0] for row in PAUSES])
def test_how_long_the_clock_has_stood_still_at_eleven(sentence, begins, changes, pause):
    assert paused_for(Timeout(from_=begins), job(**changes), at("11:00")) == pause


def test_a_clock_that_has_not_begun_has_no_deadline():
    assert deadline(Timeout(), job(satisfied_at=None), held=False) is None
    assert deadline(Timeout(from_="first_event"), job(satisfied_at=None), held=False) == at("1d 10:00")
