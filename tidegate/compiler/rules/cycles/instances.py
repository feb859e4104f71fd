"""Cycles among instances, of tasks of which some edges go back in time.

`period: previous` picks instances of the hour or day before. Such an edge closes no cycle by itself, but
another edge may lead forward again: an hour waits for the minutes of the hour before, these minutes wait for
their day, and the day for its last hour. Whether instances wait for each other depends on the times of the
tasks. So the instances of each kind of day are built, with the edges that the engine would give them. Pure.
"""

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta

import msgspec

from tidegate.compiler.rules.cycles.graph import strong_groups, way_back
from tidegate.domain.model import Dependency, Select, TaskTrigger
from tidegate.domain.tasks.days import date_of_day, day_of_date
from tidegate.domain.tasks.grid import business_instant, day_begins, slots_of_day
from tidegate.domain.tasks.key import business_date, local_day, scheduled_key
from tidegate.domain.tasks.select import choice_of, container_of, pick
from tidegate.domain.time.calendar import is_business_day
from tidegate.domain.value import Value

LOOKED_AT = tuple(date(2024, 1, 1) + timedelta(days=n) for n in range(4 * 365 + 1))
"""Four years, in which there is each kind of day: of the week and month, and with changes of the clocks."""

REACH = 2
"""Days on both sides that are built with a day where tasks have several zones: their days overlap."""

ALSO_IN_PART: tuple[Select, ...] = ("all", "nearest", "last")
"""Rules that pick of a part of a span what they pick of the whole."""

Node = tuple[str, datetime]
"""An instance: its task by whole name, and its scheduled time."""


class Waits(Value, kw_only=True):
    """A task with its dependencies on tasks of the same group, by their whole names."""

    task: TaskTrigger
    upstream: tuple[tuple[str, Dependency], ...]


class InstanceCycle(Value, kw_only=True):
    """Instances of which each waits for the next one, and the last one for the first.

    Attributes:
        instances: each one's task, and its scheduled time; in a backfill its business date.
    """

    instances: tuple[tuple[str, str], ...]
    backfill: bool


Group = Mapping[str, Waits]
"""Tasks by whole name; names outside a group are not its upstream tasks."""


def cycles_of_instances(tasks: Group) -> Iterator[InstanceCycle]:
    """Yield one cycle of instances of each group of tasks that has one.

    Within a backfill instances are compared by their business dates, and wait for all finer ones. So both are
    looked at.

    Args:
        tasks: by whole name. Tasks that already wait for each other in the same hour or day are not among
            them.
    """
    for group in _that_may_meet(tasks):
        always = {
            name: msgspec.structs.replace(each, task=_always(each.task)) for name, each in group.items()
        }
        found = next(_cycles(always), None)
        if found is not None:
            yield found


def _always(task: TaskTrigger) -> TaskTrigger:
    """Return a task whose instances are not limited to some dates."""
    return msgspec.structs.replace(task, enabled=True, valid_from=None, valid_to=None)


# --- groups -----------------------------------------------------------------------------


def _that_may_meet(tasks: Group) -> Iterator[Group]:
    """Yield the groups of tasks whose instances have to be built, with the edges that matter.

    In one zone no edge leads to a later day, so an edge to the day before is in no cycle. Where all others
    look into hours, none leads to a later hour, so an edge to the hour before is in none either.
    """
    for group in _groups(tasks):
        if len({each.task.timezone for each in group.values()}) > 1:
            yield group
            continue
        forward = {
            name: Waits(
                task=each.task,
                upstream=tuple(
                    (upstream, dependency)
                    for upstream, dependency in each.upstream
                    if dependency.period != "previous" or not _in_days(group, name, upstream)
                ),
            )
            for name, each in group.items()
        }
        for finer in _groups(forward):
            if any(
                _in_days(finer, name, upstream)
                for name, each in finer.items()
                for upstream, dependency in each.upstream
                if not dependency.itself
            ):
                yield finer


def _groups(tasks: Group) -> Iterator[Group]:
    """Yield the tasks that wait for each other over any edges, without the edges that leave their group."""
    edges = {name: [each for each, _ in found.upstream if each in tasks] for name, found in tasks.items()}
    for names in map(set, strong_groups(edges)):
        if len(names) > 1:
            yield {
                name: Waits(
                    task=found.task, upstream=tuple(each for each in found.upstream if each[0] in names)
                )
                for name, found in tasks.items()
                if name in names
            }


def _in_days(tasks: Group, name: str, upstream: str) -> bool:
    return container_of(tasks[name].task.cycle, tasks[upstream].task.cycle) == "day"


