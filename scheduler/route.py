"""Route: which job each new event joins, and which jobs it opens.

An event joins its schedule's waiting job, with `for_each` the waiting job of its key; where
none waits it opens one (DESIGN rule 1). An event that a schedule cannot use is not dropped: it
becomes a delivery without a job, with the reason (rule 2). Pure: the shell loads the schedules
and their waiting jobs, and writes what comes back.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime

import msgspec

from compiler.model import App, PartitionScheme, PartitionsTrigger, Schedule, leaves
from compiler.partition_key import PartitionKeyError, enclosing_key, validate_key
from scheduler.deployed import ScheduleState
from scheduler.event import Delivery, Event, EventKind, Subscription
from scheduler.job import Job, job_id
from scheduler.reason import Reason

KEY_OF_POOLED_EVENTS = ""


class Board:
    """The waiting jobs of some schedules, as events are routed onto them one after the other.

    Attributes:
        changed: jobs that were opened or joined, by id, in the order of their first change.
        deliveries: everything that was delivered, in order.
        opened: ids of the jobs that were opened.
    """

    def __init__(self, waiting: Iterable[Job]) -> None:
        self._by_key: dict[tuple[str, str], Job] = {}
        self._of_schedule: dict[str, list[tuple[str, str]]] = {}
        for job in waiting:
            self._seat(job)
        self.changed: dict[str, Job] = {}
        self.deliveries: list[Delivery] = []
        self.opened: list[str] = []

    def route(
        self, event: Event, listener: Subscription, state: ScheduleState, app: App, now: datetime
    ) -> None:
        """Deliver one event to one leaf of one schedule.

        Args:
            app: the schedule's app, for the partition schemes of its datasets.
        """
        refusal = _refusal(event, state)
        if refusal is not None:
            self._refuse(event, listener, refusal, now)
            return
        if state.spec.for_each is not None and event.kind is EventKind.FIRE:
            keys = [key for _, key in self._of_schedule.get(state.ref, [])]
            for key in keys:
                self._join(event, listener, state, key, now)
            if not keys:
                self._refuse(event, listener, Reason.D_NO_KEY, now)
            return
        try:
            key = key_of(event, listener.leaf, state.spec, app)
        except (PartitionKeyError, OverflowError):  # the latter beyond the year 9999
            self._refuse(event, listener, Reason.D_KEY, now)
            return
        self._join(event, listener, state, key, now)

    def _refuse(self, event: Event, listener: Subscription, reason: Reason, now: datetime) -> None:
        self.deliveries.append(
            Delivery(event=event, schedule=listener.schedule, leaf=listener.leaf, reason=reason, at=now)
        )

    def _join(
        self, event: Event, listener: Subscription, state: ScheduleState, key: str, now: datetime
    ) -> None:
        job = None if event.own_job else self._by_key.get((state.ref, key))
        if job is None:
            job = Job(
                id=job_id(state.ref, key, event.id),
                schedule=state.ref,
                key=key,
                fingerprint=state.fingerprint,
                priority=state.spec.priority,
                opened_at=now,
            )
            self.opened.append(job.id)
        # The decision is due at once; an event may also come for a job that waits for later.
        job = msgspec.structs.replace(
            job,
            first_event_at=event.arrived if job.first_event_at is None else job.first_event_at,
            next_check_at=now,
        )
        self.changed[job.id] = job
        if not event.own_job:
            self._seat(job)
        self.deliveries.append(
            Delivery(event=event, schedule=state.ref, leaf=listener.leaf, job=job.id, at=now)
        )

    def _seat(self, job: Job) -> None:
        seat = (job.schedule, job.key)
        if seat not in self._by_key:
            self._of_schedule.setdefault(job.schedule, []).append(seat)
        self._by_key[seat] = job


def _refusal(event: Event, state: ScheduleState) -> Reason | None:
    if event.expired:
        return Reason.D_EXPIRED
    if not state.active:
        return Reason.D_SUSPENDED
    if state.active_since is not None and event.arrived < state.active_since:
        return Reason.D_SUSPENDED
    return None


def key_of(event: Event, leaf: str, schedule: Schedule, app: App) -> str:
    """The `for_each` key of an event at a leaf of a schedule.

    Raises:
        PartitionKeyError: the event's partition key does not fit the dataset's scheme.
    """
    partition = event.partition or ""
    scheme = _scheme_of(leaf, schedule, app)
    wrong = None if scheme is None else validate_key(scheme, partition)
    if wrong is not None:
        raise PartitionKeyError(wrong)
    if schedule.for_each is None:
        return KEY_OF_POOLED_EVENTS
    if schedule.for_each == "partition" or scheme is None:
        return partition
    return enclosing_key(scheme, partition, schedule.for_each)


def _scheme_of(path: str, schedule: Schedule, app: App) -> PartitionScheme | None:
    triggers: Mapping[str, object] = {leaf.path: leaf.trigger for leaf in leaves(schedule.trigger)}
    trigger = triggers.get(path)
    if not isinstance(trigger, PartitionsTrigger) or trigger.dataset not in app.datasets:
        return None
    return app.datasets[trigger.dataset].partitions
