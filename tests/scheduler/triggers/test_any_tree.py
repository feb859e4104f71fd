"""Every tree of triggers, nested as it likes, against a slow reference which tries every minute."""

from datetime import datetime, timedelta

import pytest
from hypothesis import given, settings

from tests.effort import much
from tests.scheduler.triggers.reference import Came, Reference, minute_of
from tests.scheduler.triggers.trees import LAST_MINUTE, collection, jobs
from tests.worlds.world import MIDNIGHT
from tidegate.domain.model import SequenceTrigger, Trigger, child_path
from tidegate.scheduler.decision.triggers import dropped, evaluate


def at(minute: int) -> datetime:
    return MIDNIGHT + timedelta(minutes=minute)


@given(job=jobs())
@settings(max_examples=25, derandomize=True)
def test_it_holds_since_the_minute_that_the_reference_finds_whenever_it_is_asked(job):
    agrees_with_the_reference(*job)


@pytest.mark.soak
@pytest.mark.endurance  # hundreds of trees, each at every minute: half a minute
@given(job=jobs())
@settings(max_examples=much(30))
def test_so_it_does_for_very_many_trees(job):
    agrees_with_the_reference(*job)
    loses_nothing(*job)


def agrees_with_the_reference(trigger: Trigger, came: list[Came]) -> None:
    reference, everything = Reference(trigger, came), collection(came)
    first = reference.satisfied(LAST_MINUTE)
    for minute in range(LAST_MINUTE + 1):
        verdict = evaluate(trigger, everything, at(minute))
        expected = first if first is not None and first <= minute else None
        assert verdict.met == (expected is not None)
        assert verdict.since == (None if expected is None else at(expected))


@given(job=jobs())
@settings(max_examples=25, derandomize=True)
def test_what_is_dropped_never_mattered_and_the_next_check_misses_nothing(job):
    loses_nothing(*job)


def loses_nothing(trigger: Trigger, came: list[Came]) -> None:
    """Driven only by arrivals and next checks, with what is dropped gone, it is satisfied as it should be."""
    first = Reference(trigger, came).satisfied(LAST_MINUTE)
    kept, coming = [], sorted(came, key=lambda each: each.minute)
    check = None
    for minute in range(LAST_MINUTE + 1):
        arrived = [each for each in coming if each.minute == minute]
        kept += arrived
        if not arrived and (check is None or check > at(minute)):
            continue
        verdict = evaluate(trigger, collection(kept), at(minute))
        if verdict.met:
            assert (verdict.since, minute) == (at(first), first)
            return
        gone = dropped(trigger, collection(kept), at(minute))
        kept = [each for each in kept if each.delivery not in gone]
        check = verdict.next_check
        assert check is None or check > at(minute)
        again = evaluate(trigger, collection(kept), at(minute))
        assert (again.met, again.holds_at) == (False, verdict.holds_at)
    assert first is None


@given(job=jobs())
@settings(max_examples=20, derandomize=True)
def test_it_says_when_it_will_hold_if_nothing_more_comes(job):
    trigger, came = job
    for minute in sorted({each.minute for each in came}):
        known = [each for each in came if each.minute <= minute]
        verdict = evaluate(trigger, collection(known), at(minute))
        if not verdict.met:
            first = Reference(trigger, known).satisfied(LAST_MINUTE)
            assert verdict.holds_at == (None if first is None else at(first))


@given(job=jobs())
@settings(max_examples=20, derandomize=True)
def test_members_are_shown_as_they_are(job):
    trigger, came = job
    reference, everything = Reference(trigger, came), collection(came)
    for minute in range(LAST_MINUTE + 1):
        verdict = evaluate(trigger, everything, at(minute))
        options = (trigger.quiet, trigger.collect_within, trigger.wait_at_most)
        if verdict.met or any(options) or isinstance(trigger, SequenceTrigger):
            continue
        for index, part in enumerate(verdict.parts):
            member, path = trigger.of[index], child_path("", index)
            assert part.met == reference.part_holds(member, path, minute)
            if part.met:
                assert reference.part_holds(member, path, minute_of(part.since))
