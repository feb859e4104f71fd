"""Leave: what arrived at the instant at which the engine discards a job opens a job of its own (rule 5).

    events before that instant       ──► discarded with the job
    events at that instant or later  ──► a new job, which is decided at once
    all events are such              ──► all are discarded with the job

The instant is the deadline of a job that times out, which may be over when the scheduler returns, and the
present for `otherwise: skip`. Constraints and trigger were judged with these events first: they could not
launch the job. Pure; `scheduler.tick.apply` writes it.
"""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from tidegate.domain.value import Value
from tidegate.scheduler.decision.fold.after import joined, opened
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.event import Delivery, event_facts
from tidegate.scheduler.model.job import Job, job_id
from tidegate.scheduler.model.journal import Entry, EntryKind


class Opened(Value, kw_only=True):
    """The job of the events that left another one: the job, its events, and its entries."""

    job: Job
    deliveries: tuple[Delivery, ...]
    entries: tuple[Entry, ...]


def leaving(deliveries: Sequence[Delivery], since: datetime) -> tuple[Delivery, ...]:
    """Return the events of a discarded job that arrived at an instant or later; none if all have."""
    gone = tuple(each for each in deliveries if each.event.arrived >= since)
    return gone if len(gone) < len(deliveries) else ()


def open_for(job: Job, gone: Sequence[Delivery], state: ScheduleState, now: datetime) -> Opened:
    """Return the new job of the events that leave a discarded one; it is due at once.

    Args:
        gone: at least one event, in order of arrival.
    """
    # Only a fire is about the date of the job that it has joined.
    keeps = not state.spec.keyed_by_date or any(each.event.scheduled_for is not None for each in gone)
    key = job.key if keeps else ""
    id = job_id(state.ref, key, f"{job.id} {gone[0].event.id}")
    opening = Entry(at=now, kind=EntryKind.JOB_OPENED, schedule=state.ref, job=id, data={"key": key})
    new = msgspec.structs.replace(opened(opening, state), repairs=job.repairs)
    repairs = {} if job.repairs is None else {"repairs": msgspec.to_builtins(job.repairs)}
    for each in gone:
        new = joined(new, each.event.arrived)
    entries = [
        Entry(
            at=now,
            kind=EntryKind.EVENT,
            schedule=state.ref,
            job=id,
            event=each.event.id,
            data={"leaf": each.leaf, "left": job.id, **repairs, **event_facts(each.event)},
        )
        for each in gone
    ]
    return Opened(
        job=msgspec.structs.replace(new, next_check_at=now),
        deliveries=tuple(msgspec.structs.replace(each, job=id, at=now) for each in gone),
        entries=(opening, *entries),
    )
