"""`location`: the job of a program that exists in Dagster waits until its run can be created.

It is not in the YAML: it holds for all programs with `job`, is checked before the slots are, and nothing
overrides it.
"""

from tidegate.scheduler.decision.view.job_view import JobView
from tidegate.scheduler.model.obstacle import obstacle_resource
from tidegate.scheduler.model.verdict import Verdict


def check(view: JobView) -> Verdict | None:
    """Return the verdict on a job whose run cannot be created now; None if nothing is in its way."""
    if view.obstacle is None:
        return None
    return Verdict(
        kind="location",
        met=False,
        summary=view.obstacle.text,
        blocked_on=obstacle_resource(f"{view.app.name}/{view.schedule.program}"),
        reason=view.obstacle.reason,
    )
