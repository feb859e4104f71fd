"""The registry of the kinds of triggers, and the function that builds any of them.

The registry is the only place that lists the kinds. Each kind has a file of its own.
"""

from tidegate.compiler.reader.node import MappingNode, Node
from tidegate.compiler.scope.scope import Scope
from tidegate.compiler.triggers import at_least, composites, cron, elapsed, partitions, run, size
from tidegate.compiler.triggers.kind import Options, TriggerKind, Written
from tidegate.compiler.values.texts import duration_at
from tidegate.domain.duration import duration_text
from tidegate.domain.model import Trigger
from tidegate.domain.wording import shown

KINDS: dict[str, TriggerKind] = {
    kind.key: kind
    for kind in (
        cron.KIND,
        partitions.KIND,
        size.KIND,
        run.KIND,
        elapsed.KIND,
        composites.ALL,
        composites.ANY,
        at_least.KIND,
        composites.SEQUENCE,
    )
}

RESERVED = ("bytes", "count", "first_event_time", "partitions", "rows", "run")
"""The values that every trigger has: `{{ trigger.count }}` is not the member `count`."""

MAX_TRIGGER_DEPTH = 8
"""Nested composites; a deeper condition is easier to read in two schedules."""


def build_trigger(node: Node | None, scope: Scope, program: str, depth: int = 1) -> Trigger | None:
    """Return the trigger that a node describes; None after an error has been reported.

    Args:
        program: of the schedule, "" if it has none that is known.
    """
    if not isinstance(node, MappingNode):
        return None
    found = [key for key in node.keys if key in KINDS]
    if len(found) != 1:
        return None
    if depth > MAX_TRIGGER_DEPTH:
        scope.findings.add(
            "L409",
            node.keys[found[0]],
            f"triggers nest at most {MAX_TRIGGER_DEPTH} deep, got {depth}",
            "move a part into a schedule of its own, and wait for its run",
        )
        return None
    written = Written(
        node=node,
        options=_options(node, found[0], scope),
        program=program,
        member=lambda member: build_trigger(member, scope, program, depth + 1),
    )
    return KINDS[found[0]].build(written, scope)


def _name(node: MappingNode, scope: Scope) -> str | None:
    """Return the name of a trigger; one that a reference could not tell from a value is reported."""
    name = node.text("as") or None
    if name in RESERVED:
        scope.findings.add(
            "V217",
            node.values["as"],
            f"`as` gives a name that is not a value of `trigger`, got {shown(name)}",
            f"choose another name than {', '.join(RESERVED)}",
        )
    return name


def _options(node: MappingNode, kind: str, scope: Scope) -> Options:
    """Return the options beside the kind's key."""
    options = Options(
        wait_at_most=duration_at(node.get("wait_at_most"), scope),
        quiet=duration_at(node.get("quiet"), scope),
        quiet_at_most=duration_at(node.get("quiet_at_most"), scope),
        collect_within=duration_at(node.get("collect_within"), scope),
        collect_existing=node.flag("collect_existing", False),
        as_=_name(node, scope),
        at=scope.at(node.keys[kind]),
    )
    _check_quiet(node, options, scope)
    return options


def _check_quiet(node: MappingNode, options: Options, scope: Scope) -> None:
    """Report a `quiet` that cannot end before other options of the trigger do."""
    quiet, at_most, within = options["quiet"], options["quiet_at_most"], options["collect_within"]
    if quiet is None:
        return
    if at_most is not None and at_most < quiet:
        scope.findings.add(
            "V211",
            node.values["quiet_at_most"],
            f"`quiet_at_most` is at least `quiet`, got {duration_text(at_most)} for"
            f" a quiet of {duration_text(quiet)}",
            "give a longer `quiet_at_most`, or leave it out to wait for silence however long it takes",
        )
    waits = options["wait_at_most"]
    if within is not None and within < quiet and (waits is None or waits > within):
        # What the trigger has collected drops out before it has been quiet for long enough.
        scope.findings.add(
            "V211",
            node.values["quiet"],
            f"`quiet` is at most `collect_within`, after which every event has dropped out,"
            f" got {duration_text(quiet)} for a collect_within of {duration_text(within)}",
            "write a shorter `quiet`, or a longer `collect_within`",
        )
