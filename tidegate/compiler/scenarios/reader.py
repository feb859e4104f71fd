"""Reads the `examples:` of an app into scenarios, with a diagnostic for every mistake.

The schema has seen to the frame of an example, `scenario_parts` reads its actions and its
expectations, and `scenario_scope` their values. One wrong example yields none and hides no
other.
"""

from datetime import datetime, timedelta
from typing import cast

from tidegate.compiler.diagnostics.diagnostic import Findings
from tidegate.compiler.reader.node import MappingNode
from tidegate.compiler.scenarios.parts import read_expectations, read_given
from tidegate.compiler.scenarios.scenario import Behaviour, RunEnd, Scenario
from tidegate.compiler.scenarios.scope import ENDS, NO_DURATION, ExampleScope
from tidegate.domain.model import App
from tidegate.domain.wording import shown


def read_scenarios(root: MappingNode, app: App, findings: Findings) -> tuple[Scenario, ...]:
    """The scenarios of an app's `examples:`; those with a mistake are left out and reported."""
    scenarios: list[Scenario] = []
    for node in root.items("examples"):
        if isinstance(node, MappingNode):
            scenario = read_scenario(node, ExampleScope(root, app, findings))
            if scenario is not None:
                _check_name(scenario, scenarios, node, findings)
                scenarios.append(scenario)
    return tuple(scenarios)


def _check_name(scenario: Scenario, earlier: list[Scenario], node: MappingNode, findings: Findings) -> None:
    if any(other.name == scenario.name for other in earlier):
        summary = f"the name of an example is its own, got {shown(scenario.name)} again"
        findings.add("N306", node.values["name"], summary, "say in its name what this one shows")


def read_scenario(node: MappingNode, scope: ExampleScope) -> Scenario | None:
    """One example, or None after reporting its mistakes. The schema has seen to its frame."""
    before = len(scope.findings.diagnostics())
    scope.start = scope.instant(node.get("start"), "`start`")
    if scope.start is None:
        return None
    scope.until = scope.instant(node.get("until"), "`until`")
    within = scope.duration(node.get("within"), "`within`") or NO_DURATION
    behaviours = _behaviours(node, scope)
    given = read_given(node.items("given"), scope)
    expect = read_expectations(node.items("expect"), within, scope)
    only = None
    if node.get("expect_only") is not None:
        named = [scope.name(item, "schedule") for item in node.items("expect_only")]
        only = tuple(name for name in named if name is not None)
    if len(scope.findings.diagnostics()) > before or not node.text("name"):
        return None
    return Scenario(
        name=node.text("name"),
        start=scope.start,
        until=scope.until or _default_until(scope.start, scope.instants),
        behaviours=behaviours,
        given=given,
        expect=expect,
        expect_only=only,
        at=scope.findings.at(node),
    )


def _default_until(start: datetime, instants: list[datetime]) -> datetime:
    """The last instant that the example speaks of, or a day where it speaks of none but the start."""
    last = max((instant for instant in instants), default=start)
    return last if last > start else start + timedelta(days=1)


def _behaviours(node: MappingNode, scope: ExampleScope) -> dict[str, Behaviour]:
    found: dict[str, Behaviour] = {}
    programs = node.mapping("programs")
    for name, key in programs.keys.items() if programs else ():
        label = f"`{name}`"
        scope.name(key, "program")
        spec = scope.members(programs.values[name], label, ("takes", "ends")) if programs else None
        if spec is None:
            continue
        takes = scope.duration(spec.get("takes"), "`takes`")
        ends = scope.word(spec.get("ends"), "`ends`", ENDS)
        default = Behaviour()
        found[name] = Behaviour(
            takes=default.takes if takes is None else takes,
            ends=default.ends if ends is None else cast("RunEnd", ends),
        )
    return found
