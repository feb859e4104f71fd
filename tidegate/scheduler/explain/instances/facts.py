"""Instances in words: their status, why they wait or have failed, and what is special about them."""

from tidegate.scheduler.decision.instances.actions import status_of
from tidegate.scheduler.model.instance import Instance, Status
from tidegate.scheduler.model.job import Job


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
