"""Set back: what a store remembers as past, once the clock turns out to have been ahead.

    a wrong tick, days or years ahead ──► the next tick is more than 15 minutes before the engine's clock
                                      ──► all that it remembers as past and that lies ahead counts as of now

So nothing waits until the wrong time has come. Rows that a person reads keep what they say: names of fires,
scheduled times, and the journal. Pure. The tick writes it, and the past that `why --at` folds does the same.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any, TypeVar, cast

import msgspec

from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.job import FINISHED, Job

V = TypeVar("V")
S = TypeVar("S", bound=msgspec.Struct)

MICROSECOND = timedelta(microseconds=1)

OF_JOBS = (
    "opened_at",
    "first_event_at",
    "satisfied_at",
    "decided_at",
    "offered_at",
    "launched_at",
    "ended_at",
    "held_at",
    "late_at",
)
"""When something happened to a job."""

OF_ALERTS = ("made_at", "next_at", "ended_at")
"""When an alert was made, is sent, and was sent or abandoned."""

OF_INCIDENTS = ("opened_at", "quiet_until")
"""When an incident began, and until when it is only counted."""


def not_ahead(value: V, now: datetime) -> V:
    """Return a value in which every instant that lies ahead is now."""
    match value:
        case datetime():
            return cast(V, min(value, now))
        case msgspec.Struct():
            fields = {name: not_ahead(getattr(value, name), now) for name in value.__struct_fields__}
            return cast(V, msgspec.structs.replace(value, **fields))
        case dict():
            found = cast("dict[Any, Any]", value)
            return cast(V, {key: not_ahead(each, now) for key, each in found.items()})
        case tuple():
            return cast(V, tuple(not_ahead(each, now) for each in cast("tuple[Any, ...]", value)))
        case _:
            return value


def schedule_set_back(state: ScheduleState, now: datetime) -> ScheduleState:
    """Return the schedule; the caller computes its next fire again."""
    state = fields_set_back(state, ("active_since", "deployed_at", "suspended_at", "clocks"), now)
    after = state.fires_after
    if after is None or after <= now:
        return state
    # A fire at this very instant may happen again.
    return msgspec.structs.replace(state, fires_after=now - MICROSECOND)


def fields_set_back(value: S, names: Iterable[str], now: datetime) -> S:
    """Return a value to which, by some of its fields, nothing has happened later than now."""
    return msgspec.structs.replace(value, **{name: not_ahead(getattr(value, name), now) for name in names})


def job_set_back(job: Job, now: datetime, ended: Mapping[str, datetime]) -> Job:
    """Return the job with its pause and its timeout counted from now.

    Args:
        ended: when runs ended, by id, as it was remembered.
    """
    job = fields_set_back(job, OF_JOBS, now)
    times: dict[str, Any] = {}
    if job.state in FINISHED:
        return job
    if job.retry_at is not None and job.failed_run is not None:
        over = ended.get(job.failed_run.id, now)
        times["retry_at"] = job.retry_at - max(over - now, timedelta(0))
    if job.instance is not None:
        times["instance"] = fields_set_back(job.instance, ("counts_from", "began"), now)
    return msgspec.structs.replace(job, **times)
