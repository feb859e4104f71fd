"""Instances as text and as JSON: what `instances`, `backfill` and `day` show of them."""

from datetime import datetime
from typing import Any

from tidegate.cli.printing import instant
from tidegate.scheduler.decision.instances.actions import status_of
from tidegate.scheduler.model.instance import Instance, Status
from tidegate.scheduler.model.job import Job

COLUMNS = ("task", "scheduled", "business date", "status", "attempt", "since", "reason", "notes")


def status_text(job: Job) -> str:
    """Return the status of an instance for people."""
    return str(status_of(job)).replace("_", " ")


def reason_text(job: Job) -> str:
    """Return why an instance waits or has failed; "" for any other one."""
    shown = status_of(job) in (Status.NOT_RUN, Status.WAITING, Status.FAILED)
    return str(job.reason) if shown and job.reason is not None else ""


def notes(instance: Instance) -> list[str]:
    """Return what is special about an instance."""
    found = [name for name in ("empty", "marked") if getattr(instance, name)]
    found += sorted({each.code for each in instance.diagnostics})
    if instance.number:
        return [*found, f"backfill {instance.number}, lot {instance.lot + 1}"]
    return found if instance.kind == "periodic" else [*found, str(instance.kind)]


def row(job: Job, instance: Instance, since: datetime | None) -> list[str]:
    """Return an instance as a row of `COLUMNS`."""
    return [
        job.schedule,
        instance.key,
        instance.business_date,
        status_text(job),
        str(instance.attempt or ""),
        instant(since),
        reason_text(job),
        ", ".join(notes(instance)),
    ]


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
