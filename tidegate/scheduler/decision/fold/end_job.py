"""The end of a job: its final state, and the slots and launches that it releases.

    discarded by a decision, a person or a deploy ─┐
    no run could be created (a dead letter) ───────┼──► the entry of the end ──► `end_job`
    its run has ended ─────────────────────────────┤
    recovery has finished its publish ─────────────┤
    an instance: paused, marked, reported, run again┘

Pure. `scheduler.tick.end_jobs` writes the end into the store; `scheduler.explain.past` folds it with `after`
and `released`.
"""

from datetime import datetime

from tidegate.domain.value import Value
from tidegate.scheduler.decision.fold.after import record
from tidegate.scheduler.decision.fold.recovered import as_success
from tidegate.scheduler.decision.fold.run_events import run_events
from tidegate.scheduler.model.event import Event
from tidegate.scheduler.model.job import ACTIVE, Job
from tidegate.scheduler.model.journal import By, Entry, EntryKind


class Released(Value, kw_only=True):
    """What a job releases at its end.

    Attributes:
        slots: whether it held slots.
        launch: whether its launch led to no run and no longer counts in rates.
    """

    slots: bool
    launch: bool


class End(Value, kw_only=True):
    """The end of one job.

    Attributes:
        job: the ended job.
        released: what it releases.
        events: of the failed run before, which no further attempt follows any more (rule 26): of its failure,
            or of its success if recovery has finished its publish.
    """

    job: Job
    released: Released
    events: tuple[Event, ...] = ()


def end_job(job: Job, entry: Entry) -> End:
    """Return the end of a job, as its entry says.

    Raises:
        IllegalTransition: the job has ended already.
    """
    return End(
        job=record(job, entry, next_check_at=None, blocked_on=None),
        released=released(job, entry),
        events=_events(job, entry),
    )


def released(job: Job, entry: Entry) -> Released:
    """Return what a job releases that ends with an entry."""
    held_slots = job.state in ACTIVE
    without_run = job.run_id is None and entry.kind is not EntryKind.RUN
    return Released(slots=held_slots, launch=held_slots and without_run)


def _events(job: Job, entry: Entry) -> tuple[Event, ...]:
    if job.failed_run is None or entry.kind is EntryKind.RUN:
        return ()
    run = as_success(job.failed_run) if entry.kind is EntryKind.RECOVERED else job.failed_run
    return run_events(run, entry.at, entry.at, job)


def discard_entry(job: Job, reason: str, at: datetime, by: By | None = None) -> Entry:
    """Return the entry of a discarded job, with the reason and who discarded it, if it was a person."""
    data = {} if by is None else by.noted
    return Entry(at=at, kind=EntryKind.DISCARDED, schedule=job.schedule, job=job.id, reason=reason, data=data)


def reported_entry(job: Job, event: str, at: datetime) -> Entry:
    """Return the entry of an instance that an event (id) has reported as successful: it is the request."""
    data = {"status": "successful", "by": "event", "why": "", "request": event}
    return Entry(at=at, kind=EntryKind.REPORTED, schedule=job.schedule, job=job.id, event=event, data=data)
