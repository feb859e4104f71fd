"""All instances at one time, and their upstream instances by the table of docs/cycles.md, computed once more.

It shares with the engine only the grid of a task and the arithmetic of natural hours and days, which have
tests of their own.
"""

from bisect import bisect_left, bisect_right, insort
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Literal
from zoneinfo import ZoneInfo

import msgspec

from tidegate.domain.model import Dependency, Schedule, TaskTrigger
from tidegate.domain.tasks.grid import generation_time, natural_container, slots_of_day
from tidegate.domain.tasks.key import local_day, scheduled_key
from tidegate.scheduler.model.instance import Instance
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.store.engine_reader import EngineReader

Unit = Literal["hour", "day"]
HOUR: Unit = "hour"
DAY: Unit = "day"
CELLS: dict[str, dict[str, tuple[Unit, str]]] = {
    "minute": {"minute": (HOUR, "nearest"), "hour": (HOUR, "exactly_one"), "day": (DAY, "exactly_one")},
    "hour": {"minute": (HOUR, "last"), "hour": (DAY, "nearest"), "day": (DAY, "exactly_one")},
    "day": {"minute": (DAY, "last"), "hour": (DAY, "last"), "day": (DAY, "exactly_one")},
}
"""The nine cells of docs/cycles.md, written once more."""

ONE_DAY = timedelta(days=1)

Identity = tuple[str, int, str]
"""A task ("app/name"), the number of the backfill, and the scheduled time by its name."""


def of(job: Job) -> Instance:
    """What makes a job an instance."""
    assert job.instance is not None
    return job.instance


def identity(job: Job) -> Identity:
    """What names an instance that was not discarded."""
    return job.schedule, of(job).number, of(job).key


def size(task: TaskTrigger) -> str:
    """The row or column of a task in the table of cells."""
    return task.cycle if task.cycle in ("minute", "hour") else "day"


def named(job: Job, dependency: Dependency) -> str:
    """The upstream task of a dependency, "app/name"."""
    return dependency.task if "/" in dependency.task else f"{job.app}/{dependency.task}"


