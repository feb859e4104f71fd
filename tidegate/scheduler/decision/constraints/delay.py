"""`delay`: met once a time has passed since the trigger was satisfied, or since the first event.

The delay of a job without a satisfied trigger or a first event has not started; only `why` asks for it.
"""

from datetime import datetime

from tidegate.domain.model import DelayConstraint
from tidegate.scheduler.decision.view.job_view import JobView
from tidegate.scheduler.model.verdict import Verdict


def check(constraint: DelayConstraint, view: JobView, now: datetime) -> Verdict:
    job = view.job
    start = job.satisfied_at
    if constraint.from_ == "first_event" and job.first_event_at is not None:
        start = job.first_event_at
    if start is None:
        return Verdict(kind="delay", met=False, summary=f"{constraint.for_} have not started")
    until = start + constraint.for_
    if now >= until:
        return Verdict(kind="delay", met=True, summary=f"{constraint.for_} have passed", since=until)
    return Verdict(
        kind="delay", met=False, summary=f"{constraint.for_} end at {until.isoformat()}", next_check=until
    )
