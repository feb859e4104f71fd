"""Upstream: the tasks and schedules whose programs write what a schedule collects or reads, and their keys.

    NAME (level 2) ◄── what writes what it collects or reads (level 1) ◄── what writes for that (level 0)

Those without keys are left out. Their instances come before those that need them: a lot of dates is as many
lots of instances as there are levels.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime

import msgspec

from tidegate.domain.model import App, PartitionScheme, leaves
from tidegate.domain.part_name import whole_name
from tidegate.domain.schedule_keys import keys_about, period_of_key, scheme_of_key, schemes_of_keys
from tidegate.domain.time.wall_clock import wall_time
from tidegate.domain.value import Value
from tidegate.scheduler.commands.backfills.points import Point, points_of_day, points_of_keys
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.tick.generate import ONE_DAY
from tidegate.scheduler.tick.load import load_apps
from tidegate.scheduler.tick.upstream import MICROSECOND


class Producers:
    """The deployed tasks and schedules by what they write.

    Attributes:
        apps: their apps, by name.
    """

    def __init__(self, reader: EngineReader) -> None:
        states = [
            state for state in reader.schedules() if state.spec.task is None or state.spec.as_task.enabled
        ]
        self.apps: Mapping[str, App] = load_apps(reader, states)
        self._writing: dict[str, list[ScheduleState]] = {}
        for state in states:
            for name in self._written(state):
                self._writing.setdefault(name, []).append(state)

    def of(self, state: ScheduleState) -> list[ScheduleState]:
        """Return the tasks and schedules that write what a schedule collects or reads, by ref."""
        written = set(self._written(state))
        names = [name for name in self._needed(state) if name not in written]
        found = {each.ref: each for name in names for each in self._writing.get(name, ())}
        return [each for ref, each in sorted(found.items()) if ref != state.ref]

    def _written(self, state: ScheduleState) -> list[str]:
        app = self.apps.get(state.app)
        program = None if app is None else app.programs.get(state.spec.program)
        return [] if program is None else [whole_name(state.app, name) for name in program.writes]

    def _needed(self, state: ScheduleState) -> list[str]:
        app = self.apps.get(state.app)
        program = None if app is None else app.programs.get(state.spec.program)
        collected = (leaf.trigger.dataset_collected for leaf in leaves(state.spec.trigger))
        names = [
            *(name for name in collected if name is not None),
            *(() if program is None else program.reads),
        ]
        return [whole_name(state.app, name) for name in names]


class Chain(Value, kw_only=True):
    """The instances of a schedule and of all upstream of it.

    Attributes:
        points: by task and schedule ("app/name"); the `date` of each is the first one that needs it.
        levels: of each: those of a lower one come first.
        without: upstream schedules that have no keys.
    """

    points: dict[str, list[Point]]
    levels: dict[str, int]
    without: tuple[str, ...]


def with_upstream(
    producers: Producers, state: ScheduleState, points: Sequence[Point], now: datetime
) -> Chain:
    """Return the points of a schedule with those of all upstream of it, for the keys that they are about."""
    found: dict[str, dict[str, Point]] = {state.ref: {point.key: point for point in points}}
    edges: dict[str, set[str]] = {state.ref: set()}
    without: set[str] = set()
    ahead = [state]
    while ahead:
        current = ahead.pop(0)
        for each in producers.of(current) if current.spec.task is None else ():
            if each.spec.task is None and not schemes_of_keys(producers.apps[each.app], each.spec):
                without.add(each.ref)
                continue
            known = found.setdefault(each.ref, {})
            new = [
                point
                for point in _needed_points(producers.apps, each, current, found[current.ref].values(), now)
                if point.key not in known or point.date < known[point.key].date
            ]
            known.update((point.key, point) for point in new)
            edges.setdefault(each.ref, set())
            edges[current.ref].add(each.ref)
            if new:
                ahead.append(each)
    levels: dict[str, int] = {}
    for ref in edges:
        _level(ref, edges, levels, ())
    return Chain(
        points={ref: list(each.values()) for ref, each in found.items() if each},
        levels=levels,
        without=tuple(sorted(without)),
    )


def _level(ref: str, edges: Mapping[str, set[str]], levels: dict[str, int], path: tuple[str, ...]) -> int:
    """Return the level of a task or schedule, above all upstream of it; one that is its own is not."""
    if ref not in levels:
        above = [
            _level(each, edges, levels, (*path, ref))
            for each in sorted(edges[ref])
            if each not in (*path, ref)
        ]
        levels[ref] = 1 + max(above, default=-1)
    return levels[ref]


def _needed_points(
    apps: Mapping[str, App],
    state: ScheduleState,
    by: ScheduleState,
    points: Iterable[Point],
    now: datetime,
) -> Iterator[Point]:
    """Yield the points of an upstream task or schedule that some points of a schedule need."""
    dates: dict[str, str] = {}
    for point in points:
        of = scheme_of_key(apps[by.app], by.spec, point.key)
        for key in () if of is None else _keys_needed(apps[state.app], state, of, point.key):
            dates[key] = min(point.date, dates.get(key, point.date))
    if state.spec.task is None:
        found = points_of_keys(state, apps[state.app], dates, now)
    else:
        found = (each for day in dates for each in points_of_day(state, day, now))
    for each in found:
        date = dates.get(each.key) or dates[each.date]
        yield msgspec.structs.replace(each, date=date)


def _keys_needed(app: App, state: ScheduleState, of: PartitionScheme, key: str) -> Iterator[str]:
    """Yield the keys of an upstream schedule, or the days of an upstream task, that are about a key."""
    if state.spec.task is None:
        for scheme in schemes_of_keys(app, state.spec):
            yield from keys_about(scheme, key, of)
        return
    period = period_of_key(of, key)
    if period is None or of.time is None:
        return
    day = wall_time(period.start, of.time.timezone).date()
    last = wall_time(period.end - MICROSECOND, of.time.timezone).date()
    while day <= last:
        yield day.isoformat()
        day += ONE_DAY