class Live:
    """All instances, and the tasks as they are deployed.

    Attributes:
        jobs: every instance by id, discarded ones too.
        specs: the deployed tasks, by ref.
        members: the tasks of each backfill.
    """

    def __init__(self, specs: Mapping[str, Schedule], members: Mapping[int, frozenset[str]]) -> None:
        self.specs = dict(specs)
        self.members = members
        self.jobs: dict[str, Job] = {}
        self._of_task: dict[tuple[str, int], list[tuple[datetime, str]]] = defaultdict(list)

    @classmethod
    def of_store(cls, reader: EngineReader) -> "Live":
        """All instances as the tables have them."""
        jobs = [job for job in reader.jobs() if job.instance is not None]
        specs = {state.ref: state.spec for state in reader.schedules() if state.spec.task is not None}
        live = cls(specs, members_of(reader))
        for job in sorted(jobs, key=lambda each: (of(each).scheduled, each.id)):
            live.jobs[job.id] = job
            if str(job.state) != "DISCARDED":
                live._of_task[job.schedule, of(job).number].append((of(job).scheduled, job.id))
        return live

    def put(self, job: Job) -> None:
        """Take an instance in as it is now."""
        known = self.jobs.get(job.id)
        exists, existed = (each is not None and str(each.state) != "DISCARDED" for each in (job, known))
        self.jobs[job.id] = job
        place = self._of_task[job.schedule, of(job).number]
        if known is not None and existed:
            # A task that was changed may have the same name at another instant.
            place.remove((of(known).scheduled, job.id))
        if exists:
            insort(place, (of(job).scheduled, job.id))

    def task(self, ref: str) -> TaskTrigger | None:
        """A task as it is deployed."""
        spec = self.specs.get(ref)
        return None if spec is None else spec.task

    def existing(self) -> Iterator[Job]:
        """Every instance that was not discarded."""
        return (self.jobs[id] for found in self._of_task.values() for _, id in found)

    def of_task(self, ref: str) -> Iterator[Job]:
        """The instances of a task that were not discarded."""
        return (self.jobs[id] for (each, _), found in self._of_task.items() if each == ref for _, id in found)

    def of_backfill(self, number: int) -> Iterator[Job]:
        """The instances of a backfill that were not discarded."""
        return (
            self.jobs[id] for (_, each), found in self._of_task.items() if each == number for _, id in found
        )

    def upstream(self, job: Job) -> dict[str, list[Job]]:
        """The upstream instances of an instance, by its dependencies."""
        mine, task = of(job), self.task(job.schedule)
        found = dict[str, list[Job]]()
        if mine.empty or task is None:
            return found
        for number, each in enumerate(task.depends_on):
            if each.itself:
                found[f"{number} self"] = self._before(job)
                continue
            ref = named(job, each)
            if not mine.number or ref in self.members[mine.number]:
                found[f"{number} {ref}"] = self._picked(job, task, each, ref)
        return found

    def upstream_now(self, job: Job) -> Iterable[str]:
        """The ids of what an instance waits for, or has waited for when it left Not Run."""
        if job.satisfied_at is not None:
            return [edge.job for edge in of(job).upstream]
        return [one.id for each in self.upstream(job).values() for one in each]

    def consumers(self, job: Job) -> dict[str, Job]:
        """The instances that wait for an instance, or for one of those, and so on; none of deleted tasks."""
        waiting: dict[str, list[Job]] = defaultdict(list)
        for each in self.existing():
            if each.schedule in self.specs:
                for id in self.upstream_now(each):
                    waiting[id].append(each)
        found: dict[str, Job] = {}
        ahead = [job]
        while ahead:
            ahead = [each for one in ahead for each in waiting[one.id]]
            ahead = [each for each in {each.id: each for each in ahead}.values() if each.id not in found]
            found |= {each.id: each for each in ahead}
        found.pop(job.id, None)
        return found

    def _before(self, job: Job) -> list[Job]:
        times = self._of_task.get((job.schedule, of(job).number), [])
        for _, id in reversed(times[: bisect_left(times, (of(job).scheduled, ""))]):
            if not of(self.jobs[id]).empty:
                return [self.jobs[id]]
        return []

    def _picked(self, job: Job, task: TaskTrigger, dependency: Dependency, ref: str) -> list[Job]:
        mine, theirs = of(job), self.task(ref)
        if theirs is None:
            return []
        if is_long(dependency):
            return self._of_long(job, task, dependency, ref)
        container, rule = CELLS[size(task)][size(theirs)]
        if mine.number and rule == "last":
            rule = "all"
        rule = dependency.select or rule
        current = mine.business if mine.number else mine.scheduled
        previous = dependency.period == "previous"
        period = natural_container(task.timezone, current, container, previous=previous)
        looks_back = rule in ("nearest", "exactly_one") and not previous
        return chosen(
            rule,
            [
                each
                for at, each in self._timed(ref, mine.number, period.start, period.end)
                if of(each).lot <= mine.lot and (not looks_back or at <= current)
            ],
        )

    def _of_long(self, job: Job, task: TaskTrigger, dependency: Dependency, ref: str) -> list[Job]:
        """What is picked of a calendar period, or of a span up to an instance."""
        mine, rule = of(job), dependency.select or "all"
        current = mine.business if mine.number else mine.scheduled
        found: list[Job] = []
        for _, id in self._of_task.get((ref, mine.number), []):
            each = of(self.jobs[id])
            at = each.business if mine.number else each.scheduled
            inside = in_long(dependency, task, mine, each.business_date, at)
            if inside and each.lot <= mine.lot and (rule not in ("nearest", "exactly_one") or at <= current):
                found.append(self.jobs[id])
        return chosen(rule, sorted(found, key=lambda each: _order(each, mine.number)))

    def holes(self, job: Job) -> bool:
        """Whether of a long period, of which all are wanted, some were never made."""
        task, mine = self.task(job.schedule), of(job)
        if task is None or mine.number or mine.empty:
            return False
        for each in task.depends_on:
            theirs = None if each.itself else self.task(named(job, each))
            if theirs is None or not is_long(each) or (each.select or "all") != "all":
                continue
            found = {of(one).key for one in self._of_long(job, task, each, named(job, each))}
            if any(name not in found for name in _names(each, task, mine, theirs)):
                return True
        return False

    def made_at(self, job: Job) -> datetime | None:
        """When the last instances of the calendar periods are made that an instance waits for."""
        task, mine = self.task(job.schedule), of(job)
        found: list[datetime] = []
        for each in () if task is None or mine.number or mine.empty else task.depends_on:
            theirs = None if each.itself else self.task(named(job, each))
            asks = is_calendar(each) and (each.select or "all") in ("all", "last")
            if theirs is not None and theirs.enabled and asks:
                _, last = dates_of(each, mine)
                until = last + ONE_DAY if theirs.valid_to is None else min(last + ONE_DAY, theirs.valid_to)
                found.append(generation_time(theirs, until))
        return max(found, default=None)

    def _timed(self, ref: str, number: int, start: datetime, end: datetime) -> list[tuple[datetime, Job]]:
        """The instances of a container with their times: scheduled times, or business dates in a backfill."""
        times = self._of_task.get((ref, number), [])
        if number:
            jobs = [self.jobs[id] for _, id in times]
            found = [(of(each).business, each) for each in jobs if start <= of(each).business < end]
            return sorted(found, key=lambda each: (each[0], of(each[1]).scheduled, each[1].id))
        chosen = times[bisect_left(times, (start, "")) : bisect_right(times, (end, ""))]
        return [(at, self.jobs[id]) for at, id in chosen]


