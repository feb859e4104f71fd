"""The rule for `renamed_from`: a former name belongs to one part of the app, and nothing else has it now."""

from collections.abc import Collection

from tidegate.compiler.diagnostics.diagnostic import Findings, Related
from tidegate.compiler.reader.node import MappingNode, ScalarNode
from tidegate.compiler.rules.namespaces import Namespaces
from tidegate.compiler.values.texts import former_name, former_names, renamed_from
from tidegate.domain.part_name import app_of, namespace_and_app, without_namespace
from tidegate.domain.wording import shown, with_article

SECTIONS = (
    {"datasets": "dataset"},
    {"programs": "program"},
    {"schedules": "schedule", "tasks": "task"},
)
"""The sections whose parts may have former names, with what a part is called; some share their names."""


def check_former_names(root: MappingNode, findings: Findings) -> None:
    """Report a former name of a part that the app still has, or that two parts claim."""
    for sections in SECTIONS:
        parts = [(what, node) for section, what in sections.items() if (node := root.mapping(section))]
        known = {name for _, node in parts for name in node.values}
        claimed: dict[str, ScalarNode] = {}
        for what, node in [(what, each) for what, part in parts for each in part.values.values()]:
            if isinstance(node, MappingNode):
                _check_part(root, what, node, known, claimed, findings)


def _check_part(
    root: MappingNode,
    what: str,
    node: MappingNode,
    known: Collection[str],
    claimed: dict[str, ScalarNode],
    findings: Findings,
) -> None:
    """Report the former names of a part that it cannot have had.

    Args:
        known: the names of the parts that share names with it.
        claimed: the former names of the parts before it.
    """
    for name in former_names(node):
        earlier = claimed.setdefault(former_name(name), name)
        if _is_of_other_app(root, name):
            findings.add(
                "N350",
                name,
                f"`renamed_from` names a former {what} of this app, got {shown(name.value)}",
                f"a {what} keeps its app: write its name alone, or {root.text('app')}/name",
            )
        elif former_name(name) in known:
            _refuse(what, name, findings)
        elif earlier is not name:
            findings.add(
                "N350",
                name,
                f"a former name belongs to one {what}, got {shown(name.value)} again",
                "delete one of the two",
                (Related(at=findings.at(earlier), note="the first one is here"),),
            )


def check_former_app(
    root: MappingNode, apps: Collection[str], namespaces: Namespaces, findings: Findings
) -> None:
    """Report a former name of an app that another file still has, or that is in another namespace."""
    for name in former_names(root):
        namespace, app = namespace_and_app(str(name.value))
        if app in apps:
            _refuse("app", name, findings)
        elif namespace and namespace not in (namespaces.own, namespaces.deployed().get(app)):
            findings.add(
                "N320",
                name,
                f'the app {app} is in the namespace "{namespaces.own}", got {shown(name.value)}',
                f"write {namespaces.own}/{app}, or {app}",
            )


def _is_of_other_app(root: MappingNode, name: ScalarNode) -> bool:
    whole = without_namespace(str(name.value))
    return "/" in whole and app_of(whole) not in (root.text("app"), *renamed_from(root))


def _refuse(what: str, name: ScalarNode, findings: Findings) -> None:
    findings.add(
        "N350",
        name,
        f"`renamed_from` names {with_article(what)} that is gone, got {shown(name.value)}, which exists",
        f"delete `renamed_from`, or the {what} of that name",
    )
