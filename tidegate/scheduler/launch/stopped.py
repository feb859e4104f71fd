"""Stopped: the active runs whose job has gone on without them, and when to end each of them.

    its instance was paused, or is run again         ─┐
    its operation on a table has had its timeout     ─┴─► journaled, asked ──► its end is observed, without
                                                              ▲──pause──┘      effect on the job

A run of an instance is fenced (`scheduler.store.commits.recovery_states`): it works, but publishes
nothing any more. A run of an operation stops by itself between two of its commits, if it can. The dispatcher
ends both in Dagster (`dagster_defs.dispatch.steps`), so that they do not work for nothing. It asks once, and
again with growing pauses as long as the run is active.
"""

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta

import msgspec

from tidegate.domain.back_off import back_off
from tidegate.domain.value import Value
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.journal import Entry, EntryKind
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.run import Run
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.protocol import EngineTransaction

ASKED = "stopped-runs"
"""Name of the cursor that holds what was asked so far, by run."""

FIRST_PAUSE = timedelta(seconds=15)
"""A run that is asked to end needs some seconds for that."""

TIMEOUT_GRACE = timedelta(seconds=30)
"""So long after its timeout a run of an operation may need to finish the commit that it makes."""


class Asked(Value, kw_only=True):
    """How often a run was asked to end, and when to ask it again."""

    tries: int
    next_at: datetime


class Stop(Value, kw_only=True):
    """A run to end.

    Attributes:
        tries: how often it is asked, this time included.
    """

    run: Run
    job: Job
    tries: int


def stops_due(reader: EngineReader, apps: Collection[str], now: datetime) -> tuple[Stop, ...]:
    """Return the runs of some apps that have to be asked to end now."""
    return _due(_stopped(reader), _asked(reader), apps, now)


def note_stops(transaction: EngineTransaction, apps: Collection[str], now: datetime) -> tuple[Stop, ...]:
    """Return what `stops_due` does, and note that these runs are asked now.

    The caller asks after this transaction: if it ends in between, the runs are asked at the next time.
    """
    stopped, asked = _stopped(transaction), _asked(transaction)
    due = _due(stopped, asked, apps, now)
    kept = {run.run_id: asked[run.run_id] for run, _ in stopped if run.run_id in asked}
    kept |= {
        stop.run.run_id: Asked(tries=stop.tries, next_at=now + back_off(FIRST_PAUSE, stop.tries))
        for stop in due
    }
    transaction.set_cursor(ASKED, msgspec.to_builtins(kept))
    transaction.add_journal([_entry(stop, now) for stop in due])
    return due


def _due(
    stopped: tuple[tuple[Run, Job], ...], asked: Mapping[str, Asked], apps: Collection[str], now: datetime
) -> tuple[Stop, ...]:
    found = [
        (run, job, asked.get(run.run_id, Asked(tries=0, next_at=_first(job, now))))
        for run, job in stopped
        if job.app in apps
    ]
    return tuple(
        Stop(run=run, job=job, tries=before.tries + 1)
        for run, job, before in found
        if not _pauses(before, now)
    )


def _pauses(asked: Asked, now: datetime) -> bool:
    """Return whether a run was asked a short time ago; not by a clock that was ahead."""
    longest = back_off(FIRST_PAUSE, asked.tries) if asked.tries else TIMEOUT_GRACE
    return now < asked.next_at <= now + longest


def _first(job: Job, now: datetime) -> datetime:
    """Return when the run of a job is asked for the first time."""
    if job.maintenance is None or job.ended_at is None:
        return now
    return job.ended_at + TIMEOUT_GRACE


def _stopped(reader: EngineReader) -> tuple[tuple[Run, Job], ...]:
    """Return the active runs whose job has gone on without them, with their jobs."""
    runs = [run for run in reader.runs(active=True) if run.job is not None]
    if not runs:
        return ()
    jobs = {job.id: job for job in reader.jobs(ids={run.job for run in runs if run.job is not None})}
    pairs = [(run, jobs[run.job]) for run in runs if run.job in jobs]
    return tuple((run, job) for run, job in pairs if _is_over(run, job))


def _is_over(run: Run, job: Job) -> bool:
    """Return whether a job has gone on without its active run.

    The job of an operation ends before its run does, which reports the end itself; only after a timeout is
    the run to be ended.
    """
    if job.maintenance is not None:
        return job.reason is Reason.F_TIMEOUT
    return job.instance is not None and run.attempt != job.attempt


def _asked(reader: EngineReader) -> dict[str, Asked]:
    return msgspec.convert(reader.cursor(ASKED) or {}, dict[str, Asked])


def _entry(stop: Stop, now: datetime) -> Entry:
    data = {"attempt": stop.run.attempt, "tries": stop.tries}
    run_id, job = stop.run.run_id, stop.job
    return Entry(at=now, kind=EntryKind.STOPPED, schedule=job.schedule, job=job.id, run_id=run_id, data=data)
