"""The instances that a list shows: those of a day, of a backfill, or in some statuses."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta

from tidegate.domain.error import UserError
from tidegate.domain.model import TaskTrigger
from tidegate.domain.suggest import did_you_mean
from tidegate.domain.tasks.grid import day_begins
from tidegate.domain.tasks.key import TaskKeyError, local_day, parse_date
from tidegate.domain.value import Value
from tidegate.scheduler.commands.tasks.backfills import backfill_of
from tidegate.scheduler.decision.instances.actions import status_of
from tidegate.scheduler.explain.names import find_app, find_task
from tidegate.scheduler.model.deployed import TASK_KIND, ScheduleState
from tidegate.scheduler.model.instance import Status
from tidegate.scheduler.model.job import Job, JobState
from tidegate.scheduler.model.refused import UnknownName
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.tick.upstream import MICROSECOND

ONE_DAY = timedelta(days=1)

STATUSES = tuple(status for status in Status if status is not Status.ABSENT)


class Listed(Value, kw_only=True):
    """What to list. Without a day, statuses and a backfill it is the running day of each task.

    Attributes:
        any_day: without a day it is every day, also without statuses and a backfill.
    """

    task: str | None = None
    app: str | None = None
    day: str | None = None
    statuses: frozenset[Status] = frozenset()
    backfill: int = 0
    any_day: bool = False


def statuses_of(text: str) -> frozenset[Status]:
    """Return the statuses of a list: "failed,not-run".

    Raises:
        UnknownName: one of them does not exist.
    """
    names = [name.strip().lower().replace("-", "_").replace(" ", "_") for name in text.split(",")]
    known = [str(status) for status in STATUSES]
    wrong = next((name for name in names if name and name not in known), None)
    if wrong is not None:
        raise UnknownName(f'there is no status "{wrong:.100}"', did_you_mean(wrong, known, "statuses"))
    return frozenset(Status(name) for name in names if name)


def listed_instances(reader: EngineReader, wanted: Listed, now: datetime) -> list[Job]:
    """Return the instances to list, by scheduled time, task and id.

    Raises:
        UserError: the task, the app, the day or the backfill does not exist.
    """
    app = find_app(reader, wanted.app)
    return instances_of(reader, chosen_tasks(reader, wanted.task, app), wanted, now)


def instances_of(
    reader: EngineReader, states: Sequence[ScheduleState], wanted: Listed, now: datetime
) -> list[Job]:
    """Return the instances of some tasks, by scheduled time, task and id.

    Args:
        wanted: its task and its app do not count.

    Raises:
        UserError: the day or the backfill does not exist.
    """
    refs = {state.ref for state in states}
    if wanted.backfill:
        backfill_of(reader, wanted.backfill)
        jobs = [job for job in reader.backfill(wanted.backfill) if job.schedule in refs]
        jobs = [job for job in jobs if wanted.day is None or _is_on(job, states, day_of(wanted.day))]
    elif wanted.day is None and (wanted.statuses or wanted.any_day):
        statuses = wanted.statuses or frozenset(STATUSES)
        of_status = [state for state in JobState if _status(state) in statuses]
        jobs = list(reader.jobs(schedules=refs, states=of_status)) if refs else []
    else:
        jobs = instances_of_day(reader, states, None if wanted.day is None else day_of(wanted.day), now)
    kept = [job for job in jobs if not wanted.statuses or status_of(job) in wanted.statuses]
    return sorted((job for job in kept if job.instance is not None), key=_order)


def chosen_tasks(reader: EngineReader, task: str | None, app: str | None) -> list[ScheduleState]:
    """Return one task, or all tasks of an app or of the store, by ref."""
    if task is not None:
        return [find_task(reader, task)]
    return list(reader.schedules(app=app, kind=TASK_KIND))


def instances_of_day(
    reader: EngineReader, states: Sequence[ScheduleState], day: date | None, now: datetime
) -> list[Job]:
    """Return the instances with a scheduled time on a local day of each task; None for the running one.

    Those of backfills are left out. One query for each zone.
    """
    zones: dict[str, list[tuple[str, TaskTrigger]]] = defaultdict(list)
    for state in states:
        task = state.spec.as_task
        zones[task.timezone].append((state.ref, task))
    found: list[Job] = []
    for tasks in zones.values():
        task = tasks[0][1]
        on = day or local_day(task, now)
        first, last = day_begins(task, on), day_begins(task, on + ONE_DAY) - MICROSECOND
        found += reader.instances([ref for ref, _ in tasks], first, last)
    return found


def day_of(text: str) -> date:
    """Return the day of an option.

    Raises:
        UserError: the text is not a date.
    """
    try:
        return parse_date(text)
    except TaskKeyError as error:
        raise UserError(str(error), "write for example 2026-03-10") from error


def _is_on(job: Job, states: Sequence[ScheduleState], day: date) -> bool:
    task = next((state.spec.task for state in states if state.ref == job.schedule), None)
    return task is not None and job.instance is not None and local_day(task, job.instance.scheduled) == day


def _status(state: JobState) -> Status:
    return status_of(Job(id="", schedule="", state=state, opened_at=datetime.min.replace(tzinfo=UTC)))


def _order(job: Job) -> tuple[datetime, str, str]:
    return (job.opened_at if job.instance is None else job.instance.scheduled, job.schedule, job.id)
