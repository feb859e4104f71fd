"""Reads the `examples:` of an app into scenarios, with a diagnostic for every mistake.

The JSON Schema has checked every shape; what has a wrong one is left out here. What is left to
check needs the app: its names, its partition schemes, and whether instants lie within the
example. One wrong example yields no scenario and hides no other.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from itertools import chain
from typing import TypeVar, cast

from tidegate.compiler.diagnostics.diagnostic import Findings
from tidegate.compiler.reader import read
from tidegate.compiler.reader.node import MappingNode, ScalarNode
from tidegate.compiler.scenarios.actions import is_inside, read_given
from tidegate.compiler.scenarios.expectations import read_expectation
from tidegate.compiler.scenarios.model.scenario import Behaviour, Scenario, SimulatedEnd
from tidegate.compiler.scenarios.scope import NO_DURATION, Brought, ExampleScope
from tidegate.compiler.schema.check import EXAMPLES, Broken, Path
from tidegate.domain.model import App
from tidegate.domain.part_name import whole_name
from tidegate.domain.wording import shown

T = TypeVar("T")

BEHAVIOUR_AT = "@"
"""Between a program and the scheduled time of a task, in a key of `programs`."""


def read_scenarios(root: MappingNode, app: App, findings: Findings, broken: Broken) -> tuple[Scenario, ...]:
    """Return the scenarios of an app's `examples:`; those with a mistake are left out and reported."""
    if EXAMPLES in broken:
        return ()
    scenarios: list[Scenario] = []
    for number, node in enumerate(root.items("examples")):
        if isinstance(node, MappingNode):
            path = (*EXAMPLES, number)
            scope = ExampleScope(root, app, findings, broken, brought(node, path, app, broken))
            scenario = read_scenario(node, path, scope)
            if scenario is not None:
                _check_name(scenario, scenarios, node, findings)
                scenarios.append(scenario)
    return tuple(scenarios)


def brought(node: MappingNode, path: Path, app: App, broken: Broken) -> Brought | None:
    """Return the parts that the deployments of an example bring; None if one is a file.

    Mistakes in a deployed text are reported when the example is played.
    """
    found: dict[str, set[str]] = {"schedules": set(), "programs": set(), "datasets": set()}
    for number, given in enumerate(node.items("given")):
        deploy = given.get("deploy") if isinstance(given, MappingNode) else None
        if not isinstance(deploy, MappingNode) or (*path, "given", number) in broken:
            continue
        if is_inside(deploy.text("file")):
            return None
        text, _ = read("deploy", deploy.text("app").encode())
        if text is not None and text.text("app") == app.name:
            for section in ("schedules", "tasks", "programs"):
                parts = text.mapping(section)
                of = "schedules" if section == "tasks" else section
                found[of].update(parts.values if parts is not None else ())
            datasets = text.mapping("datasets")
            found["datasets"].update(whole_name(app.name, n) for n in (datasets.values if datasets else ()))
    return {section: frozenset(names) for section, names in found.items()}


def _check_name(scenario: Scenario, earlier: list[Scenario], node: MappingNode, findings: Findings) -> None:
    if any(other.name == scenario.name for other in earlier):
        summary = f"the name of an example is unique, got {shown(scenario.name)} again"
        findings.add("N306", node.values["name"], summary, "choose a name that says what this example shows")


def read_scenario(node: MappingNode, path: Path, scope: ExampleScope) -> Scenario | None:
    """Return one example, or None if it has mistakes, which are reported.

    Args:
        path: where the example is in what the schema has checked.
    """
    before = len(scope.findings.diagnostics())
    scope.start = scope.instant(scope.sound(node, path, "start"), "`start`")
    if scope.start is None:
        return None
    scope.until = scope.instant(scope.sound(node, path, "until"), "`until`")
    within = scope.duration(scope.sound(node, path, "within")) or NO_DURATION
    behaviours = _behaviours(node.mapping("programs"), (*path, "programs"), scope)
    given = [read_given(one, scope) for one in scope.sound_members(node, path, "given")]
    expect = [read_expectation(one, within, scope) for one in scope.sound_members(node, path, "expect")]
    only = [scope.schedule_or_table(one) for one in scope.sound_members(node, path, "expect_only")]
    if path in scope.broken or len(scope.findings.diagnostics()) > before:
        return None
    return Scenario(
        name=node.text("name"),
        start=scope.start,
        until=scope.until or _default_until(scope.start, scope.instants),
        behaviours=behaviours,
        given=_all(given),
        expect=_all(expect),
        expect_only=tuple(chain(*_all(only))) if node.get("expect_only") is not None else None,
        at=scope.findings.at(node),
    )


def _default_until(start: datetime, instants: list[datetime]) -> datetime:
    """Return the last instant that the example speaks of, or a day where it speaks of none but the start."""
    last = max((instant for instant in instants), default=start)
    return last if last > start else start + timedelta(days=1)


def _all(parts: Iterable[T | None]) -> tuple[T, ...]:
    return tuple(part for part in parts if part is not None)


def _program(key: ScalarNode) -> ScalarNode:
    """Return the program of a key of `programs`: "load" of "load@2026-03-10"."""
    name, _, at = str(key.value).partition(BEHAVIOUR_AT)
    return ScalarNode(name, key.line, key.column, key.end_column) if at else key


def _behaviours(node: MappingNode | None, path: Path, scope: ExampleScope) -> dict[str, Behaviour]:
    found: dict[str, Behaviour] = {}
    default = Behaviour()
    for name, key in node.keys.items() if node else ():
        spec = node.mapping(name) if node and (*path, name) not in scope.broken else None
        if spec is not None and scope.name(_program(key), "program") is not None:
            takes = scope.duration(spec.get("takes"))
            one = spec.text("ends")
            ends = (one,) if one else tuple(str(end.value) for end in spec.strings("ends"))
            found[name] = Behaviour(
                takes=default.takes if takes is None else takes,
                ends=cast("tuple[SimulatedEnd, ...]", ends) or default.ends,
            )
    return found
