"""Route: the job that each new event joins or opens.

An event joins the waiting job of its schedule, or of its key with `for_each`; without one, or if
that job is full, it opens a new one (rules 1 and 24). With `batching: date` the key of a job is its business
date, which it may get only from a later fire: a fire joins the job of its date, any other event the oldest
one. An event that a schedule cannot use
becomes a delivery without a job, with the reason (rule 2). Pure: the shell loads the schedules
and their waiting jobs, and writes the result.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime

import msgspec

from tidegate.domain.model import (
    App,
    LeafTrigger,
    PartitionScheme,
    Schedule,
    leaves,
)
from tidegate.domain.partition_key import PartitionKeyError, enclosing_key, not_begun, validate_key
from tidegate.scheduler.decision.fold.after import joined, opened
from tidegate.scheduler.decision.launch.dates import date_of_fire, has_fires
from tidegate.scheduler.decision.repairs import judged_spec, repairs_by
from tidegate.scheduler.decision.triggers import evaluate
from tidegate.scheduler.decision.triggers.collected import collected
from tidegate.scheduler.decision.view.job_view import JobView
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.event import Delivery, Event, EventKind, Subscription
from tidegate.scheduler.model.job import Job, job_id
from tidegate.scheduler.model.journal import Entry, EntryKind
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.records.last_launch import LastLaunch, Repairs

KEY_OF_POOLED_EVENTS = ""


def without_former(schedule: str, key: str, event: Event) -> None:
    """Return that a key has no last launch."""


class Router:
    """Routes events to the open jobs of some schedules, one event after the other.

    Args:
        open_jobs: returns the open jobs of a key of a schedule ("app/name"), the oldest first, as they were
            before this router; without a key, those of all keys.
        whole: schedules of which all open jobs are read first (`joins_any_key`).
        view_with: completes the view of a job with the events that it has collected, those before this router
            and further ones.
        former: returns the last launch of a key of a schedule ("app/name"), and whether its job consumed an
            event of the same partition; None for a key without one.

    Attributes:
        changed: the opened or joined jobs, by id, in the order of their first change.
        delivered: all deliveries, in order.
        opened: the entry of each opened job.
        dated: the date that a fire gave to the job that it joined, by event id.
        repairing: what an event has made the job that it joined a repair of, by event id and job.
    """

    def __init__(
        self,
        open_jobs: Callable[[str, str | None], Iterable[Job]],
        whole: Iterable[str],
        view_with: Callable[[JobView, Sequence[Delivery]], JobView],
        former: Callable[[str, str, Event], tuple[LastLaunch, bool] | None] = without_former,
    ) -> None:
        self._open_jobs = open_jobs
        self._read: set[tuple[str, str | None]] = set()
        self._view_with = view_with
        self._former = former
        # By schedule and key, the oldest first: a carried change may leave several jobs of a key open.
        self._open: dict[str, dict[str, dict[str, Job]]] = {}
        self._added: dict[str, list[Delivery]] = {}
        self._had: dict[str, int] = {}
        self._joining: dict[str, set[str]] = {}
        self._joined: dict[tuple[str, str], tuple[str, str]] = {}
        self.changed: dict[str, Job] = {}
        self.delivered: list[Delivery] = []
        self.opened: list[Entry] = []
        self.dated: dict[str, str] = {}
        self.repairing: dict[tuple[str, str], Repairs] = {}
        for schedule in whole:
            self._read_open(schedule, None)

    def _read_open(self, schedule: str, key: str | None) -> None:
        """Read the open jobs of a key, or of all keys, once."""
        if not self._read.isdisjoint(((schedule, None), (schedule, key))):
            return
        self._read.add((schedule, key))
        for job in self._open_jobs(schedule, key):
            self._open.setdefault(schedule, {}).setdefault(job.key, {})[job.id] = job

    def route(
        self, event: Event, listener: Subscription, state: ScheduleState, app: App, now: datetime
    ) -> None:
        """Deliver one event to one leaf of one schedule.

        Args:
            app: the schedule's app, for the partition schemes of its datasets.
        """
        if listener.former is not None:
            until, leaf = listener.former
            if event.arrived < until:
                former = msgspec.structs.replace(listener, leaf=leaf)
                self._refuse(event, former, _refusal(event, state) or Reason.D_UPDATED, now)
            return
        refusal = _refusal(event, state)
        if refusal is not None:
            self._refuse(event, listener, refusal, now)
            return
        if state.spec.for_each is not None and event.kind is EventKind.FIRE:
            # A job that the fire fills is not among those that wait any more.
            keys = tuple(self._open.get(state.ref, {}))
            for key in keys:
                self._join(event, listener, state, app, key, now)
            if not keys:
                self._refuse(event, listener, Reason.D_NO_KEY, now)
            return
        try:
            key = key_of(event, listener.leaf, state.spec, app)
        except (PartitionKeyError, OverflowError):  # the latter beyond the year 9999
            self._refuse(event, listener, Reason.D_KEY, now)
            return
        held = not state.active and state.spec.on_suspend == "hold"
        if held and self._waiting(key, state, app) is None:
            self._refuse(event, listener, Reason.D_SUSPENDED, now)
            return
        repairs = self._repairs(event, state, app, key)
        if isinstance(repairs, Reason):
            self._refuse(event, listener, repairs, now)
            return
        self._join(event, listener, state, app, key, now, repairs)

    def _repairs(self, event: Event, state: ScheduleState, app: App, key: str) -> Repairs | Reason | None:
        """Return what an event makes its job a repair of, or why it is discarded; None for new data."""
        if state.spec.for_each is None:
            return None
        waiting = self._waiting(key, state, app)
        if waiting is not None and waiting.repairs is not None:
            return None
        former = self._former(state.ref, key, event)
        if former is None:
            return None
        last, consumed = former
        # What has filled a job at one leaf joins it at another one too.
        joins = waiting is not None or self._joined.get((state.ref, key), ("", ""))[0] == event.id
        return repairs_by(event, last, consumed=consumed, waits=joins)

    def _refuse(self, event: Event, listener: Subscription, reason: Reason, now: datetime) -> None:
        self.delivered.append(
            Delivery(event=event, schedule=listener.schedule, leaf=listener.leaf, reason=reason, at=now)
        )

    def _join(
        self,
        event: Event,
        listener: Subscription,
        state: ScheduleState,
        app: App,
        key: str,
        now: datetime,
        repairs: Repairs | None = None,
    ) -> None:
        job = None if event.own_job else self._waiting(key, state, app)
        before, its_job = self._joined.get((state.ref, key), ("", ""))
        if before == event.id:
            # At a second leaf the event joins the same job, even if it filled that job at the first leaf.
            job = self.changed[its_job]
        if job is None:
            entry = Entry(
                at=now,
                kind=EntryKind.JOB_OPENED,
                schedule=state.ref,
                job=job_id(state.ref, key, event.id),
                data={"key": key},
            )
            job = msgspec.structs.replace(opened(entry, state), closed=event.own_job)
            self.opened.append(entry)
        if not job.key and key:
            job = self._with_date(job, key, event)
        if repairs is not None and job.repairs is None:
            self.repairing[event.id, job.id] = repairs
            job = msgspec.structs.replace(job, repairs=repairs)
        # The job is due at once, also if its next check was later.
        job = msgspec.structs.replace(joined(job, event.arrived), next_check_at=now)
        delivery = Delivery(event=event, schedule=state.ref, leaf=listener.leaf, job=job.id, at=now)
        self.delivered.append(delivery)
        self._joined[state.ref, key] = (event.id, job.id)
        self._update_open(job, delivery, state, app, now)

    def _waiting(self, key: str, state: ScheduleState, app: App) -> Job | None:
        """Return the waiting job that an event of a key joins, the oldest of several; None without one."""
        self._read_open(state.ref, key)
        if state.spec.keyed_by_date:
            self._read_open(state.ref, KEY_OF_POOLED_EVENTS)
        jobs = self._open.get(state.ref, {})
        mine = next(iter(jobs.get(key, {}).values()), None)
        if not state.spec.keyed_by_date:
            return mine
        if not key:
            every = (job for each in jobs.values() for job in each.values())
            return min(every, key=lambda job: (job.opened_at, job.id), default=None)
        undated = jobs.get("", {}).values()
        return mine or next((job for job in undated if self._gets_a_date(job, state, app)), None)

    def _gets_a_date(self, job: Job, state: ScheduleState, app: App) -> bool:
        """Return whether a job without a date gets that of its first fire.

        One that has fires without a date has collected them before it had `batching: date`. It writes the
        dates of all of them, and no further one.
        """
        view = JobView(app=app, schedule=judged_spec(state.spec, job), job=job)
        return job.satisfied_at is None and not has_fires(self._view_with(view, ()))

    def _with_date(self, job: Job, date: str, event: Event) -> Job:
        """Return a waiting job with the date of the fire that joins it."""
        undated = self._open[job.schedule]
        undated[""].pop(job.id, None)
        if not undated[""]:
            del undated[""]
        self.dated[event.id] = date
        return msgspec.structs.replace(job, key=date)

    def _update_open(
        self, job: Job, delivery: Delivery, state: ScheduleState, app: App, now: datetime
    ) -> None:
        """Record the changed job, and close it if it is full."""
        if not job.closed and _may_fill(state.spec):
            added = self._added.setdefault(job.id, [])
            added.append(delivery)
            view = JobView(app=app, schedule=judged_spec(state.spec, job), job=job)
            # The trigger is evaluated last: for most events the job is not full anyway.
            closed = is_full(state.spec, self._events(view, delivery)) and (
                job.satisfied_at is not None or _holds(self._view_with(view, added), now)
            )
            job = msgspec.structs.replace(job, closed=closed)
        self.changed[job.id] = job
        keys = self._open.setdefault(state.ref, {})
        if not job.closed:
            keys.setdefault(job.key, {})[job.id] = job
            return
        others = keys.get(job.key, {})
        others.pop(job.id, None)
        if not others:
            keys.pop(job.key, None)

    def _events(self, view: JobView, delivery: Delivery) -> int:
        """Return the number of distinct events of a job, with one that it gets at a leaf."""
        id = view.job.id
        if id not in self._had:
            self._had[id] = self._view_with(view, ()).events
        events = self._joining.setdefault(id, set())
        events.add(delivery.event.id)
        return self._had[id] + len(events)


def _may_fill(schedule: Schedule) -> bool:
    return schedule.batching == "each" or schedule.max_batch is not None


def _holds(view: JobView, now: datetime) -> bool:
    return evaluate(view.schedule.trigger, collected(view), now).met


def is_full(schedule: Schedule, events: int) -> bool:
    """Return whether a satisfied job accepts no further event: `batching: each`, or `max_batch` events.

    A job whose trigger is not satisfied keeps collecting; otherwise it could never be launched.

    Args:
        events: number of distinct events that the job has.
    """
    if schedule.batching == "each" or schedule.max_batch is None:
        return schedule.batching == "each"
    return events >= schedule.max_batch


def _refusal(event: Event, state: ScheduleState) -> Reason | None:
    if event.expired:
        return Reason.D_EXPIRED
    if not state.active and not state.holding:
        return Reason.D_SUSPENDED
    if state.active_since is not None and event.arrived < state.active_since:
        # It became active either with its deployment, or later by a resume.
        return Reason.D_UPDATED if state.active_since == state.deployed_at else Reason.D_SUSPENDED
    return None


def joins_any_key(event: Event, schedule: Schedule) -> bool:
    """Return whether an event may join a job of any key: a fire joins those of all keys of `for_each`.

    With `batching: date` what has no date joins the oldest job.
    """
    if schedule.keyed_by_date:
        return event.scheduled_for is None
    return schedule.for_each is not None and event.kind is EventKind.FIRE


def key_of(event: Event, leaf: str, schedule: Schedule, app: App) -> str:
    """Return the key of an event at a leaf of a schedule: that of `for_each`, or the date of a fire.

    Raises:
        PartitionKeyError: the event's partition key does not fit the dataset's scheme, or is one of a period
            that had not begun when the event arrived.
    """
    partition = event.partition or ""
    scheme = _scheme_of(leaf, schedule, app)
    wrong = None if scheme is None else validate_key(scheme, partition)
    if wrong is not None:
        raise PartitionKeyError(wrong)
    if is_early(event, leaf, schedule, app, event.arrived):
        raise PartitionKeyError(f"the period of {partition} had not begun when it arrived")
    if schedule.keyed_by_date and event.scheduled_for is not None:
        return date_of_fire(app, schedule, event)
    if schedule.for_each is None:
        return KEY_OF_POOLED_EVENTS
    if schedule.for_each == "partition" or scheme is None:
        return partition
    return enclosing_key(scheme, partition, schedule.for_each)


def is_early(event: Event, leaf: str, schedule: Schedule, app: App, now: datetime) -> bool:
    """Return whether an event at a leaf of a schedule is of a period that has not begun."""
    scheme = _scheme_of(leaf, schedule, app)
    return scheme is not None and not_begun(scheme, event.partition or "", now)


def leaf_at(schedule: Schedule, path: str) -> LeafTrigger | None:
    """Return the leaf at a path of a schedule's trigger; None if the path has no leaf."""
    return next((leaf.trigger for leaf in leaves(schedule.trigger) if leaf.path == path), None)


def _scheme_of(path: str, schedule: Schedule, app: App) -> PartitionScheme | None:
    trigger = leaf_at(schedule, path)
    dataset = None if trigger is None else app.datasets.get(trigger.dataset_collected or "")
    return None if dataset is None else dataset.partitions
