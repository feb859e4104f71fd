"""Instances of tasks as all faces show them, and the list of them."""

from datetime import date, datetime
from enum import StrEnum

from tidegate.domain.model import TaskTrigger
from tidegate.domain.part_name import app_of
from tidegate.domain.tasks.key import local_day
from tidegate.listings.instances import RUNNING_DAY, TaskInstance
from tidegate.listings.read import Asked
from tidegate.scheduler.commands.backfills.request import backfill_of
from tidegate.scheduler.decision.instances.actions import status_in, status_of
from tidegate.scheduler.explain.instances.awaited import status_since
from tidegate.scheduler.explain.instances.day_matrix import spans_of_day
from tidegate.scheduler.explain.instances.facts import notes, reason_text
from tidegate.scheduler.model.deployed import TASK_KIND
from tidegate.scheduler.model.instance import Status
from tidegate.scheduler.model.job import Job, JobState
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.wanted import InstancesWanted


class Listed(StrEnum):
    """The statuses of instances that were made."""

    NOT_RUN = Status.NOT_RUN
    WAITING = Status.WAITING
    RUNNING = Status.RUNNING
    SUCCESSFUL = Status.SUCCESSFUL
    FAILED = Status.FAILED
    PAUSED = Status.PAUSED


def public_instance(job: Job, since: datetime | None) -> TaskInstance:
    """Return what of an instance all faces show.

    Args:
        since: when it got its status.
    """
    instance = job.of_task
    return TaskInstance(
        task=job.schedule,
        scheduled=instance.key,
        scheduled_at=instance.scheduled,
        start=instance.start,
        business_date=instance.business_date,
        kind=instance.kind,
        backfill=instance.number or None,
        lot=instance.lot + 1 if instance.number else None,
        status=status_of(job),
        since=since,
        reason=reason_text(job) or None,
        attempt=instance.attempt,
        empty=instance.empty,
        marked=instance.marked,
        notes=tuple(notes(instance)),
        job=job.id,
        run=job.run_id,
        detail=job.detail,
    )


def shown_now(reader: EngineReader, job: Job) -> TaskInstance:
    """Return an instance as it is."""
    return public_instance(job, status_since(reader, job))


def list_instances(asked: Asked) -> list[TaskInstance]:
    """Return the instances that match: those of the page, or of a day of a backfill all.

    Raises:
        InstanceRefused: there is no backfill of that number.
    """
    reader, wanted = asked.reader, asked.wanted
    number, day = wanted.get("backfill"), wanted.get("day")
    if number:
        backfill_of(reader, number)
        if day is not None:
            return _on_day_of_backfill(asked, number, day)
        refs = [ref for ref in reader.schedule_refs() if _is_wanted(asked, ref)]
        return _page(asked, InstancesWanted(schedules=refs, backfill=number))
    tasks = {
        state.ref: state.spec.as_task
        for state in reader.schedules(refs=_refs(asked), kind=TASK_KIND)
        if asked.sees(state.app)
    }
    if day is None:
        return _page(asked, InstancesWanted(schedules=tuple(tasks)))
    spans = spans_of_day(tasks, None if day is RUNNING_DAY else day, asked.source.now)
    return [
        found
        for refs, first, last in spans
        for found in _page(asked, InstancesWanted(schedules=refs, of_none=True, first=first, last=last))
    ]


def _refs(asked: Asked) -> list[str] | None:
    return [asked.wanted["task"]] if "task" in asked.wanted else None


def _is_wanted(asked: Asked, ref: str) -> bool:
    return asked.sees(app_of(ref)) and ref == asked.wanted.get("task", ref)


def _page(asked: Asked, wanted: InstancesWanted) -> list[TaskInstance]:
    """Return the instances of a page that match, in no order."""
    statuses, empty = asked.wanted.get("status", tuple(Listed)), asked.wanted.get("empty")
    place = None if asked.after is None else (asked.after[0], asked.after[1])
    narrowed: InstancesWanted = {**wanted, "empty": empty is True, "real": empty is False}
    if asked.falling:
        narrowed["before"], narrowed["newest"] = place, asked.limit
    else:
        narrowed["after"], narrowed["oldest"] = place, asked.limit
    of_status = [state for state in JobState if status_in(state) in statuses]
    return [shown_now(asked.reader, job) for job in asked.reader.instances_page(of_status, **narrowed)]


def _on_day_of_backfill(asked: Asked, number: int, day: date) -> list[TaskInstance]:
    """Return the instances of a backfill on a day that match, of tasks and of schedules."""
    jobs = [job for job in asked.reader.instances(backfill=number) if _is_wanted(asked, job.schedule)]
    states = {state.ref: state for state in asked.reader.schedules(refs={job.schedule for job in jobs})}
    statuses, empty = asked.wanted.get("status", tuple(Listed)), asked.wanted.get("empty")
    return [
        shown_now(asked.reader, job)
        for job in jobs
        if job.schedule in states and _is_on(job, states[job.schedule].spec.task, day)
        if status_of(job) in statuses and empty in (None, job.of_task.empty)
    ]


def _is_on(job: Job, task: TaskTrigger | None, day: date) -> bool:
    """Return whether an instance is on a day: by its scheduled time, or by the date of its key."""
    if task is None:
        return job.of_task.date == day.isoformat()
    return local_day(task, job.of_task.scheduled) == day
