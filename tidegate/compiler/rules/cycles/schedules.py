"""The rule against cycles of schedules, whose runs would trigger each other without end.

An edge leads from a schedule to every schedule that its runs can trigger: by `run` of its program, or by
`partitions` or `size` of a dataset that its program writes. A trigger that needs a clock (`cron`,
`elapsed`) has no incoming edges: the clock limits how often it fires.
"""

from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence

from tidegate.compiler.diagnostics.diagnostic import Findings, Related
from tidegate.compiler.rules.cycles.graph import strong_groups
from tidegate.domain.model import App, Composite, Schedule, Trigger
from tidegate.domain.model.others import others_of_schedules
from tidegate.domain.part_name import app_of, name_in, whole_name

Cause = tuple[str, str]
"""A cause of a trigger: ("run", program) or ("partitions", dataset), with whole names."""

Node = str | Cause
"""A schedule's whole name, or a cause."""

Graph = dict[Node, dict[Node, None]]
"""Edges from schedules to the causes that their runs produce, and from causes to triggered schedules.

The causes keep the graph small: a thousand schedules of a program and a thousand schedules that it
triggers are two thousand edges and not a million. Neighbours are unique and ordered.
"""


def check_cycles(app: App, findings: Findings) -> None:
    """Report each cycle once, at its first schedule in the file, with its whole path."""
    for cycle in cycles(app):
        _report(cycle, app.schedules, findings)


def check_cycles_across(apps: Sequence[App], findings: Mapping[str, Findings]) -> None:
    """Report each cycle through several apps once, at its first schedule in a file.

    Args:
        apps: the apps with their schedules; those of files first.
        findings: those of the files, by the name of the app.
    """
    if not any(others_of_schedules(app.schedules.values()) for app in apps):
        return
    schedules = {f"{app.name}/{name}": each for app in apps for name, each in app.schedules.items()}
    for cycle in cycles(*apps):
        names = {app_of(ref) for ref in cycle}
        first = next((index for index, ref in enumerate(cycle) if app_of(ref) in findings), None)
        if len(names) > 1 and first is not None:
            path = (*cycle[first:], *cycle[:first])
            _report(path, schedules, findings[app_of(path[0])])


def _report(cycle: tuple[str, ...], schedules: Mapping[str, Schedule], findings: Findings) -> None:
    first = schedules[cycle[0]]
    if first.at is None or findings.full:
        return
    path = " -> ".join((*cycle, cycle[0]))
    related = tuple(
        Related(at=at, note=f"{name} is here") for name in cycle[1:] if (at := schedules[name].at) is not None
    )
    findings.add(
        "L401",
        first.at,
        f"schedules must not trigger each other in a cycle, got {path}",
        "remove one of these triggers, or combine it with a cron in `all`",
        related,
    )


def cycles(*apps: App) -> list[tuple[str, ...]]:
    """Return the cycles to report, in the order of the files; of several apps with whole names.

    These are one cycle for each group of schedules that trigger each other, and each schedule that
    triggers itself: a group can have too many cycles to report all.
    """
    graph = _graph(apps)
    order = {node: number for number, node in enumerate(n for n in graph if isinstance(n, str))}
    found: list[tuple[str, ...]] = []
    for nodes in strong_groups(graph):
        group = [node for node in nodes if isinstance(node, str)]
        found.extend((name,) for name in group if any(name in graph[cause] for cause in graph[name]))
        if len(group) > 1:
            found.append(_path_back(min(group, key=order.__getitem__), graph, frozenset(group)))
    found.sort(key=lambda path: order[path[0]])
    return [tuple(name_in(apps[0].name, ref) for ref in path) for path in found] if len(apps) == 1 else found


def causes(trigger: Trigger, app: str) -> frozenset[Cause]:
    """Return the causes that can satisfy a trigger of an app without a clock."""
    if isinstance(trigger, Composite):
        if _needs_clock(trigger):
            return frozenset()
        return frozenset(cause for member in trigger.of for cause in causes(member, app))
    found = (("run", trigger.program_collected), ("partitions", trigger.dataset_collected))
    return frozenset((how, whole_name(app, name)) for how, name in found if name is not None)


def _needs_clock(trigger: Trigger) -> bool:
    if trigger.wait_at_most is not None:
        return False
    if isinstance(trigger, Composite):
        return sum(not _needs_clock(member) for member in trigger.of) < trigger.needed
    return trigger.fires_by_clock


def _graph(apps: Sequence[App]) -> Graph:
    triggered: defaultdict[Cause, dict[Node, None]] = defaultdict(dict)
    for app in apps:
        for schedule in app.schedules.values():
            for cause in causes(schedule.trigger, app.name):
                triggered[cause][whole_name(app.name, schedule.name)] = None
    graph: Graph = {
        whole_name(app.name, name): dict.fromkeys(_caused_by(schedule, app, triggered))
        for app in apps
        for name, schedule in app.schedules.items()
    }
    return graph | triggered


def _caused_by(schedule: Schedule, app: App, triggered: Mapping[Cause, object]) -> Iterator[Cause]:
    """Return the causes that a run of a schedule produces and that trigger schedules."""
    written = (("partitions", whole_name(app.name, dataset)) for dataset in _writes(schedule, app))
    runs = ("run", whole_name(app.name, schedule.program))
    return (cause for cause in (runs, *written) if cause in triggered)


def _writes(schedule: Schedule, app: App) -> tuple[str, ...]:
    program = app.programs.get(schedule.program)
    return program.writes if program else ()


def _path_back(start: str, graph: Graph, group: frozenset[str]) -> tuple[str, ...]:
    """Return the shortest way from a schedule through others of its group back to itself."""
    before: dict[str, str] = {}
    followed: set[Node] = set()
    coming = deque([start])
    while True:
        name = coming.popleft()
        for cause in graph[name]:
            if name != start and start in graph[cause]:
                path = [name]
                while path[-1] != start:
                    path.append(before[path[-1]])
                return tuple(reversed(path))
            if cause in followed:
                continue
            followed.add(cause)
            for following in graph[cause]:
                if (
                    isinstance(following, str)
                    and following in group
                    and following != start
                    and following not in before
                ):
                    before[following] = name
                    coming.append(following)
