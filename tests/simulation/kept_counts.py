"""Kept counts in a random history: also of jobs with few events, and always equal to a recount."""

from collections.abc import Iterator
from contextlib import contextmanager

import msgspec

from tidegate.scheduler.decision.decide import decide
from tidegate.scheduler.decision.triggers import dropped, evaluate
from tidegate.scheduler.decision.triggers.collected import collected, heard_keys
from tidegate.scheduler.decision.triggers.counting.arrivals import BEGINNING, Nothing
from tidegate.scheduler.decision.triggers.counting.basis import basis_of, slides
from tidegate.scheduler.decision.triggers.counting.counter import Counter, counted_at
from tidegate.scheduler.decision.view.job_view import JobView
from tidegate.scheduler.explain.collected_events import CollectedEvents
from tidegate.scheduler.model.job import WAITING
from tidegate.scheduler.model.records.tally import Tally
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.tick import held_events
from tidegate.scheduler.tick.clock import engine_clock
from tidegate.scheduler.tick.held_events import KeptCounts
from tidegate.scheduler.tick.load import AllEvents, load_job_views

MANY = 1_000
"""More events than any job of a history has."""

COUNTED_FROM = (0, 0, 1, MANY)
"""Of every four seeds, two count all jobs, one those with two events, and one none."""


@contextmanager
def counted_from(seed: int) -> Iterator[None]:
    """Jobs keep their counts from a few events on."""
    usual = held_events.COUNTED_FROM
    held_events.COUNTED_FROM = COUNTED_FROM[seed % len(COUNTED_FROM)]
    try:
        yield
    finally:
        held_events.COUNTED_FROM = usual


def counts_are_right(reader: EngineReader) -> None:
    """Every count that may be used is what all events of its job say."""
    waiting = reader.jobs(states=WAITING)
    kept = reader.tallies([job.id for job in reader.jobs()])
    assert kept.keys() <= {job.id for job in waiting}, "counts of a job that does not wait"
    counted = [job for job in waiting if job.id in kept]
    held = AllEvents(reader)
    for view in load_job_views(reader, counted, counted[0].opened_at, held)[0] if counted else ():
        job = view.job.id
        if kept[job].basis != basis_of(view):
            continue
        counter = Counter(view, Tally(), Nothing())
        counter.advance(view.deliveries, until=kept[job].tally.through)
        tally, keys = counter.tally(), {place: each for place, each in counter.changed.items() if each}
        assert kept[job].tally == tally, f"the counts of {job} are {kept[job].tally}, its events say {tally}"
        asked = {each.event.partition or "" for each in view.deliveries} | {key for _, key in keys}
        known = reader.tallied_keys(job, asked)
        assert known == keys, f"the keys of {job} are {known}, its events say {keys}"
        _events_are_kept(reader, view)
        _decide_the_same(reader, view, kept[job].tally)
        _explain_the_same(reader, view)


def _decide_the_same(reader: EngineReader, view: JobView, tally: Tally) -> None:
    """At the instant that the engine has reached, the trigger is judged by the counts as by all events."""
    now, through, trigger = engine_clock(reader), tally.through, view.schedule.trigger
    if now is None or through is None or now < through or view.job.satisfied_at is not None:
        return
    counted, _ = counted_at(view, tally, KeptCounts(reader, view.job, ()), now)
    has, whole = collected(msgspec.structs.replace(counted, deliveries=())), collected(view)
    found, expected = evaluate(trigger, has, now), evaluate(trigger, whole, now)
    same = (found.met, found.since) == (expected.met, expected.since)
    assert same, f"by its counts {view.job.id} is {found}, by its events {expected}"
    if not expected.met:
        same = (found.reason, found.next_check) == (expected.reason, expected.next_check)
        assert same, f"by its counts {view.job.id} waits for {found}, by its events for {expected}"
        assert dropped(trigger, has, now) == dropped(trigger, whole, now), f"{view.job.id} drops others"


def _explain_the_same(reader: EngineReader, view: JobView) -> None:
    """What explanations read of a job gives the verdicts, with all their texts, that its events give."""
    now = engine_clock(reader)
    if now is None:
        return
    held = CollectedEvents(reader, reader.tallies([view.job.id]))
    held.prepare([view.job])
    read = held.view(msgspec.structs.replace(view, deliveries=()), now)
    found, expected = decide(read, now), decide(view, now)
    assert found == expected, f"{view.job.id} is explained as {found}, by its events as {expected}"


def _events_are_kept(reader: EngineReader, view: JobView) -> None:
    """The counted events are those that the job has, of a trigger that drops events, and none of another."""
    for path in heard_keys(view):
        found = reader.counted_events(view.job.id, path, BEGINNING, MANY)
        has = [each.event for each in view.deliveries if each.leaf == path]
        assert list(found) == (has if slides(view.schedule.trigger) else []), f"{view.job.id} at {path}"
