"""Recovered: what becomes of a job whose publish another process than its run has finished (rule 26).

    waits for its next attempt, or has failed  ──► SUCCEEDED, without a further attempt
    has failed with F-CHECK, and a person releases what is withheld  ──► SUCCEEDED
    runs                                       ──► goes on; if its run fails, it has succeeded all the same
    its run was cancelled by a person          ──► as it is
    an instance was run again since            ──► as it is: the publish is that of an earlier run

The job had promised what it publishes before its run ended, so its work is done. Pure.
"""

from datetime import datetime

import msgspec

from tidegate.domain.launch_input import UpstreamRun
from tidegate.scheduler.model.job import Job, JobState
from tidegate.scheduler.model.journal import Entry, EntryKind
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.run import RunStatus
from tidegate.scheduler.model.work_of_job import is_work_of


def recovered_entry(job: Job, commit: str, at: datetime) -> Entry | None:
    """Return the entry of a job whose publish was finished for its run; None if it changes nothing.

    Args:
        commit: the id of the publish.
    """
    if job.recovered or job.state in (JobState.SUCCEEDED, JobState.DISCARDED) or not is_work_of(job, commit):
        return None
    run = job.failed_run
    if job.state is not JobState.LAUNCHED and (run is None or run.status == RunStatus.CANCELLED):
        return None
    run_id = job.run_id if run is None or job.state is JobState.LAUNCHED else run.id
    return Entry(
        at=at,
        kind=EntryKind.RECOVERED,
        schedule=job.schedule,
        job=job.id,
        run_id=run_id,
        data={"commit": commit, **({"released": True} if job.reason is Reason.F_CHECK else {})},
    )


def recovered(job: Job, entry: Entry) -> Job:
    """Return the job after the entry."""
    if job.state is JobState.LAUNCHED:
        return msgspec.structs.replace(job, recovered=True)
    return succeeded(msgspec.structs.replace(job, recovered=True), entry.run_id or "", entry.at)


def succeeded(job: Job, run_id: str, at: datetime) -> Job:
    """Return the job of a failed run whose publish was finished for it."""
    because = f"; {job.detail}" if job.detail else ""
    released = job.reason is Reason.F_CHECK
    done = "a person released the withheld publish" if released else "recovery finished the publish"
    return msgspec.structs.replace(
        job,
        state=JobState.SUCCEEDED,
        reason=None,
        run_id=run_id,
        ended_at=at,
        retry_at=None,
        gave_back=False,
        detail=f"{done} of run {run_id}{because}",
    )


def as_success(run: UpstreamRun) -> UpstreamRun:
    """Return the failed run as `run` triggers know it once its publish is finished."""
    return msgspec.structs.replace(run, status=RunStatus.SUCCEEDED.value)
