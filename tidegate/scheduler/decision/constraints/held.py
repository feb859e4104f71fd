"""`held`: a suspended schedule with `on_suspend: hold` or `backlog` launches nothing until it is resumed.

It is not in the YAML: it follows from the schedule's status, is checked after all constraints, and
only a person who triggers the job by hand overrides it (rule 10).
"""

from tidegate.scheduler.decision.view.job_view import JobView
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.verdict import Verdict


def check(view: JobView) -> Verdict | None:
    """Return the verdict on a held job; None for one that is not held."""
    if not view.held or view.job.by_hand is not None:
        return None
    return Verdict(
        kind="held",
        met=False,
        summary=f"{view.job.schedule} is suspended and holds its jobs; `tidegate schedules resume`"
        " releases them",
        reason=Reason.W_HELD,
        at=view.schedule.at,
    )
