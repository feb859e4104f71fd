"""`retry`: a job whose run failed waits for the pause before its next attempt (rule 26).

It is not in the list of constraints: the pause follows from `retries` of the schedule, is checked before all
constraints, and ends early only when a person triggers the job.
"""

from datetime import datetime

from tidegate.scheduler.decision.view.job_view import JobView
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.verdict import Verdict


def check(view: JobView, now: datetime) -> Verdict | None:
    """Return the verdict on a job that waits for its next attempt; None for one without a pause."""
    until = view.job.retry_at
    if until is None:
        return None
    attempt = view.job.attempt
    retries = view.schedule.retries
    at = None if retries is None else retries.at
    if now >= until:
        summary = f"attempt {attempt - 1} failed, attempt {attempt} may start"
        return Verdict(kind="retry", met=True, summary=summary, since=until, at=at)
    return Verdict(
        kind="retry",
        met=False,
        summary=f"attempt {attempt - 1} failed; attempt {attempt} starts at {until.isoformat()}",
        next_check=until,
        reason=Reason.W_RETRY,
        at=at,
    )
