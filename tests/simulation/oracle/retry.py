"""What must hold when the engine starts a job again whose run has failed, and when recovery does its work."""

from datetime import datetime, timedelta
from typing import Any

from tests.simulation.knowledge import ENDED, LAUNCHED, RUNS, WAITS, JobSeen, Knowledge
from tests.simulation.oracle.launch import duration
from tidegate.scheduler.model.journal import Entry

DEATHS = 2
"""So often a run that died is started again where the schedule does not say."""


def check_retry(job: JobSeen, specs: dict[str, dict[str, Any]], entry: Entry) -> None:
    """The job is started again at most as often as the schedule says, and after its pause."""
    retries = specs[job.schedule].get("retries")
    starts_at = datetime.fromisoformat(entry.data["starts_at"])
    assert job.state == ENDED and job.failed, f"retries: a {job.state} job was started again"
    assert entry.data["attempt"] == job.attempt + 1, "retries: an attempt was left out"
    most = retries["max"] if retries else DEATHS if job.died else 0
    job.retried += 1
    assert job.retried <= most, f"retries: {job.retried} of {most}"
    pause = timedelta(seconds=10) * 2 ** (job.retried - 1)
    if retries:
        pause = duration(retries["wait"]) * retries["backoff"] ** (job.retried - 1)
    ended = job.ended_at or entry.at
    assert starts_at == ended + pause, f"retries: at {starts_at}, {pause} after {ended}"
    job.state, job.attempt, job.closed, job.reason = WAITS, job.attempt + 1, True, None
    job.not_before = starts_at


def read_recovered(known: Knowledge, job: JobSeen, entry: Entry) -> None:
    """Another process has published what a run promised: a job without a run has succeeded, once."""
    assert not job.recovered, "recovery: reported twice"
    job.recovered = True
    if job.state == RUNS:
        return
    assert job.failed, f"recovery: no run of the {job.state} job has failed"
    if job.state == LAUNCHED:
        known.forget_launch(job.holder)
        known.release(job.id)
    job.state, job.failed, job.ended_at, job.reason, job.gave_back = ENDED, False, entry.at, None, False