def is_calendar(dependency: Dependency) -> bool:
    """Whether a dependency looks into a period of the calendar."""
    return dependency.period in ("week", "month", "year")


def is_long(dependency: Dependency) -> bool:
    """Whether a dependency looks beyond an hour or a day."""
    return is_calendar(dependency) or dependency.within is not None


def dates_of(dependency: Dependency, mine: Instance) -> tuple[date, date]:
    """The first and the last day of the calendar period of a business date; weeks begin on Sunday."""
    day = date.fromisoformat(mine.business_date[:10])
    if dependency.period == "week":
        first = day - timedelta(days=day.isoweekday() % 7)
        return first, first + timedelta(days=6)
    first = day.replace(day=1)
    return first, (first + timedelta(days=32)).replace(day=1) - ONE_DAY


def in_long(
    dependency: Dependency, task: TaskTrigger, mine: Instance, business_date: str, at: datetime
) -> bool:
    """Whether a time is in the long period of a dependency of an instance.

    Args:
        at: the scheduled time, in a backfill that of the business date.
    """
    if is_calendar(dependency):
        first, last = dates_of(dependency, mine)
        return first <= date.fromisoformat(business_date[:10]) <= last
    within, current = dependency.within or timedelta(0), mine.business if mine.number else mine.scheduled
    start = current - within
    if not within % ONE_DAY:
        # Whole days are those of the calendar, as the clocks on the wall say.
        wall = current.astimezone(ZoneInfo(task.timezone)).replace(tzinfo=None) - within
        start = wall.replace(tzinfo=ZoneInfo(task.timezone)).astimezone(UTC)
    return start < at <= current


def _names(dependency: Dependency, task: TaskTrigger, mine: Instance, theirs: TaskTrigger) -> Iterator[str]:
    """The names of the times, without empty runs, that a task has in a long period, whether valid or not."""
    always = msgspec.structs.replace(theirs, valid_from=None, valid_to=None)
    if is_calendar(dependency):
        first, last = dates_of(dependency, mine)
    else:
        last = local_day(theirs, mine.scheduled)
        first = last - (dependency.within or timedelta(0)) - ONE_DAY
    for number in range(-1, (last - first).days + 3):
        for slot in slots_of_day(always, first + number * ONE_DAY):
            # The hour, minute or day before lies where the microsecond before the scheduled time does.
            business_date = local_day(theirs, slot.scheduled - timedelta(microseconds=1)).isoformat()
            if not slot.empty and in_long(dependency, task, mine, business_date, slot.scheduled):
                yield scheduled_key(theirs, slot.scheduled)


def chosen(rule: str, found: list[Job]) -> list[Job]:
    """What a rule picks of the instances where it looks, in order."""
    return {
        "nearest": found[-1:],
        "last": found[-1:],
        "first": found[:1],
        "all": found,
        "exactly_one": found if len(found) == 1 else [],
    }[rule]


def _order(job: Job, number: int) -> tuple[datetime, datetime, str]:
    return (of(job).business if number else of(job).scheduled), of(job).scheduled, job.id


def members_of(reader: EngineReader) -> dict[int, frozenset[str]]:
    """The tasks of each backfill, by its number."""
    newest: int = reader.cursor("backfills") or 0
    return {
        number: frozenset((reader.cursor(f"backfill:{number}") or {})["tasks"])
        for number in range(1, newest + 1)
    }
