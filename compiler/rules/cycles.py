"""Cycles among schedules: a run of each would trigger the next, without end.

An edge leads from a schedule to every schedule that its runs can trigger: by `run` of its
program, or by `partitions` or `size` of a dataset that its program writes. A trigger that cannot
hold without a clock (`cron`, `elapsed`) has no incoming edges: the clock bounds how often it fires.
"""

from collections import defaultdict, deque
from collections.abc import Iterator
from typing import assert_never

from compiler.diagnostic import Findings, Related
from compiler.model import (
    AllTrigger,
    AnyTrigger,
    App,
    AtLeastTrigger,
    CronTrigger,
    ElapsedTrigger,
    PartitionsTrigger,
    RunTrigger,
    Schedule,
    SequenceTrigger,
    SizeTrigger,
    Trigger,
)

Cause = tuple[str, str]
"""What triggers: ("run", program) or ("partitions", dataset)."""


def check_cycles(app: App, findings: Findings) -> None:
    """Reports each cycle once, at its first schedule in the file, with its whole path."""
    for cycle in cycles(app):
        first = app.schedules[cycle[0]]
        if first.at is None:
            continue
        path = " -> ".join((*cycle, cycle[0]))
        related = tuple(
            Related(at=at, note=f"{name} stands here")
            for name in cycle[1:]
            if (at := app.schedules[name].at) is not None
        )
        findings.add(
            "L401",
            first.at,
            f"schedules must not trigger each other in a circle, got {path}",
            "take one trigger out of the circle, or put a cron beside it in `all`",
            related,
        )


def cycles(app: App) -> list[tuple[str, ...]]:
    """The cycles to report, in the order of the file.

    One for each group of schedules that trigger each other, and each schedule that triggers
    itself: a group of n can hold far more cycles than anybody would read.
    """
    edges = _edges(app)
    order = {name: number for number, name in enumerate(app.schedules)}
    found: list[tuple[str, ...]] = []
    for group in _strong_groups(edges):
        found.extend((name,) for name in group if name in edges[name])
        if len(group) > 1:
            start = min(group, key=order.__getitem__)
            found.append(_path_back(start, _without_loops(edges, group), frozenset(group)))
    return sorted(found, key=lambda path: order[path[0]])


def causes(trigger: Trigger) -> frozenset[Cause]:
    """What can make the trigger hold without the help of a clock."""
    match trigger:
        case CronTrigger() | ElapsedTrigger():
            return frozenset()
        case RunTrigger():
            return frozenset({("run", trigger.program)})
        case PartitionsTrigger() | SizeTrigger():
            return frozenset({("partitions", trigger.dataset)})
        case AnyTrigger() | AllTrigger() | AtLeastTrigger() | SequenceTrigger():
            return frozenset() if _needs_clock(trigger) else _causes_of(trigger.of)
        case _:
            assert_never(trigger)


def _causes_of(members: tuple[Trigger, ...]) -> frozenset[Cause]:
    return frozenset(cause for member in members for cause in causes(member))


def _needs_clock(trigger: Trigger) -> bool:
    if trigger.wait_at_most is not None:
        return False
    match trigger:
        case CronTrigger() | ElapsedTrigger():
            return True
        case RunTrigger() | PartitionsTrigger() | SizeTrigger():
            return False
        case AnyTrigger():
            return all(_needs_clock(member) for member in trigger.of)
        case AllTrigger() | SequenceTrigger():
            return any(_needs_clock(member) for member in trigger.of)
        case AtLeastTrigger():
            return sum(not _needs_clock(member) for member in trigger.of) < trigger.n
        case _:
            assert_never(trigger)


def _edges(app: App) -> dict[str, tuple[str, ...]]:
    by_cause: defaultdict[Cause, list[str]] = defaultdict(list)
    for schedule in app.schedules.values():
        for cause in causes(schedule.trigger):
            by_cause[cause].append(schedule.name)
    return {s.name: tuple(_triggered(s, app, by_cause)) for s in app.schedules.values()}


def _triggered(schedule: Schedule, app: App, by_cause: defaultdict[Cause, list[str]]) -> Iterator[str]:
    yield from by_cause.get(("run", schedule.program), ())
    program = app.programs.get(schedule.program)
    for dataset in program.writes if program else ():
        yield from by_cause.get(("partitions", dataset), ())


def _strong_groups(edges: dict[str, tuple[str, ...]]) -> list[list[str]]:
    """Tarjan's strongly connected components, with a stack of its own: apps may hold 10,000 schedules."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    on_stack: set[str] = set()
    stack: list[str] = []
    groups: list[list[str]] = []
    for root, targets in edges.items():
        if root in index:
            continue
        work: list[tuple[str, Iterator[str]]] = [(root, iter(targets))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            node, coming = work[-1]
            following = next(coming, None)
            if following is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    groups.append(_unwind(stack, on_stack, node))
            elif following not in index:
                index[following] = low[following] = len(index)
                stack.append(following)
                on_stack.add(following)
                work.append((following, iter(edges[following])))
            elif following in on_stack:
                low[node] = min(low[node], index[following])
    return groups


def _unwind(stack: list[str], on_stack: set[str], until: str) -> list[str]:
    group: list[str] = []
    while True:
        node = stack.pop()
        on_stack.discard(node)
        group.append(node)
        if node == until:
            return group


def _without_loops(edges: dict[str, tuple[str, ...]], group: list[str]) -> dict[str, tuple[str, ...]]:
    return {name: tuple(other for other in edges[name] if other != name) for name in group}


def _path_back(start: str, edges: dict[str, tuple[str, ...]], group: frozenset[str]) -> tuple[str, ...]:
    """The shortest way from a schedule back to itself inside its group."""
    before: dict[str, str] = {}
    coming = deque([start])
    while True:
        node = coming.popleft()
        for following in edges[node]:
            if following == start:
                path = [node]
                while path[-1] != start:
                    path.append(before[path[-1]])
                return tuple(reversed(path))
            if following in group and following not in before:
                before[following] = node
                coming.append(following)
