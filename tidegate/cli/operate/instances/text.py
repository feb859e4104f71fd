"""Instances as text: what `instances`, `backfill` and `day` show of them."""

from datetime import datetime

from tidegate.cli.printing import instant
from tidegate.scheduler.decision.instances.actions import status_of
from tidegate.scheduler.explain.instances.facts import reason_text
from tidegate.scheduler.model.instance import Instance
from tidegate.scheduler.model.job import Job

COLUMNS = ("task", "scheduled", "business date", "status", "attempt", "since", "reason", "notes")


def status_text(job: Job) -> str:
    """Return the status of an instance for people."""
    return str(status_of(job)).replace("_", " ")


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
