"""`rate`: holds while fewer than `max` runs of the program were launched within the last `per`.

Whoever launched them. The time slides over the launches, it is no clock hour (rule 18):
at exactly `per` after a launch that launch no longer counts. A launch that comes to nothing is
taken back and gives the program's slot back with it, so that slot is what may help sooner.
"""

from datetime import datetime

from tidegate.domain.model import RateConstraint
from tidegate.scheduler.decision.job_view import JobView
from tidegate.scheduler.model.verdict import Verdict


def check(constraint: RateConstraint, view: JobView, now: datetime) -> Verdict:
    """See `scheduler.decision.constraints`."""
    counted = [at for at in view.launches if now - constraint.per < at <= now]
    summary = (
        f"{len(counted)} of {constraint.max} launches of {view.schedule.program} within {constraint.per}"
    )
    if len(counted) < constraint.max:
        return Verdict(kind="rate", met=True, summary=summary)
    # With this one gone, one fewer than `max` are left.
    until = counted[-constraint.max] + constraint.per
    return Verdict(
        kind="rate",
        met=False,
        summary=f"{summary}; the next one at {until.isoformat()}",
        next_check=until,
        blocked_on=view.program_resource,
    )
