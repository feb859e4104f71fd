"""The rule against cycles of tasks, whose instances would wait for each other without end.

An edge leads from a task to each of its upstream tasks, over all apps. Any cycle within the same hour or day
is refused, also where only some instances would wait for each other: an hour's instance for the last minute
of its hour, and that minute for the hour. `self` and `period: previous` pick instances of an earlier time. A
cycle through them is refused if instances wait for each other (`instance_cycles`).
"""

from collections.abc import Collection, Iterable, Mapping, Sequence

from tidegate.compiler.diagnostics.diagnostic import Findings, Related
from tidegate.compiler.rules.cycles.graph import strong_groups, way_back
from tidegate.compiler.rules.cycles.instances import InstanceCycle, Waits, cycles_of_instances
from tidegate.domain.model import App, Schedule
from tidegate.domain.model.triggers.task import CALENDAR_PERIODS
from tidegate.domain.part_name import app_of, name_in, whole_name

SHOWN_AT_MOST = 8
"""Instances of a cycle that a message names; the others are left out in the middle."""


def check_task_cycles(apps: Sequence[App], findings: Mapping[str, Findings]) -> None:
    """Report one cycle of each group of tasks that wait for each other, at its first task in a file.

    Args:
        apps: the apps with their tasks; those of files first.
        findings: those of the files, by the name of the app.
    """
    tasks = {
        whole_name(app.name, each.name): each
        for app in apps
        for each in app.schedules.values()
        if each.task is not None
    }
    order = {name: number for number, name in enumerate(tasks)}

    def first_of(names: Iterable[str]) -> str | None:
        """Return the task in a file at which a cycle is reported."""
        return min((name for name in names if app_of(name) in findings), key=order.__getitem__, default=None)

    edges = {name: _upstream(name, task, tasks) for name, task in tasks.items()}
    edges = _with_calendar(edges, tasks)
    cyclic: set[str] = set()
    for group in strong_groups(edges):
        if len(group) > 1 or group[0] in edges[group[0]]:
            cyclic.update(group)
            first = first_of(group)
            if first is not None:
                _report(way_back(first, edges), tasks, findings[app_of(first)], _holds_later(group, tasks))
    others = {name: _waits(name, task, tasks) for name, task in tasks.items() if name not in cyclic}
    for cycle in cycles_of_instances(others):
        first = first_of(name for name, _ in cycle.instances)
        if first is not None:
            _report_instances(first, cycle, tasks, findings[app_of(first)])


def _upstream(name: str, task: Schedule, tasks: Mapping[str, Schedule]) -> tuple[str, ...]:
    """Return the upstream tasks of which instances are picked that may be of the same hour or day."""
    return tuple(
        upstream
        for upstream, each in _waits(name, task, tasks).upstream
        if not each.itself and each.period != "previous"
    )


def _with_calendar(
    edges: dict[str, tuple[str, ...]], tasks: Mapping[str, Schedule]
) -> dict[str, tuple[str, ...]]:
    """Return the edges, with those to the hour or day before where a calendar period leads back over them.

    A calendar period holds instances that are later than the one that waits, so both wait for each other.
    """
    waits = {name: _waits(name, task, tasks).upstream for name, task in tasks.items()}
    every = {name: [up for up, each in found if not each.itself] for name, found in waits.items()}
    for group in map(set, strong_groups(every)):
        if len(group) > 1 and _holds_later(group, tasks):
            edges |= {name: tuple(up for up in every[name] if up in group) for name in group}
    return edges


def _holds_later(group: Collection[str], tasks: Mapping[str, Schedule]) -> bool:
    """Return whether one of these tasks waits for a calendar period of another one."""
    found = (each for name in group for each in _waits(name, tasks[name], tasks).upstream)
    return any(each.period in CALENDAR_PERIODS and not each.itself and up in group for up, each in found)


def _waits(name: str, task: Schedule, tasks: Mapping[str, Schedule]) -> Waits:
    found = ((whole_name(app_of(name), each.task), each) for each in task.as_task.depends_on)
    return Waits(task=task.as_task, upstream=tuple(each for each in found if each[0] in tasks))


def _report(
    cycle: tuple[str, ...], tasks: Mapping[str, Schedule], findings: Findings, holds_later: bool
) -> None:
    """Report a cycle.

    Args:
        holds_later: whether a calendar period is in it, which holds instances that are later.
    """
    first = tasks[cycle[0]]
    if first.at is None:
        return
    own = app_of(cycle[0])
    path = " -> ".join(name_in(own, name) for name in (*cycle, cycle[0]))
    findings.add(
        "L442",
        first.at,
        f"tasks must not wait for each other in a cycle, got {path}",
        "write `self` for the task's own previous instance"
        if len(cycle) == 1
        else "a calendar period holds later instances too: remove one of these from `depends_on`, or wait for"
        " a span up to the own scheduled time, such as `period: 7d`"
        if holds_later
        else "remove one of these from `depends_on`, or wait for its instances of the hour or day before"
        " with `period: previous`",
        _places(cycle[1:], own, tasks),
    )


def _report_instances(
    first: str, cycle: InstanceCycle, tasks: Mapping[str, Schedule], findings: Findings
) -> None:
    at = tasks[first].at
    if at is None:
        return
    own = app_of(first)
    found = cycle.instances
    start = next(number for number, (name, _) in enumerate(found) if name == first)
    path = [f"{name_in(own, name)} {key}" for name, key in (*found[start:], *found[:start])]
    if len(path) > SHOWN_AT_MOST:
        path[SHOWN_AT_MOST - 2 : -1] = ["..."]
    findings.add(
        "L442",
        at,
        f"instances {'of a backfill ' if cycle.backfill else ''}must not wait for each other in a cycle,"
        f" got for example {' -> '.join((*path, path[0]))}",
        "remove one of these from `depends_on`, or pick instances with `select` or `period` that do not wait"
        " for this one",
        _places(dict.fromkeys(name for name, _ in found if name != first), own, tasks),
    )


def _places(names: Iterable[str], own: str, tasks: Mapping[str, Schedule]) -> tuple[Related, ...]:
    return tuple(
        Related(at=at, note=f"{name_in(own, name)} is here")
        for name in names
        if (at := tasks[name].at) is not None
    )
