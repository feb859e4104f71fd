"""The given actions on tasks, carried out by the same functions that the commands use."""

from datetime import datetime
from typing import assert_never

from tidegate.compiler.scenarios.model.tasks import (
    ActOnInstance,
    CancelBackfill,
    InstanceDo,
    ReportInstances,
    ResumeBackfill,
    StartBackfill,
)
from tidegate.domain.part_name import whole_name
from tidegate.scheduler.commands.backfills.cancel import cancel_backfill, resume_backfill
from tidegate.scheduler.commands.backfills.request import Wanted, newest_backfills
from tidegate.scheduler.commands.backfills.start import start_backfill
from tidegate.scheduler.commands.tasks.instances import InstanceName, act
from tidegate.scheduler.commands.tasks.reports import Times, report
from tidegate.scheduler.decision.instances.actions import Action
from tidegate.scheduler.model.journal import By
from tidegate.scheduler.model.refused import InstanceRefused
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.protocol import EngineTransaction

TaskAction = ActOnInstance | ReportInstances | StartBackfill | CancelBackfill | ResumeBackfill

BY = By(actor="example")
"""The actor of what an example does."""

_DOES: dict[InstanceDo, Action] = {
    "mark_successful": Action.MARK_SUCCESSFUL,
    "pause": Action.PAUSE,
    "resume": Action.RESUME,
    "rerun": Action.RERUN,
    "rerun_downstream": Action.RERUN,
}


def act_on_tasks(transaction: EngineTransaction, app: str, action: TaskAction, now: datetime) -> None:
    """Carry out an action on the tasks of an app.

    Raises:
        InstanceRefused: the action is refused.
    """
    match action:
        case ActOnInstance(task=task, do=do):
            ref, downstream = whole_name(app, task), do == "rerun_downstream"
            act(transaction, ref, _name(action), _DOES[do], now, BY, downstream=downstream)
        case ReportInstances(task=task, status=status, request=request):
            times = Times(scheduled=action.scheduled, from_=action.from_, to=action.to)
            report(transaction, whole_name(app, task), times, status, now, BY, request)
        case StartBackfill():
            wanted = Wanted(
                app=app,
                task=action.task,
                from_=action.from_,
                to=action.to,
                keys=action.keys,
                which=action.which,
                lot=action.lot,
                upstream=action.upstream,
                only=action.only,
                priority=action.priority,
                quiet_downstream=action.quiet_downstream,
            )
            start_backfill(transaction, wanted, now, BY)
        case CancelBackfill(task=task, number=number):
            cancel_backfill(transaction, number or _newest(transaction, app, task), now, BY)
        case ResumeBackfill(task=task, number=number):
            resume_backfill(transaction, number or _newest(transaction, app, task), now, BY)
        case _:
            assert_never(action)


def number_of(scheduled: str | None, number: int | None) -> int:
    """Return the number of the backfill that a name means; one by business date means the first."""
    if number is not None:
        return number
    return 0 if scheduled is not None else 1


def _name(action: ActOnInstance) -> InstanceName:
    return InstanceName(
        scheduled=action.scheduled,
        business_date=action.business_date,
        number=number_of(action.scheduled, action.number),
    )


def _newest(reader: EngineReader, app: str, task: str | None) -> int:
    """Return the number of the newest backfill of a task, or of the app."""
    for each in newest_backfills(reader):
        if each.app == app and each.task == task:
            return each.number
    raise InstanceRefused("E-TASK", f"there is no backfill of {task or app}")
