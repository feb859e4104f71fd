"""`rate`: met while fewer than `max` runs of the program were launched within the last `per`.

External runs count too. The window slides, it is not a clock hour (rule 18): exactly `per`
after a launch that launch no longer counts. A failed launch no longer counts either, and releases
the program's slot; so the release of that slot may help sooner.
"""

from datetime import datetime

from tidegate.domain.model import RateConstraint
from tidegate.scheduler.decision.view.job_view import JobView
from tidegate.scheduler.model.verdict import Verdict


def check(constraint: RateConstraint, view: JobView, now: datetime) -> Verdict:
    counted = [at for at in view.launches if now - constraint.per < at <= now]
    summary = (
        f"{len(counted)} of {constraint.max} launches of {view.schedule.program} within {constraint.per}"
    )
    if len(counted) < constraint.max:
        return Verdict(kind="rate", met=True, summary=summary)
    # Without this launch and the older ones, one fewer than `max` count.
    until = counted[-constraint.max] + constraint.per
    return Verdict(
        kind="rate",
        met=False,
        summary=f"{summary}; the next one at {until.isoformat()}",
        next_check=until,
        blocked_on=view.program_resource,
    )
