"""The reader of `depends_on`: what a task names as its upstream tasks, before the names are resolved.

The names can be resolved, and further tasks detected, once the tasks of all files are known:
`compiler.upstream` does it.
"""

from datetime import timedelta
from typing import cast

from tidegate.compiler.reader.node import MappingNode, Node, ScalarNode
from tidegate.compiler.scope.scope import Scope
from tidegate.compiler.values.texts import duration_at
from tidegate.domain.duration import DurationError, parse_duration
from tidegate.domain.model import Day, Dependency, Select
from tidegate.domain.model.triggers.task import Period
from tidegate.domain.part_name import name_in
from tidegate.domain.value import Value

SELF = "self"
"""The word for the task's own previous instance."""


NAMED_PERIODS = ("same", "previous", "week", "month", "year")
"""The values of `period` besides durations."""


class Named(Value, kw_only=True):
    """An upstream task that is named, with its node."""

    dependency: Dependency
    place: ScalarNode


class DependsOn(Value, kw_only=True):
    """What the YAML says of the upstream tasks.

    Attributes:
        detected: the tasks that write what the program reads count too.
        named: the tasks that it lists, or adds.
        dropped: the detected tasks that do not count, by name as the app has it.
    """

    detected: bool = True
    named: tuple[Named, ...] = ()
    dropped: dict[str, ScalarNode] = {}


def read_depends_on(node: MappingNode, task: str, app: str, week_starts: Day = "sun") -> DependsOn:
    """Return what a task says of its upstream tasks; its shape has been checked."""
    written = node.get("depends_on")
    if written is None:
        return DependsOn()
    if not isinstance(written, MappingNode):
        return DependsOn(detected=False, named=_named(node.items("depends_on"), task, app, week_starts))
    dropped = {name_in(app, str(name.value)): name for name in written.strings("drop")}
    return DependsOn(
        detected=written.flag("detected", True),
        named=_named(written.items("add"), task, app, week_starts),
        dropped=dropped,
    )


def check_depends_on(node: MappingNode, task: str, scope: Scope) -> bool:
    """Return whether each `period` is one, and no `self` has options; report the others."""
    sound = True
    for member in _members(node):
        period = member.get("period") if isinstance(member, MappingNode) else None
        if isinstance(period, ScalarNode) and period.value not in NAMED_PERIODS:
            sound = duration_at(period, scope) is not None and sound
        name = member.get("task") if isinstance(member, MappingNode) else None
        if not isinstance(member, MappingNode) or not isinstance(name, ScalarNode) or name.value != SELF:
            continue
        for key in ("select", "period"):
            if key in member.keys:
                sound = False
                scope.findings.add(
                    "L443",
                    member.keys[key],
                    f"`self` is the previous instance of {task}, got `{key}` beside it",
                    f"delete `{key}`, or name another task",
                )
    return sound


def _members(node: MappingNode) -> tuple[Node, ...]:
    corrections = node.mapping("depends_on")
    return node.items("depends_on") if corrections is None else corrections.items("add")


def _named(nodes: tuple[Node, ...], task: str, app: str, week_starts: Day) -> tuple[Named, ...]:
    places = ((node, node.get("task") if isinstance(node, MappingNode) else node) for node in nodes)
    return tuple(
        _one(node, place, task, app, week_starts) for node, place in places if isinstance(place, ScalarNode)
    )


def _one(node: Node, place: ScalarNode, task: str, app: str, week_starts: Day) -> Named:
    itself = place.value == SELF
    name = task if itself else name_in(app, str(place.value))
    select = node.text("select") or None if isinstance(node, MappingNode) else None
    written = node.text("period", "same") if isinstance(node, MappingNode) and not itself else "same"
    within = None if written in NAMED_PERIODS else _span(written)
    dependency = Dependency(
        task=name,
        itself=itself,
        select=None if itself else cast("Select | None", select),
        period=cast("Period", written) if written in NAMED_PERIODS else "same" if within is None else "span",
        within=within,
        week_starts=week_starts if written == "week" else "sun",
    )
    return Named(dependency=dependency, place=place)


def _span(text: str) -> timedelta | None:
    """Return the length of a span; None for what `check_depends_on` reports."""
    try:
        return parse_duration(text)
    except DurationError:
        return None
