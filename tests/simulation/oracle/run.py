"""What an observed run changes in what the oracle knows: slots, launches, successes, and the end of a job."""

from datetime import datetime

from tests.simulation.knowledge import ENDED, LAUNCHED, RUNS, JobSeen, Knowledge
from tidegate.scheduler.model.journal import Entry


def read_run(known: Knowledge, entry: Entry, job: JobSeen | None) -> None:
    """A run was seen: one of a job, or one that a person started."""
    data, run = entry.data, entry.run_id or ""
    at = datetime.fromisoformat(data["at"])
    ended = data["status"] not in ("queued", "started")
    if data["status"] == "started":
        known.started[run] = min(at, known.started.get(run, at))
    if data["status"] == "succeeded":
        known.successes[data["program"]].setdefault(run, at)
    if job is None:
        _of_others(known, entry, run, at, ended=ended)
        return
    if job.gave_back:
        known.take(job, at)
    if not ended:
        if job.state == LAUNCHED:
            job.state = RUNS
        assert job.state in (RUNS, ENDED), f"legal states: a run of a {job.state} job"
    elif job.state != ENDED:
        assert job.state in (LAUNCHED, RUNS), f"legal states: the end of a run of a {job.state} job"
        job.ends(at, data["status"] == "failed", bool(data.get("died")))
        known.release(job.id)


def _of_others(known: Knowledge, entry: Entry, run: str, at: datetime, *, ended: bool) -> None:
    counted = known.launches[entry.data["program"]]
    if entry.data["status"] in ("started", "succeeded") and run not in {holder for _, holder in counted}:
        # Who saw only the end knows that it was started by then.
        counted.append((at, run))
    if ended:
        known.release(run)
    else:
        for resource in entry.data["resources"]:
            known.holders[resource].add(run)
