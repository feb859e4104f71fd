"""The gate of an instance: it opens when the start time has come and all upstream instances are successful.

It is the trigger of a cycle task: its verdict takes the place of the tree of a trigger. An empty run waits
for its start time only, and a table that is reported from outside for its report: by people, or by the events
that the instance of a source has collected. Pure.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta

import msgspec

from tidegate.domain.model import TaskTrigger
from tidegate.domain.tasks.reported import all_landed, is_reported_by
from tidegate.scheduler.decision.instances.actions import status_of
from tidegate.scheduler.decision.view.job_view import JobView
from tidegate.scheduler.decision.view.upstream import Upstream
from tidegate.scheduler.model.event import Delivery, partition_event_key
from tidegate.scheduler.model.instance import Instance, InstanceKind, instance_resource
from tidegate.scheduler.model.job import Job, JobState
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.verdict import Verdict

BEHIND_AGAIN_AFTER = timedelta(minutes=1)
"""An instance whose upstream task is behind looks again after this time, unless it is woken before."""


def task_of(view: JobView) -> tuple[TaskTrigger | None, Instance]:
    """Return the task, None for a schedule, and the instance of a job view.

    Raises:
        ValueError: the job is not an instance.
    """
    return view.schedule.task, view.job.of_task


def launches(view: JobView) -> bool:
    """Return whether the instance runs its program; others are successful as soon as the gate is open."""
    task, instance = task_of(view)
    return task is None or (task.launches and not instance.empty)


def gate(view: JobView, now: datetime) -> Verdict:
    """Return the verdict on the gate: what is missing, and why the instance waits for it."""
    task, instance = task_of(view)
    if is_landed(view):
        return _landed(view, instance, now)
    parts = [_time(instance, now)]
    reported = task is not None and task.reported
    if reported and not instance.empty and instance.kind is not InstanceKind.BACKFILL:
        parts.append(_report())
    if not instance.empty:
        parts += [part for each in view.upstream for part in _upstream(each, now)]
    unmet = [part for part in parts if not part.met]
    met = not unmet
    return Verdict(
        kind="task",
        met=met,
        summary=f"the instance {instance.key} may run" if met else unmet[0].summary,
        since=max((part.since for part in parts if part.since is not None), default=None) if met else None,
        next_check=None if met else unmet[0].next_check,
        blocked_on=None if met else next((part.blocked_on for part in unmet if part.blocked_on), None),
        needs=None if met else unmet[0].needs,
        reason=None if met else unmet[0].reason,
        at=view.schedule.trigger.at,
        parts=tuple(parts),
    )


def is_landed(view: JobView) -> bool:
    """Return whether the events of an instance report it, at its scheduled time at the latest."""
    task, _ = task_of(view)
    if task is None:
        return False
    dataset = view.app.datasets.get(task.dataset_collected or "")
    scheme = None if dataset is None else dataset.partitions
    if view.job.first_event_at is None or scheme is None or not is_reported_by(task, scheme):
        return False
    key = partition_event_key(view.job.app, task.dataset_collected or "")
    return all_landed(scheme, landed_keys(view.deliveries, key))


def landed_keys(deliveries: Iterable[Delivery], key: str) -> set[str]:
    """Return the partitions of a dataset (by the key of its events) that have come to an instance.

    The source may have had another dataset when it collected the others.
    """
    return {each.event.partition or "" for each in deliveries if each.event.key == key}


def reporting_event(view: JobView, now: datetime) -> str | None:
    """Return the event (id) that reports an instance by now: the last one that it has collected."""
    _, instance = task_of(view)
    if not view.deliveries or instance.scheduled > now or not is_landed(view):
        return None
    return view.deliveries[-1].event.id


def _landed(view: JobView, instance: Instance, now: datetime) -> Verdict:
    scheduled = instance.scheduled
    met, since = now >= scheduled, max(scheduled, view.deliveries[-1].event.arrived)
    return Verdict(
        kind="report",
        met=met,
        summary="its data has landed" + ("" if met else f" and counts at {scheduled.isoformat()}"),
        since=since if met else None,
        next_check=None if met else scheduled,
        reason=None if met else Reason.W_TIME,
        at=view.schedule.as_task.at,
    )


def _time(instance: Instance, now: datetime) -> Verdict:
    start = instance.start
    if now >= start:
        return Verdict(
            kind="time", met=True, summary=f"its start time {start.isoformat()} has come", since=start
        )
    return Verdict(
        kind="time",
        met=False,
        summary=f"its start time is {start.isoformat()}",
        next_check=start,
        reason=Reason.W_TIME,
    )


def _report() -> Verdict:
    return Verdict(
        kind="report",
        met=False,
        summary="it is successful as soon as it is reported from outside",
        needs="`tidegate report`, or its data",
        reason=Reason.W_REPORT,
    )


def _upstream(upstream: Upstream, now: datetime) -> list[Verdict]:
    if upstream.behind:
        return [_behind(upstream, now)]
    return [_of_instance(upstream, job) for job in upstream.picked]


def _behind(upstream: Upstream, now: datetime) -> Verdict:
    return Verdict(
        kind="upstream",
        met=False,
        summary=f"the instances of {upstream.task} ({upstream.rule}) are still being made",
        next_check=max(now + BEHIND_AGAIN_AFTER, upstream.until or now),
        needs=f"the instances of {upstream.task}",
        reason=Reason.W_UPSTREAM,
    )


def _of_instance(upstream: Upstream, job: Job) -> Verdict:
    status = status_of(job).value.replace("_", " ")
    met = job.state is JobState.SUCCEEDED
    return Verdict(
        kind="upstream",
        met=met,
        summary=f"{upstream.task} {job.key} ({upstream.rule}) is {status}",
        since=job.ended_at if met else None,
        needs=None if met else f"success of {upstream.task} {job.key}",
        reason=None if met else Reason.W_UPSTREAM,
        blocked_on=None if met else instance_resource(job.id),
    )


def looking_again(jobs: Iterable[Job], now: datetime) -> list[Job]:
    """Return those jobs that look for upstream instances again, as some have come or gone: due now.

    They are Not Run though their start time has come; others look when it comes.
    """
    return [
        msgspec.structs.replace(job, next_check_at=now)
        for job in jobs
        if job.state is JobState.PENDING_TRIGGER and job.instance is not None and job.instance.start <= now
    ]
