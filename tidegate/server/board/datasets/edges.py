"""The edges of the graph: what programs read and write, and what schedules start them."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tidegate.domain.model import Program
from tidegate.domain.model.triggers.tree import leaves
from tidegate.domain.part_name import name_of, whole_name
from tidegate.domain.value import Value
from tidegate.scheduler.model.deployed import ScheduleState

TRIGGER = "trigger"


class Edge(Value, frozen=True, kw_only=True):
    """An arrow between two nodes, "dataset:app/name" or "program:app/name".

    Attributes:
        label: what happens along it.
        kind: flow of rows, or trigger.
        schedules: of a trigger: those that start the program, "app/name".
    """

    source: str
    target: str
    label: str
    kind: str = "flow"
    schedules: tuple[str, ...] = ()


def flows(programs: Iterable[Program], app: str) -> tuple[list[Edge], list[Edge]]:
    """Return the edges of what programs read, and of what they write."""
    reads: list[Edge] = []
    writes: list[Edge] = []
    for program in programs:
        own = f"program:{app}/{program.name}"
        reads += [Edge(source=_dataset(app, each), target=own, label="reads") for each in program.reads]
        writes += [Edge(source=own, target=_dataset(app, each), label="writes") for each in program.writes]
    return reads, writes


def triggers(states: Sequence[ScheduleState]) -> list[Edge]:
    """Return the edges of what starts the programs of schedules: one for all schedules between two nodes."""
    found: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for state in states:
        for source, line in _heard(state):
            target = f"program:{whole_name(state.app, state.spec.program)}"
            if source != target:
                found.setdefault((source, target), []).append((state.ref, line))
    return [
        Edge(
            source=source,
            target=target,
            label="; ".join(f"{name_of(ref)}: {line}" for ref, line in heard[:LINES_MAX])
            + (f"; and {len(heard) - LINES_MAX} more" if len(heard) > LINES_MAX else ""),
            kind=TRIGGER,
            schedules=tuple(dict.fromkeys(ref for ref, _ in heard)),
        )
        for (source, target), heard in found.items()
    ]


class Ends(NamedTuple):
    """What edges lead from and to each dataset: the programs that write it and read it, and the schedules
    that its partitions start.
    """

    writers: dict[str, list[str]]
    readers: dict[str, list[str]]
    starts: dict[str, list[str]]


def ends_of(edges: Iterable[Edge]) -> Ends:
    """Return what edges lead from and to each dataset, by its whole name."""
    found = Ends({}, {}, {})
    for edge in edges:
        (kind, _, source), (_, _, target) = edge.source.partition(":"), edge.target.partition(":")
        if edge.kind == TRIGGER:
            if kind == "dataset":
                found.starts.setdefault(source, []).extend(edge.schedules)
        elif kind == "dataset":
            found.readers.setdefault(source, []).append(target)
        else:
            found.writers.setdefault(target, []).append(source)
    return found


LINES_MAX = 10
"""Triggers that a label spells."""


def _heard(state: ScheduleState) -> Iterable[tuple[str, str]]:
    """Yield the nodes that a schedule listens to, each with what it waits for there."""
    if not state.spec.program:
        return
    for leaf in leaves(state.spec.trigger):
        dataset, runs = leaf.trigger.dataset_heard, leaf.trigger.runs_heard(state.spec.program)
        if dataset is not None:
            yield _dataset(state.app, dataset), leaf.trigger.one_line()
        if runs is not None:
            yield f"program:{whole_name(state.app, runs[0])}", leaf.trigger.one_line()


def _dataset(app: str, name: str) -> str:
    return f"dataset:{whole_name(app, name)}"
