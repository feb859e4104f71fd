"""Names with a namespace, "analytics/feeds/raw": the app must be in the namespace that is named.

The namespace says nothing that the name of the app does not say already, and the builders leave it out. So
it is checked in one pass over all places of a file where a part is named.
"""

from collections.abc import Callable, Collection, Iterator, Mapping

from tidegate.compiler.diagnostics.diagnostic import Findings
from tidegate.compiler.reader import MappingNode, Node, ScalarNode, SequenceNode
from tidegate.domain.part_name import DEFAULT_NAMESPACE, app_of, namespace_of, without_namespace
from tidegate.domain.suggest import did_you_mean
from tidegate.domain.value import Value
from tidegate.domain.wording import shown

NAMING = frozenset(
    {
        *("dataset", "program", "task", "reads", "depends_on", "add", "drop", "table", "tables", "only"),
        "renamed_from",
    }
)
"""Keys below which parts are named; `path` and texts may have two slashes too."""


class Namespaces(Value, kw_only=True):
    """The namespaces of apps.

    Attributes:
        own: of the project whose files are compiled.
        deployed: returns those of the deployed apps by name; called when a name has a namespace.
    """

    own: str = DEFAULT_NAMESPACE
    deployed: Callable[[], Mapping[str, str]] = dict[str, str]


NO_NAMESPACES = Namespaces()
"""All apps are in the default namespace."""


def check_namespaces(root: Node, files: Collection[str], namespaces: Namespaces, findings: Findings) -> None:
    """Report names of parts whose app is in another namespace; an unknown app is reported where it is used.

    Args:
        root: a file, or one schedule or task.
        files: the names of the apps that are compiled.
    """
    places = list(_named(root, ""))
    if not places or findings.full:
        return
    known = {**namespaces.deployed(), **dict.fromkeys(files, namespaces.own)}
    for place in places:
        whole = str(place.value)
        namespace, rest = namespace_of(whole) or "", without_namespace(whole)
        actual = known.get(app_of(rest), namespace)
        if actual == namespace:
            continue
        names = {*known.values(), namespaces.own}
        advice = f"write {actual}/{rest}, or {rest}"
        if namespace not in names:
            advice = f"{did_you_mean(namespace, sorted(names), 'namespaces')}; {advice}"
        findings.add(
            "N320",
            place,
            f'the app {app_of(rest)} is in the namespace "{actual}", got {shown(whole)}',
            advice,
        )


def _named(node: Node, key: str) -> Iterator[ScalarNode]:
    """Yield the names with a namespace in a node below a key."""
    if isinstance(node, MappingNode):
        for name, child in node.values.items():
            yield from _named(child, name)
    elif isinstance(node, SequenceNode):
        for child in node.items:
            yield from _named(child, key)
    elif is_namespaced(node, key):
        yield node


def is_namespaced(node: ScalarNode, key: str) -> bool:
    """Return whether a scalar below a key is a name with a namespace."""
    return key in NAMING and isinstance(node.value, str) and namespace_of(node.value) is not None
