"""An instance as builtin values, for every list of instances."""

from datetime import datetime
from typing import Any

from tidegate.scheduler.decision.instances.actions import status_of
from tidegate.scheduler.model.instance import Instance, Status
from tidegate.scheduler.model.job import Job


def reason_text(job: Job) -> str:
    """Return why an instance waits or has failed; "" for any other one."""
    shown = status_of(job) in (Status.NOT_RUN, Status.WAITING, Status.FAILED)
    return str(job.reason) if shown and job.reason is not None else ""


def facts(job: Job, instance: Instance, since: datetime | None) -> dict[str, Any]:
    """Return an instance as builtin values."""
    return {
        "task": job.schedule,
        "scheduled": instance.key,
        "scheduled_at": instance.scheduled,
        "start": instance.start,
        "business_date": instance.business_date,
        "kind": instance.kind,
        "backfill": instance.number or None,
        "lot": instance.lot + 1 if instance.number else None,
        "status": status_of(job),
        "since": since,
        "reason": reason_text(job) or None,
        "attempt": instance.attempt,
        "empty": instance.empty,
        "marked": instance.marked,
        "job": job.id,
        "run": job.run_id,
        "detail": job.detail,
    }
