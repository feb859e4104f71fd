"""Outcome: how a job that no longer waits went on, in one line for people."""

from tidegate.scheduler.explain.instant_text import instant_text
from tidegate.scheduler.model.job import Job, JobState


def outcome_line(job: Job) -> str:
    """Describe how a job that no longer waits went on."""
    if job.state is JobState.PENDING_LAUNCH:
        return f"{job.state}: {_asked(job)}"
    because = "" if job.reason is None else f" ({job.reason}: {job.reason.summary})"
    run = "" if job.run_id is None else f", run {job.run_id}"
    if job.attempt > 1 and not job.recovered:
        run += f", attempt {job.attempt}"
    detail = f"; {job.detail}" if job.detail else ""
    return f"{job.state}{because}{run}{detail}"


def _asked(job: Job) -> str:
    """Describe the offers of a decided launch and the last answer."""
    if job.offers == 0 and job.detail:
        return f"its launch is postponed: {job.detail}; it holds no slots meanwhile"
    if job.offers == 0:
        return "its run is asked for at the next tick of its dispatcher"
    times = "once" if job.offers == 1 else f"{job.offers} times"
    if job.offers == job.rejected:
        until = "; it holds no slots until it is offered again" if job.gave_back else ""
        return f"its run was asked for {times}; the last request was rejected: {job.detail}{until}"
    answer = f"the answer before: {job.detail}" if job.detail else "no run is seen yet"
    assert job.offered_at is not None, "it was offered"
    return f"its run was asked for {times}, last at {instant_text(job.offered_at)}; {answer}"
