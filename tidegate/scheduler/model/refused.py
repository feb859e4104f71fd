"""Refused requests: a message and a hint on what to do instead.

The codes of refusals: what a program that calls the command line or the server can tell apart. Each has a
meaning, a cause and a remedy; docs/reasons.md is rendered from them. A code never changes its meaning.
"""

from tidegate.domain.error import UserError
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.reason import CodeText

REFUSALS: dict[str, CodeText] = {
    "E-ACTIVE": CodeText(
        meaning="something is active that must end first",
        cause="an operation runs on the table, or pipelines write every partition of it",
        remedy="wait for its end, or terminate its run; the message names the jobs",
    ),
    "E-APP": CodeText(
        meaning="unknown app",
        cause="a report names an app that this project has not deployed",
        remedy="correct the name, or `tidegate deploy`",
    ),
    "E-DATASET": CodeText(
        meaning="unknown dataset",
        cause="a report names a dataset that the app does not have",
        remedy="correct the name; the hint has the closest one",
    ),
    "E-DISABLED": CodeText(
        meaning="the task is disabled",
        cause="the task has `enabled: false`",
        remedy="enable it in its YAML, and deploy",
    ),
    "E-HOLE": CodeText(
        meaning="instances were never made",
        cause="scheduled times have no instance where a dependency picks: the scheduler was away for longer"
        " than `catch_up_at_most`, or they are before `valid_from` or the deployment. They do not gate",
        remedy="make them with `tidegate backfill start`, and rerun the instance; or raise"
        " `catch_up_at_most`",
    ),
    "E-KEY": CodeText(
        meaning="not a key of the dataset",
        cause="a report has a partition key that the dataset cannot have or that has not begun, or lacks one",
        remedy="write the key as the message shows, or correct `partitions` of the dataset",
    ),
    "E-NO-EDGE": CodeText(
        meaning="no upstream instance",
        cause="a dependency has found no upstream instance, or several where exactly one is asked for",
        remedy="`tidegate why` shows what was found;"
        " choose another time or `period` ([cycles.md](cycles.md))",
    ),
    "E-POLICY": CodeText(
        meaning="no policy for the operation",
        cause="no enabled policy matches the table; or the named one does not exist, is disabled, does not"
        " match, or does not have the operation",
        remedy="`tidegate maintenance explain TABLE` shows the policies of a table",
    ),
    "E-RANGE": CodeText(
        meaning="bad range of times",
        cause="the range ends before it begins, is not over yet, is empty, or has too many instances",
        remedy="exchange the ends, or split the range",
    ),
    "E-STATE": CodeText(
        meaning="the status does not allow it",
        cause="the instance or the backfill has a status from which the action is not possible; or a commit"
        " is not withheld any more, or its rows are no longer what its checks have judged",
        remedy="the message names the statuses that allow it; `tidegate instances show` has the present one."
        " A withheld commit that cannot be released is abandoned, and its job is run again",
    ),
    "E-TABLE": CodeText(
        meaning="unknown table",
        cause="no table of this name is known: it is not a dataset, and no run has listed it",
        remedy="`tidegate maintenance tables` shows those that are",
    ),
    "E-TASK": CodeText(
        meaning="unknown task",
        cause="the task, its app or the backfill does not exist, or the task launches a program where one"
        " that is reported from outside is asked for",
        remedy="`tidegate tasks list` and `tidegate backfill status` show what exists",
    ),
    "E-TIME": CodeText(
        meaning="not a time of the task",
        cause="a scheduled time or a business date is malformed, still to come, out of range, or has no"
        " instance",
        remedy="write times as `2026-03-10-10:00` and dates as `2026-03-09`;"
        " `tidegate instances list` shows them",
    ),
}


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
