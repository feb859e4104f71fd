"""Fold: an instance of a task after an entry of its journal, as `decision.fold.after` folds any job.

An entry of an action says what happened; the job after it is the status table of docs/cycles.md. Pure.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import msgspec

from tidegate.scheduler.decision.fold.retry import without_run
from tidegate.scheduler.model.instance import Diagnostic, Edge, Instance
from tidegate.scheduler.model.job import Job, JobState
from tidegate.scheduler.model.journal import Entry, EntryKind
from tidegate.scheduler.model.reason import Reason

REMOVED = frozenset({Reason.D_DELETED, Reason.D_UPDATED, Reason.D_SUSPENDED, Reason.D_CANCELLED})
"""Reasons for which an instance is discarded; with any other one it has failed."""


def fails(entry: Entry) -> bool:
    """Return whether an instance that is discarded has failed: for a timeout or a constraint."""
    return entry.reason is not None and Reason(entry.reason) not in REMOVED


def instance_of(entry: Entry) -> Instance | None:
    """Return the instance that an entry makes; None for the entry of another job."""
    data = entry.data.get("instance")
    return None if data is None else msgspec.convert(data, Instance)


def made_together(entry: Entry) -> list[tuple[str, Instance]]:
    """Return the instances that one entry makes for a task, with the ids of their jobs; none of any other.

    An entry of a report or of a backfill makes one: see `instance_of`.
    """
    made = msgspec.convert(entry.data.get("instances", []), list[Instance])
    return list(zip(entry.data["jobs"], made, strict=True)) if made else []


def left_not_run(job: Job, entry: Entry) -> Job:
    """Return the job with the upstream instances that are recorded when an instance leaves Not Run."""
    if job.instance is None:
        return job
    edges = msgspec.convert(entry.data.get("upstream", []), tuple[Edge, ...])
    missing = msgspec.convert(entry.data.get("diagnostics", []), tuple[Diagnostic, ...])
    return begun(_with_instance(job, upstream=edges, diagnostics=missing), entry)


def begun(job: Job, entry: Entry) -> Job:
    """Return the job after an entry that may say when the lot of its instance began."""
    began = entry.data.get("began")
    if began is None or job.instance is None:
        return job
    return _with_instance(job, began=datetime.fromisoformat(began))


def launched(instance: Instance | None) -> Instance | None:
    """Return the instance after a launch was decided."""
    return None if instance is None else msgspec.structs.replace(instance, attempt=max(1, instance.attempt))


def attempted_again(instance: Instance | None) -> Instance | None:
    """Return the instance in its next attempt; one that was never launched has none yet."""
    if instance is None or not instance.attempt:
        return instance
    return msgspec.structs.replace(instance, attempt=instance.attempt + 1)


def _remade(job: Job, entry: Entry) -> Job:
    instance = msgspec.convert(entry.data["instance"], Instance)
    fingerprint: str = entry.data["fingerprint"]
    return msgspec.structs.replace(job, key=instance.key, instance=instance, fingerprint=fingerprint)


def _ended(job: Job, state: JobState, reason: Reason | None, entry: Entry) -> Job:
    return msgspec.structs.replace(
        job, state=state, reason=reason, ended_at=entry.at, retry_at=None, gave_back=False, held_at=None
    )


def _stopped(job: Job, **changes: Any) -> Job:
    """Return the job without its run: one that goes on belongs to an attempt that is over, and is fenced."""
    launched = job.launch is not None
    return without_run(
        job,
        attempt=job.attempt + 1 if launched else job.attempt,
        commit=job.commit + 1 if launched else job.commit,
        launch=None,
        closed=job.of_task.keyed,
        retried=0,
        retry_at=None,
        failed_run=None,
        recovered=False,
        **changes,
    )


def _again(job: Job, entry: Entry) -> Job:
    """Return the instance Not Run, for a new attempt that is gated again.

    The events of one that runs again have reported it before; those of one that is resumed count.
    """
    resumed = entry.data.get("action") == "resume"
    again = _stopped(
        job,
        state=JobState.PENDING_TRIGGER,
        satisfied_at=None,
        ended_at=None,
        first_event_at=job.first_event_at if resumed else None,
        held_at=entry.at if entry.data.get("held") else None,
        held_for=timedelta(0),
        instance=attempted_again(job.instance),
    )
    return _with_instance(again, marked=False, counts_from=entry.at, upstream=(), diagnostics=())


def _reported(job: Job, entry: Entry) -> Job:
    succeeded = entry.data["status"] == "successful"
    state, reason = (JobState.SUCCEEDED, None) if succeeded else (JobState.FAILED, Reason.F_REPORTED)
    return _with_instance(_ended(job, state, reason, entry), empty=False)


def _with_instance(job: Job, **changes: Any) -> Job:
    return msgspec.structs.replace(job, instance=msgspec.structs.replace(job.of_task, **changes))


_AFTER: dict[EntryKind, Callable[[Job, Entry], Job]] = {
    EntryKind.REMADE: _remade,
    EntryKind.GONE: lambda job, entry: _ended(job, JobState.DISCARDED, Reason.D_UPDATED, entry),
    EntryKind.PASSED: lambda job, entry: _ended(job, JobState.SUCCEEDED, None, entry),
    EntryKind.MARKED: lambda job, entry: _with_instance(
        _ended(job, JobState.SUCCEEDED, None, entry), marked=True
    ),
    EntryKind.PAUSED: lambda job, entry: _stopped(job, state=JobState.PAUSED, held_at=None),
    EntryKind.RERUN: _again,
    EntryKind.REPORTED: _reported,
}

KINDS = frozenset(_AFTER)
"""Entries that are about one instance only."""


def after(job: Job, entry: Entry) -> Job:
    """Return the instance after an entry of one of `KINDS`."""
    return _AFTER[entry.kind](job, entry)
