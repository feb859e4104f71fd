"""Retention: which old rows no decision, no explanation of an open job and no person needs any more.

Each function judges one row with the facts about it. What may go is decided here alone; `scheduler.retention`
reads, deletes and counts. Pure.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import get_args

from tidegate.domain.model.constraint import Constraint
from tidegate.scheduler.model.job import FINISHED, Job, JobState
from tidegate.scheduler.model.journal import EntryKind
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.records.last_launch import LastLaunch
from tidegate.scheduler.model.retention import OldEvent, OldJob, OldRun, OpenInstance
from tidegate.scheduler.model.run import ProgramHistory

RATES = tuple(kind for kind in get_args(Constraint) if "launches_within" in vars(kind))
"""The kinds of constraints that count launches."""

AROUND = timedelta(days=2)
"""A consumer has a scheduled time so near its upstream instances: no container is longer than a day."""

Neighbours = Mapping[str, Collection[str]]
"""The tasks that wait for each task."""


def job_may_go(old: OldJob, before: datetime, promised: Collection[str]) -> bool:
    """Return whether a job other than an instance may go, or an instance as far as its own rows say.

    A dead letter stays until a person has launched it again or discarded it.

    Args:
        before: what ended at this instant or later stays.
        promised: jobs whose publish is not finished.
    """
    job = old.job
    if job.state not in FINISHED or job.reason is Reason.F_LAUNCH:
        return False
    if old.at_work or old.waited_for or job.id in promised:
        return False
    return _last_instant(job) < before


def jobs_seen(jobs: Sequence[Job], last: Iterable[LastLaunch], waiting: Iterable[Job]) -> frozenset[str]:
    """Return those of some jobs that may go otherwise (ids), whose events a repair sees or may see.

    A provisional job stays while its key has no later one: what it lacks may come, or be replayed. The jobs
    that the last one of a key saw stay as long as that one, and those that a waiting repair sees.

    Args:
        last: the last launches of their keys.
        waiting: the waiting repairs of their schedules.
    """
    gone = {job.id for job in jobs}
    kept = {id for job in waiting if job.repairs is not None for id in job.repairs.jobs}
    for each in last:
        if each.awaits_repair or each.job not in gone:
            kept.update(each.jobs)
    return frozenset(kept & gone)


def _last_instant(job: Job) -> datetime:
    """Return the last instant that a finished job is about: of an instance made ahead, its scheduled time."""
    ended = job.ended_at or job.opened_at
    return ended if job.instance is None else max(ended, job.instance.scheduled)


def instance_may_go(
    job: Job, next_real: datetime | None, unfinished: Sequence[OpenInstance], waiting_for: Neighbours
) -> bool:
    """Return whether no unfinished instance may ask for a finished instance, now or after a restart.

    Args:
        next_real: the scheduled time of the next instance of its task, past empty ones; None for the last
            one, which the next one to be made may wait for.
        unfinished: instances that have not ended.
        waiting_for: the tasks that wait for each task.
    """
    instance = job.of_task
    if not instance.empty and next_real is None:
        return False
    for each in unfinished:
        if each.number != instance.number:
            continue
        if instance.number:
            return False  # a lot waits for all lots before it
        if each.task == job.schedule and _is_next(instance.scheduled, each.scheduled, next_real):
            return False
        near = abs(each.scheduled - instance.scheduled) <= AROUND
        if near and (each.task == job.schedule or each.task in waiting_for.get(job.schedule, ())):
            return False
    return True


def _is_next(scheduled: datetime, later: datetime, next_real: datetime | None) -> bool:
    """Return whether the later instance may wait for this one as the one before it."""
    return next_real is not None and scheduled < later <= next_real


def event_may_go(old: OldEvent) -> bool:
    """Return whether an event may go.

    The newest event of each partition stays, with its copies: maintenance asks which partitions a dataset
    has, and `collect_existing` and `tidegate events replay` collect it.
    """
    if old.unrouted or old.has_job:
        return False
    return old.superseded and not old.original_held


def run_may_go(old: OldRun, history: ProgramHistory, before: datetime) -> bool:
    """Return whether a run may go: it and its job are over, and it is not the last run of its program.

    `since_last_run` and `elapsed` count from the last run.
    """
    run = old.run
    if run.active or run.ended_at is None or run.ended_at >= before or old.has_job:
        return False
    if run.ended_at in (history.last_success_ended, history.last_ended):
        return False
    return run.started_at is None or run.started_at != history.last_success_started


def launches_before(
    rates: Iterable[tuple[str, Constraint]], keep: timedelta, clock_error: timedelta, clock: datetime
) -> datetime:
    """Return the instant before which no launch counts: `rate` counts those of its own span.

    Args:
        rates: the constraints of all schedules that count launches, each with its schedule.
        keep: what is kept in any case.
    """
    return clock - max(keep, longest_rate(rate for _, rate in rates) + clock_error)


def longest_rate(constraints: Iterable[Constraint]) -> timedelta:
    """Return the longest span in which any `rate` counts launches; zero without one."""
    spans = (each.launches_within for each in constraints)
    return max((span for span in spans if span is not None), default=timedelta(0))


def entry_may_go(job: Job | None, kind: EntryKind | None = None) -> bool:
    """Return whether an old journal entry may go, by the job that it is about; None: none, or a pruned one.

    The entries of a job that may go on stay as long as it: `why` shows them, and `why --at` begins with them.
    Those of deployments stay: each can be rolled back to.
    """
    if kind is EntryKind.DEPLOY:
        return False
    if job is None:
        return True
    return job.state in (JobState.SUCCEEDED, JobState.DISCARDED) and job.instance is None
