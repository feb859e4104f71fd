"""What becomes of a job whose trigger is not satisfied: it waits, ages, and drops what is too old."""

from datetime import timedelta

import msgspec
import pytest

from tests.worlds.job_view_of import JOB, job_view_of, partition
from tests.worlds.world import at
from tidegate.domain.model import AllTrigger, PartitionsTrigger, Timeout
from tidegate.scheduler.decision.decide import Discard, Launch, Wait, decide
from tidegate.scheduler.model.reason import Reason

HALF = msgspec.structs.replace(JOB, satisfied_at=None)
HOUR = timedelta(hours=1)
TEN = partition("10:00", "raw", "2026-03-08")
HALF_PAST = partition("10:30", "raw", "2026-03-09")

PLAIN = PartitionsTrigger(dataset="raw", count=3)
QUIET = PartitionsTrigger(dataset="raw", quiet=HOUR)
RECENT = PartitionsTrigger(dataset="raw", count=3, collect_within=HOUR)
FROM_FIRST = Timeout(after=HOUR, from_="first_event")


def decided(trigger, *collected, now="10:30", **parts):
    return decide(job_view_of(job=HALF, trigger=trigger, deliveries=collected, **parts), at(now)).outcome


ROWS = [
    ("only an event can help", PLAIN, {}, "10:30", "W-TRIGGER", None, ()),
    ("it does not age by itself", PLAIN, {}, "9d 10:00", "W-TRIGGER", None, ()),
    ("it ages from its first event", PLAIN, {"timeout": FROM_FIRST}, "10:30", "W-TRIGGER", "11:00", ()),
    ("quiet: half past and an hour", QUIET, {}, "10:45", "W-QUIET", "11:30", ()),
    ("the next to drop out", RECENT, {}, "10:30", "W-TRIGGER", "11:00", ()),
    ("exactly as old as that: it goes", RECENT, {}, "11:00", "W-TRIGGER", "11:30", (TEN,)),
]  # fmt: skip


@pytest.mark.parametrize(
    ("sentence", "trigger", "parts", "now", "reason", "check", "dropped"), ROWS, ids=[row[0] for row in ROWS]
)
def test_partitions_at_ten_and_at_half_past(sentence, trigger, parts, now, reason, check, dropped):
    found = decided(trigger, TEN, HALF_PAST, now=now, **parts)
    assert (found.state, found.reason) == ("PENDING_TRIGGER", reason)
    assert found.next_check == (None if check is None else at(check))
    assert found.dropped == dropped


def test_a_job_whose_events_have_all_dropped_out_is_discarded():
    assert decided(RECENT, TEN, HALF_PAST, now="11:30") == Discard(
        reason=Reason.D_EXPIRED, dropped=(TEN, HALF_PAST)
    )


def test_a_timeout_from_the_first_event_that_runs_launches_what_has_been_collected():
    run = Timeout(after=HOUR, from_="first_event", then="run")
    view = job_view_of(job=HALF, trigger=PLAIN, deliveries=(TEN,), timeout=run)
    assert isinstance(decide(view, at("10:59")).outcome, Wait)
    launched = decide(view, at("11:30"))
    assert (launched.outcome, launched.satisfied_at) == (Launch(), at("11:00"))
    held = msgspec.structs.replace(view, held=True, job=msgspec.structs.replace(HALF, held_at=at("10:30")))
    assert isinstance(decide(held, at("11:30")).outcome, Wait)


def test_it_is_given_up_when_its_timeout_from_the_first_event_strikes():
    assert decided(PLAIN, TEN, now="11:00", timeout=FROM_FIRST) == Discard(
        reason=Reason.D_TIMEOUT, since=at("11:00")
    )


def test_a_trigger_that_is_satisfied_at_that_very_instant_comes_first():
    trigger = PartitionsTrigger(dataset="raw", count=2)
    last = partition("11:00", "raw", "2026-03-09")
    assert isinstance(decided(trigger, TEN, last, now="11:00", timeout=FROM_FIRST), Launch)


def test_a_composite_that_waits_only_for_quiet_says_so():
    both = AllTrigger(of=(PartitionsTrigger(dataset="raw"), PartitionsTrigger(dataset="other")), quiet=HOUR)
    raw = partition("10:00", "raw", "k", leaf="0")
    other = partition("10:15", "other", "k", leaf="1")
    assert decided(both, raw).reason is Reason.W_TRIGGER
    assert decided(both, raw, other).reason is Reason.W_QUIET
    assert isinstance(decided(both, raw, other, now="11:15"), Launch)
