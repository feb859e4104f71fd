"""Instances in words: their status, why they wait or have failed, and what is wrong with a dependency. Pure.

`tidegate why`, `tidegate instances show`, the view of a day and the runs in Dagster use the same words for
a dependency without an edge, or with a hole.
"""

from tidegate.domain.tasks.holes import Hole
from tidegate.domain.wording import plural
from tidegate.scheduler.decision.instances.actions import status_of
from tidegate.scheduler.model.instance import Diagnostic, Instance, Status
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


def no_edge_line(diagnostic: Diagnostic) -> str:
    """Return the code, the upstream task, the rule, and how many instances were found or are missing."""
    if diagnostic.hole is not None:
        return _hole_line(diagnostic, diagnostic.hole)
    found = plural(diagnostic.found, "instance")
    return f"{diagnostic.code}: no edge to {diagnostic.task}: {diagnostic.rule}: {found} found, none picked"


def no_edge_help(diagnostic: Diagnostic, job: Job) -> str:
    """Return what the missing edge or the hole means for an instance, and what to do.

    Args:
        job: the instance.
    """
    if diagnostic.hole is not None:
        return (
            f"{job.key} goes on without them: `tidegate backfill start {diagnostic.task}` makes them, for the"
            f" business dates of {_range(diagnostic.hole)}; then `tidegate instances rerun {job.schedule}"
            f" {job.key}`"
        )
    upstream = diagnostic.task
    if diagnostic.found:
        correct = "another `select` or `period` in `depends_on` picks one"
    else:
        correct = f"correct `depends_on`, or check that {upstream} is deployed and has an instance there"
    name = f"{job.schedule} {job.key}" + (f" --backfill {job.of_task.number}" if job.of_task.number else "")
    if status_of(job) in (Status.NOT_RUN, Status.WAITING):
        return f"it does not wait for {upstream}: {correct}; `tidegate instances pause {name}` stops it"
    return f"it does not wait for {upstream}: {correct}; `tidegate instances rerun {name}` resolves it again"


def _hole_line(diagnostic: Diagnostic, hole: Hole) -> str:
    missing = f"{plural(hole.missing, 'scheduled time')} without an instance, {_range(hole)}"
    if hole.after:
        return f"{diagnostic.code}: {diagnostic.task} follows its instance {hole.after}: {missing}"
    return f"{diagnostic.code}: {diagnostic.task} ({diagnostic.rule}) has {missing}"


def _range(hole: Hole) -> str:
    return hole.first if hole.first == hole.last else f"{hole.first} to {hole.last}"
