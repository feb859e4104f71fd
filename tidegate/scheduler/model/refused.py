"""Refused requests: a message and a hint on what to do instead."""

from tidegate.domain.error import UserError
from tidegate.scheduler.model.job import Job


class Refused(UserError):
    """A request of a person that cannot be carried out."""


class UnknownName(Refused):
    """A name that nothing deployed, or nothing in the store, has."""


class AmbiguousName(Refused):
    """A name that several have; it is written with its app."""


class RefusedWithCode(Refused):
    """A refusal that programs recognize.

    Attributes:
        code: stable.
    """

    def __init__(self, code: str, message: str, hint: str = "") -> None:
        super().__init__(f"{code}: {message}", hint)
        self.code = code


class InstanceRefused(RefusedWithCode):
    """A request about instances of tasks: E-TASK, E-TIME, E-RANGE, E-DISABLED or E-STATE (docs/cycles.md)."""


class MaintenanceRefused(RefusedWithCode):
    """A request for maintenance by hand: E-TABLE, E-POLICY or E-ACTIVE (docs/maintenance.md)."""


def refuse_instance(job: Job, instead: str) -> None:
    """Refuse what is for jobs of schedules only.

    Args:
        instead: the command for an instance of a task.

    Raises:
        Refused: the job is an instance.
    """
    if job.instance is not None:
        raise Refused(f"job {job.id} is the instance {job.key} of task {job.schedule}", f"use `{instead}`")


def refuse_operation(job: Job) -> None:
    """Refuse what is for jobs of schedules only.

    Raises:
        Refused: the job is an operation on a table.
    """
    if job.maintenance is not None:
        work = job.maintenance
        raise Refused(
            f"job {job.id} is {work.operation} of table {work.table}, by policy {work.policy}",
            f"`tidegate maintenance run {work.table} --operation {work.operation}` runs it now;"
            " `enabled: false` in its policy ends it; a run is terminated in the Dagster UI",
        )
