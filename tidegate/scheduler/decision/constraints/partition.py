"""`partition`: an instance of a backfill and another one never write the same partition at once.

It is not in the YAML: it holds for all instances of tasks, is checked after all constraints, and nothing
overrides it (docs/cycles.md, "Backfill").
"""

from tidegate.scheduler.decision.view.job_view import JobView
from tidegate.scheduler.decision.view.partitions import partitions_awaited
from tidegate.scheduler.model.instance import Instance
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.verdict import Verdict


def check(view: JobView, instance: Instance) -> Verdict | None:
    """Return the verdict on an instance whose partitions are taken; None if they are free."""
    awaited = partitions_awaited(view.app, view.schedule, instance)
    taken = next((resource for resource in awaited if view.slots.get(resource, 0)), None)
    if taken is None:
        return None
    return Verdict(
        kind="partition",
        met=False,
        summary=f"another instance writes {taken.partition(':')[2]}",
        blocked_on=taken,
        reason=Reason.W_PARTITION,
    )
