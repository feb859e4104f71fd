"""The rule for `renamed_from`: a former name belongs to one part, and nothing else has it now."""

from collections.abc import Collection

from tidegate.compiler.diagnostics.diagnostic import Findings, Related
from tidegate.compiler.reader.node import MappingNode, ScalarNode
from tidegate.compiler.values.renamed_from import former_names
from tidegate.domain.wording import shown, with_article


def check_former_names(root: MappingNode, findings: Findings) -> None:
    """Report a former name of a dataset or program that its section still has, or that two parts claim."""
    for section, what in (("datasets", "dataset"), ("programs", "program")):
        parts = root.mapping(section)
        claimed: dict[str, ScalarNode] = {}
        known = {} if parts is None else parts.values
        for node in (each for each in known.values() if isinstance(each, MappingNode)):
            for name in former_names(node):
                earlier = claimed.setdefault(str(name.value), name)
                if name.value in known:
                    _refuse(what, name, findings)
                elif earlier is not name:
                    findings.add(
                        "N350",
                        name,
                        f"a former name belongs to one {what}, got {shown(name.value)} again",
                        "delete one of the two",
                        (Related(at=findings.at(earlier), note="the first one is here"),),
                    )


def check_former_app(root: MappingNode, apps: Collection[str], findings: Findings) -> None:
    """Report a former name of an app that another file still has."""
    for name in former_names(root):
        if name.value in apps:
            _refuse("app", name, findings)


def _refuse(what: str, name: ScalarNode, findings: Findings) -> None:
    findings.add(
        "N350",
        name,
        f"`renamed_from` names {with_article(what)} that is gone, got {shown(name.value)}, which exists",
        f"delete `renamed_from`, or the {what} of that name",
    )
