"""Instances of tasks as all faces show them, and the list of them."""

from collections.abc import Iterable
from datetime import date, datetime
from enum import StrEnum

from tidegate.domain.model import TaskTrigger
from tidegate.domain.tasks.key import local_day
from tidegate.listings.instances import RUNNING_DAY, TaskInstance
from tidegate.listings.read import Asked
from tidegate.scheduler.commands.backfills.request import backfill_of
from tidegate.scheduler.decision.instances.actions import status_in, status_of
from tidegate.scheduler.explain.instances.awaited import status_since
from tidegate.scheduler.explain.instances.day_matrix import instances_of_day
from tidegate.scheduler.explain.instances.facts import notes, reason_text
from tidegate.scheduler.model.deployed import TASK_KIND
from tidegate.scheduler.model.instance import Status
from tidegate.scheduler.model.job import Job, JobState
from tidegate.scheduler.store.engine_reader import EngineReader


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
    """Return the instances that match.

    Raises:
        InstanceRefused: there is no backfill of that number.
    """
    reader, wanted = asked.reader, asked.wanted
    day, statuses, number = wanted.get("day"), wanted.get("status", tuple(Listed)), wanted.get("backfill")
    refs = [wanted["task"]] if "task" in wanted else None
    if number:
        return _of_backfill(asked, number, refs)
    states = reader.schedules(refs=refs, kind=TASK_KIND)
    tasks = {state.ref: state.spec.as_task for state in states if asked.sees(state.app)}
    if day is not None:
        now = asked.source.now
        jobs = instances_of_day(reader, tasks, None if day is RUNNING_DAY else day, now)
    else:
        of_status = [state for state in JobState if status_in(state) in statuses]
        jobs = list(reader.jobs(schedules=tasks, states=of_status)) if tasks else []
    return _shown(asked, jobs)


def _of_backfill(asked: Asked, number: int, refs: list[str] | None) -> list[TaskInstance]:
    """Return the instances of a backfill that match, of tasks and of schedules."""
    reader, day = asked.reader, asked.wanted.get("day")
    backfill_of(reader, number)
    jobs = reader.instances(backfill=number)
    states = {state.ref: state for state in reader.schedules(refs={job.schedule for job in jobs})}
    found = [
        job
        for job in jobs
        if job.schedule in states and asked.sees(job.app) and (refs is None or job.schedule in refs)
    ]
    if day is not None:
        found = [job for job in found if _is_on(job, states[job.schedule].spec.task, day)]
    return _shown(asked, found)


def _is_on(job: Job, task: TaskTrigger | None, day: date) -> bool:
    """Return whether an instance is on a day: by its scheduled time, or by the date of its key."""
    if task is None:
        return job.of_task.date == day.isoformat()
    return local_day(task, job.of_task.scheduled) == day


def _shown(asked: Asked, jobs: Iterable[Job]) -> list[TaskInstance]:
    wanted = asked.wanted
    statuses = wanted.get("status", tuple(Listed))
    return [
        shown_now(asked.reader, job)
        for job in jobs
        if job.instance is not None
        and status_of(job) in statuses
        and wanted.get("empty", job.instance.empty) == job.instance.empty
    ]
