"""A backfill as builtin values: what it is doing, and how far it is."""

from collections.abc import Sequence
from typing import Any

from tidegate.scheduler.commands.tasks.backfills import Progress
from tidegate.scheduler.decision.instances.actions import status_of
from tidegate.scheduler.model.job import Job


def state_of(progress: Progress) -> str:
    """Return what a backfill is doing, in a word."""
    counts = progress.counts
    if counts["running"]:
        return "cancelled, ends" if progress.backfill.cancelled_at else "running"
    if progress.backfill.cancelled_at is not None:
        return "cancelled"
    if counts["successful"] == progress.total:
        return "done"
    if counts["failed"]:
        return "stopped by a failure"
    return "running"


def counted(jobs: Sequence[Job], by_task: bool) -> dict[str, dict[str, int]]:
    """Return the instances by business day or by task, and each by status; empty runs are left out."""
    found: dict[str, dict[str, int]] = {}
    for job in jobs:
        if job.instance is None or job.instance.empty:
            continue
        part = found.setdefault(job.schedule if by_task else job.instance.business_date[:10], {})
        status = str(status_of(job))
        part[status] = part.get(status, 0) + 1
    return dict(sorted(found.items()))


def backfill_facts(progress: Progress) -> dict[str, Any]:
    """Return a backfill as builtin values."""
    return {
        "backfill": progress.backfill,
        "state": state_of(progress),
        "total": progress.total,
        "counts": progress.counts,
    }
