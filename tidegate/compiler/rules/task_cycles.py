"""The rule against cycles of tasks, whose instances would wait for each other without end.

An edge leads from a task to each of its upstream tasks, over all apps. `self` and `period: previous` pick
instances of an earlier time, so they close no cycle. Any other cycle is refused, also where only some
instances would wait for each other: an hour's instance for the last minute of its hour, and that minute for
the hour.
"""

from collections import deque
from collections.abc import Mapping, Sequence

from tidegate.compiler.diagnostics.diagnostic import Findings, Related
from tidegate.compiler.rules.cycles import strong_groups
from tidegate.domain.model import App, Schedule
from tidegate.domain.part_name import app_of, name_in, whole_name

Edges = dict[str, tuple[str, ...]]
"""The upstream tasks of each task, by whole name."""


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
    edges = {name: _upstream(name, task, tasks) for name, task in tasks.items()}
    order = {name: number for number, name in enumerate(edges)}
    for group in strong_groups(edges):
        first = min((name for name in group if app_of(name) in findings), key=order.__getitem__, default=None)
        if first is not None and (len(group) > 1 or first in edges[first]):
            _report(_path_back(first, edges), tasks, findings[app_of(first)])


def _upstream(name: str, task: Schedule, tasks: Mapping[str, Schedule]) -> tuple[str, ...]:
    assert task.task is not None
    found = (
        whole_name(app_of(name), each.task)
        for each in task.task.depends_on
        if not each.itself and each.period == "same"
    )
    return tuple(each for each in found if each in tasks)


def _path_back(start: str, edges: Edges) -> tuple[str, ...]:
    """Return the shortest way from a task of a cycle over its upstream tasks back to itself."""
    before: dict[str, str] = {}
    coming = deque([start])
    while True:
        name = coming.popleft()
        for following in edges[name]:
            if following == start:
                path = [name]
                while path[-1] != start:
                    path.append(before[path[-1]])
                return tuple(reversed(path))
            if following not in before:
                before[following] = name
                coming.append(following)


def _report(cycle: tuple[str, ...], tasks: Mapping[str, Schedule], findings: Findings) -> None:
    first = tasks[cycle[0]]
    if first.at is None:
        return
    own = app_of(cycle[0])
    path = " -> ".join(name_in(own, name) for name in (*cycle, cycle[0]))
    related = tuple(
        Related(at=at, note=f"{name_in(own, name)} is here")
        for name in cycle[1:]
        if (at := tasks[name].at) is not None
    )
    findings.add(
        "L442",
        first.at,
        f"tasks must not wait for each other in a cycle, got {path}",
        "write `self` for the task's own previous instance"
        if len(cycle) == 1
        else "remove one of these from `depends_on`, or wait for its instances of the hour or day before"
        " with `period: previous`",
        related,
    )
