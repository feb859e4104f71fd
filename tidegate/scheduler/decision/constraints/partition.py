"""`partition`: an instance of a backfill and another one never write the same partition at once.

Nor does a job of a schedule and one of a backfill for the same key. It is not in the YAML: it is checked
after all constraints, and nothing overrides it (docs/cycles.md, "Backfill").
"""

from tidegate.scheduler.decision.view.job_view import JobView
from tidegate.scheduler.decision.view.partitions import partitions_awaited
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.run import KEY, keys_of_backfill
from tidegate.scheduler.model.verdict import Verdict


def check(view: JobView) -> Verdict | None:
    """Return the verdict on a job whose partitions or keys are taken; None if they are free."""
    if view.job.instance is None:
        awaited = keys_of_backfill(view.job.schedule, view.keys)
    else:
        awaited = partitions_awaited(view.app, view.schedule, view.job.instance)
    taken = next((resource for resource in awaited if view.slots.get(resource, 0)), None)
    if taken is None:
        return None
    return Verdict(
        kind="partition",
        met=False,
        summary=_summary(view, taken),
        blocked_on=taken,
        reason=Reason.W_PARTITION,
    )


def _summary(view: JobView, taken: str) -> str:
    name = taken.partition(":")[2]
    if view.job.instance is None:
        return f"a job of a backfill runs for {name}"
    return f"another job runs for {name}" if taken.startswith(KEY) else f"another instance writes {name}"
