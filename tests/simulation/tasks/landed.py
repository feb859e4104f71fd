"""Landed: data reports the instances of sources, as docs/cycles.md, "Reports from data", has it.

Data comes late, twice, for a period that has not begun, with a key that nothing has, and from before a change
of the task. The mapping of keys to instances is written once more; it shares with the engine only the grid of
a task and the periods of keys.
"""

import random
from collections.abc import Iterator, Sequence
from datetime import date, datetime, timedelta

from tests.simulation.tasks.deeds import Deeds
from tests.simulation.tasks.existing import MICROSECOND, ONE_DAY
from tests.simulation.tasks.live import of
from tidegate.domain.model import Dataset, TaskTrigger, TimeDimension
from tidegate.domain.partition_key import PartitionKeyError, format_time_key, parse_time_key
from tidegate.domain.tasks.grid import Slot, day_begins, slot_at, slots_of_day
from tidegate.domain.time.cycle import Period
from tidegate.domain.time.natural_time import period_around
from tidegate.domain.time.wall_clock import wall_time
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.event import Event, EventKind, partition_event_key
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.store.engine_reader import EngineReader

DATASETS = """
  hours: {partitions: {cycle: hour, start: 2020-01-01-00:00}}
  weeks: {partitions: {cycle: week, start: 2020-01-05}}
  months: {partitions: {cycle: month, start: 2020-01-01}}
  shops: {partitions: {day: {cycle: day, start: 2020-01-01}, shop: [east, west]}}
"""
SHOPS = ("east", "west")
OF_CYCLE = {
    "hour": ("hours",),
    "day": ("landed", "landed", "shops"),
    "week": ("weeks",),
    "month": ("months",),
}
"""The datasets of sources, by the cycle of both."""

CYCLES = {name: cycle for cycle, names in OF_CYCLE.items() for name in names}

NO_KEYS = ("2026-13-01", "tomorrow", "2026-03-08|north")
"""Not keys of any of them."""

MINUTE = timedelta(minutes=1)


def drawn_key(dice: random.Random, dataset: Dataset, now: datetime) -> str:
    """The key of a period of the last days, or of one that is still to begin."""
    if dice.random() < 0.05:
        return dice.choice(NO_KEYS)
    time = _time(dataset)
    days = 3 if time.cycle in ("hour", "day") else 40
    key = format_time_key(now - dice.randrange(-120, days * 24 * 60) * MINUTE, time)
    return f"{key}|{dice.choice(SHOPS)}" if dataset.name == "shops" else key


def slots_of(task: TaskTrigger, dataset: Dataset, key: str) -> list[Slot]:
    """The instances that a key reports: those whose business date it is, or lies in it."""
    time = _time(dataset)
    period = parse_time_key(key.partition("|")[0], time)
    if time.cycle == "hour":
        return [
            slot_at(task, period_around(hour, "hour", task.timezone).end) for hour in _hours(task, period)
        ]
    first = date.fromisoformat(key[:10])
    if time.cycle == "day":
        return [slot_at(task, day_begins(task, first + ONE_DAY))]
    last = wall_time(period.end - MICROSECOND, time.timezone).date()
    days = [first + (number + 1) * ONE_DAY for number in range((last - first).days + 1)]
    return [slot for day in days for slot in slots_of_day(task, day) if not slot.empty]


def _hours(task: TaskTrigger, period: Period) -> Iterator[datetime]:
    """The natural hours of the task's zone that begin in a period."""
    at = period.start
    while at < period.end:
        if period_around(at, "hour", task.timezone).start == at:
            yield at
        at += MINUTE


def is_whole(dataset: str, keys: Sequence[str]) -> bool:
    """Whether the data of an instance is complete: of a dataset with shops that of each of them."""
    shops = {key.partition("|")[2] for key in keys}
    return bool(keys) and (dataset != "shops" or shops.issuperset(SHOPS))


def collected(task: TaskTrigger | None) -> str | None:
    """The dataset whose events report the instances of a task."""
    if task is None or (task.type, task.update) != ("source", "outside"):
        return None
    return task.dataset if CYCLES.get(task.dataset or "") == task.cycle else None


def _time(dataset: Dataset) -> TimeDimension:
    assert dataset.partitions is not None
    assert dataset.partitions.time is not None
    return dataset.partitions.time


class Landings(Deeds):
    """Hands that know what becomes of data."""

    def land(self, app: str, dataset: Dataset, keys: Sequence[str], arrived: datetime) -> None:
        """Data lands, and is read now; it may have arrived earlier."""
        self.catch_up()
        events = [
            Event(
                id=self.number("landed"),
                kind=EventKind.PARTITION,
                key=partition_event_key(app, dataset.name),
                time=arrived,
                arrived=arrived,
                partition=key,
            )
            for key in keys
        ]
        self.add(events)
        self.tick()
        with self.store.reading() as reader:
            states = [state for state in reader.schedules() if state.app == app]
            rows = reader.deliveries_of_events([event.id for event in events])
            jobs = {job.id: job for job in reader.jobs(ids={row.job for row in rows if row.job})}
        found = {
            (row.event.id, row.schedule, of(jobs[row.job]).key if row.job else str(row.reason))
            for row in rows
        }
        expected = {
            (event.id, state.ref, name)
            for event in events
            for state in states
            if collected(state.spec.task) == dataset.name
            for name in self._landed(state, dataset, event)
        }
        assert found == expected, (
            f"{sorted(found - expected)[:3]} should not be, {sorted(expected - found)[:3]} should: {keys}"
        )

    def _landed(self, state: ScheduleState, dataset: Dataset, event: Event) -> list[str]:
        """The names of the instances that an event reports, or why it reports none."""
        task, key = state.spec.as_task, event.partition or ""
        if not task.enabled:
            return ["D-DELETED"]
        if state.active_since is not None and event.arrived < state.active_since:
            return ["D-UPDATED"]
        try:
            begins = parse_time_key(key.partition("|")[0], _time(dataset)).start
        except PartitionKeyError:
            return ["D-KEY"]
        shop = key.partition("|")[2]
        if (
            begins > event.arrived
            or (shop in SHOPS) != (dataset.name == "shops")
            or (shop and shop not in SHOPS)
        ):
            return ["D-KEY"]
        return self.existing.landed(state.ref, slots_of(task, dataset, key))

    def settled(self) -> None:
        """What has all its data, and whose time has come, is reported."""
        with self.store.reading() as reader:
            for job, keys, dataset in landed_jobs(reader):
                if str(job.state) == "PENDING_TRIGGER" and job.first_event_at is not None:
                    waits = of(job).scheduled > self.now or not is_whole(dataset, keys)
                    assert waits, f"{job.schedule} {of(job).key} has all its data, and is not reported"
                if is_whole(dataset, keys) and of(job).scheduled <= self.now:
                    self.existing.is_real(job.schedule, of(job).key)
        super().settled()


def landed_jobs(reader: EngineReader) -> Iterator[tuple[Job, list[str], str]]:
    """The instances of sources to which data has come, with its keys."""
    for state in reader.schedules():
        dataset = collected(state.spec.task)
        if dataset is None:
            continue
        jobs = [job for job in reader.jobs(schedules=[state.ref]) if str(job.state) != "DISCARDED"]
        deliveries = reader.deliveries([job.id for job in jobs])
        for job in jobs:
            key = partition_event_key(state.app, dataset)
            keys = [each.event.partition or "" for each in deliveries[job.id] if each.event.key == key]
            if keys:
                yield job, keys, dataset
