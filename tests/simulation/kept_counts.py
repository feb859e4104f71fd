"""Kept counts in a random history: also of jobs with few events, and always equal to a recount."""

from collections.abc import Iterator
from contextlib import contextmanager

from tidegate.scheduler.decision.triggers.counting import advanced, basis_of
from tidegate.scheduler.model.job import WAITING
from tidegate.scheduler.model.records.tally import Tally
from tidegate.scheduler.store.protocol import Reader
from tidegate.scheduler.tick import held_events
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


def counts_are_right(reader: Reader) -> None:
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
        tally, keys = advanced(view, Tally(), view.deliveries, {})
        assert kept[job].tally == tally, f"the counts of {job} are {kept[job].tally}, its events say {tally}"
        asked = {each.event.partition or "" for each in view.deliveries} | {key for _, key in keys}
        known = reader.tallied_keys(job, asked)
        assert known == keys, f"the keys of {job} are {known}, its events say {keys}"