# --- days -------------------------------------------------------------------------------


def _cycles(group: Group) -> Iterator[InstanceCycle]:
    order = {name: number for number, name in enumerate(group)}
    for days in _kinds_of_days([each.task for each in group.values()]):
        for backfill in (False, True):
            edges = _edges(group, days, backfill=backfill)
            for nodes in strong_groups(edges):
                if len(nodes) > 1:
                    first = min(nodes, key=lambda node: (order[node[0]], node[1]))
                    key = business_date if backfill else scheduled_key
                    path = ((name, key(group[name].task, at)) for name, at in way_back(first, edges))
                    yield InstanceCycle(instances=tuple(path), backfill=backfill)


def _kinds_of_days(tasks: Sequence[TaskTrigger]) -> Iterator[tuple[date, ...]]:
    """Yield some days in a row for each kind of day: by what is an off day then, and by the clocks.

    One more day follows, since the last instance of a business day is scheduled at the midnight after it.
    """
    zones = {each.timezone: each for each in tasks}
    reach = REACH if len(zones) > 1 else 0
    irregular = [
        each
        for each in tasks
        if each.calendar is not None or each.previous_business_day or each.cycle in ("week", "month", "year")
    ]
    kinds = [
        (
            *(day_begins(each, day + timedelta(days=1)) - day_begins(each, day) for each in zones.values()),
            *(_is_off(each, day) for each in irregular),
            *(day - date_of_day(each, day) for each in irregular if each.previous_business_day),
        )
        for day in LOOKED_AT
    ]
    seen: set[tuple[object, ...]] = set()
    length = 2 * reach + 2
    for first in range(len(LOOKED_AT) - length + 1):
        kind = tuple(kinds[first : first + length])
        if kind not in seen:
            seen.add(kind)
            yield LOOKED_AT[first : first + length]


def _is_off(task: TaskTrigger, day: date) -> bool:
    if task.cycle in ("minute", "hour"):
        return task.calendar is not None and not is_business_day(task.calendar, day)
    return all(slot.empty for slot in slots_of_day(task, day))


# --- instances --------------------------------------------------------------------------


class _Built:
    """The instances of a task on some days, in order, with the times by which they are compared."""

    def __init__(self, task: TaskTrigger, days: Sequence[date], *, backfill: bool) -> None:
        def compared(scheduled: datetime) -> datetime:
            return business_instant(task, scheduled) if backfill else scheduled

        slots = (slot for day in days for slot in slots_of_day(task, day))
        self.slots = tuple(slot for slot in slots if not backfill or _is_in_backfills(task, slot.scheduled))
        self.timed = tuple((compared(slot.scheduled), slot.scheduled) for slot in self.slots)
        self.begin = compared(day_begins(task, days[0]))
        self.end = compared(day_begins(task, days[-1] + timedelta(days=1)))

    def between(self, start: datetime, end: datetime) -> Sequence[tuple[datetime, datetime]]:
        """Return the instances in a container; none in one of which not all instances are built."""
        if start < self.begin or self.end < end:
            return ()
        first = bisect_left(self.timed, start, key=lambda each: each[0])
        return self.timed[first : bisect_left(self.timed, end, key=lambda each: each[0])]


def _is_in_backfills(task: TaskTrigger, scheduled: datetime) -> bool:
    """Return whether a backfill makes an instance: of several about one business date it makes one."""
    if not task.previous_business_day:
        return True
    day = local_day(task, scheduled)
    return day_of_date(task, date_of_day(task, day)) == day


def _edges(group: Group, days: Sequence[date], *, backfill: bool) -> dict[Node, list[Node]]:
    built = {name: _Built(each.task, days, backfill=backfill) for name, each in group.items()}
    edges: dict[Node, list[Node]] = {}
    for name, waits in group.items():
        task, before = waits.task, None
        for slot, (current, scheduled) in zip(built[name].slots, built[name].timed, strict=True):
            found = edges[name, scheduled] = []
            if slot.empty:
                continue
            for upstream, dependency in waits.upstream:
                if dependency.itself:
                    found.extend([(name, before)] if before is not None else [])
                    continue
                choice = choice_of(dependency, task, group[upstream].task, current, backfill=backfill)
                start, end = choice.container.start, choice.container.end
                if dependency.within is not None and choice.select in ALSO_IN_PART:
                    # What is before the days that are built is in no cycle with them.
                    start = max(start, built[upstream].begin)
                inside = built[upstream].between(start, end)
                found.extend((upstream, at) for at in pick(choice, inside))
            before = scheduled
    return edges
