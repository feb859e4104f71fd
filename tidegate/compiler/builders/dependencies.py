"""The reader of `depends_on`: what a task names as its upstream tasks, before the names are resolved.

The names can be resolved, and further tasks detected, once the tasks of all files are known:
`compiler.upstream` does it.
"""

from typing import cast

from tidegate.compiler.reader.node import MappingNode, Node, ScalarNode
from tidegate.compiler.scope.scope import Scope
from tidegate.domain.model import Dependency, Select
from tidegate.domain.part_name import name_in
from tidegate.domain.value import Value

SELF = "self"
"""The word for the task's own previous instance."""


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


def read_depends_on(node: MappingNode, task: str, app: str) -> DependsOn:
    """Return what a task says of its upstream tasks; its shape has been checked.

    Args:
        task: its name.
        app: the name of its app.
    """
    written = node.get("depends_on")
    if written is None:
        return DependsOn()
    if not isinstance(written, MappingNode):
        return DependsOn(detected=False, named=_named(node.items("depends_on"), task, app))
    dropped = {name_in(app, str(name.value)): name for name in written.strings("drop")}
    return DependsOn(
        detected=written.flag("detected", True),
        named=_named(written.items("add"), task, app),
        dropped=dropped,
    )


def check_depends_on(node: MappingNode, task: str, scope: Scope) -> bool:
    """Return whether no `self` has an option that it cannot have; report the others."""
    sound = True
    for member in _members(node):
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


def _named(nodes: tuple[Node, ...], task: str, app: str) -> tuple[Named, ...]:
    places = ((node, node.get("task") if isinstance(node, MappingNode) else node) for node in nodes)
    return tuple(_one(node, place, task, app) for node, place in places if isinstance(place, ScalarNode))


def _one(node: Node, place: ScalarNode, task: str, app: str) -> Named:
    itself = place.value == SELF
    name = task if itself else name_in(app, str(place.value))
    select = node.text("select") or None if isinstance(node, MappingNode) else None
    previous = isinstance(node, MappingNode) and node.text("period") == "previous" and not itself
    dependency = Dependency(
        task=name,
        itself=itself,
        select=None if itself else cast("Select | None", select),
        period="previous" if previous else "same",
    )
    return Named(dependency=dependency, place=place)
