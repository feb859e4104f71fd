"""No edge: a dependency of an instance that has picked no upstream instance, as text for people.

`tidegate why`, `tidegate instances show`, the view of a day and the runs in Dagster use the same words. Pure.
"""

from tidegate.domain.wording import plural
from tidegate.scheduler.decision.instances.actions import status_of
from tidegate.scheduler.model.instance import Diagnostic, Status
from tidegate.scheduler.model.job import Job


def no_edge_line(diagnostic: Diagnostic) -> str:
    """Return the code, the upstream task, the rule, and how many instances were found."""
    found = plural(diagnostic.found, "instance")
    return f"{diagnostic.code}: no edge to {diagnostic.task}: {diagnostic.rule}: {found} found, none picked"


def no_edge_help(diagnostic: Diagnostic, job: Job) -> str:
    """Return what the missing edge means for an instance, and what to do.

    Args:
        job: the instance.
    """
    upstream = diagnostic.task
    if diagnostic.found:
        correct = "another `select` or `period` in `depends_on` picks one"
    else:
        correct = f"correct `depends_on`, or check that {upstream} is deployed and has an instance there"
    name = f"{job.schedule} {job.key}" + (f" --backfill {job.of_task.number}" if job.of_task.number else "")
    if status_of(job) in (Status.NOT_RUN, Status.WAITING):
        return f"it does not wait for {upstream}: {correct}; `tidegate instances pause {name}` stops it"
    return f"it does not wait for {upstream}: {correct}; `tidegate instances rerun {name}` resolves it again"
