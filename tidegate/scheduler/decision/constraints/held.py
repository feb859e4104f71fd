"""`held`: a suspended schedule with `on_suspend: hold` or `backlog` launches nothing until it is resumed.

It stands in no YAML: it follows from the schedule's status, is checked after all constraints,
and is overridden by nothing but a person who triggers the job by hand (rule 10).
"""

from tidegate.scheduler.decision.job_view import JobView
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.verdict import Verdict


def check(view: JobView) -> Verdict | None:
    """The verdict that holds the job back; None for one that is not held."""
    if not view.held or view.job.by_hand is not None:
        return None
    return Verdict(
        kind="held",
        met=False,
        summary=f"{view.job.schedule} is suspended and holds what waits; `tidegate schedules resume`"
        " lets it go",
        reason=Reason.W_HELD,
        at=view.schedule.at,
    )
