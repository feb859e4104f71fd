"""The rules for the members of a trigger: doubled, waiting without end, and `collect_existing`.

The warning for a member that a composite has twice: the second one changes nothing, or counts twice. In a
`sequence` the same member may come twice in turn.

The warning for a trigger that may wait without end for one of several members (rule 20). It concerns only a
composite without a time limit that needs events of two members: there, one lost delivery silently stops a
pipeline. A single trigger needs no other member, and a clock always fires.
"""

from typing import Any, cast

from tidegate.compiler.diagnostics.diagnostic import Place, Related
from tidegate.compiler.fingerprint import canonical
from tidegate.compiler.reader.node import MappingNode
from tidegate.compiler.rules.references import nested_triggers
from tidegate.compiler.scope.scope import Scope
from tidegate.domain.model import At, Composite, Schedule, Trigger, leaves_with_existing
from tidegate.domain.time.cron import parse


def check_doubled(trigger: Trigger, scope: Scope) -> None:
    """Warn of equal members of each composite."""
    if not isinstance(trigger, Composite):
        return
    first: list[tuple[dict[str, Any], At | None]] = []
    for member in trigger.of:
        check_doubled(member, scope)
        form = _spelled_out(canonical(member))
        earlier = next((at for known, at in first if known == form), None)
        first.append((form, member.at))
        if earlier is None or member.at is None or trigger.in_turn:
            continue
        scope.findings.add(
            "V231",
            member.at,
            f"the members of `{trigger.kind}` differ, got `{member.one_line()}` twice",
            "delete one of the two",
            (Related(at=earlier, note="the first one is here"),),
        )


def _spelled_out(form: Any) -> Any:
    """Return a canonical form with its cron patterns spelled out: `@daily` equals `0 0 * * *`."""
    if isinstance(form, list):
        return [_spelled_out(member) for member in cast("list[Any]", form)]
    if not isinstance(form, dict):
        return form
    members = cast("dict[str, Any]", form)
    return {
        key: parse(member).expanded if key == "cron" else _spelled_out(member)
        for key, member in members.items()
    }


def check_waiting(schedule: Schedule, place: Place, scope: Scope) -> None:
    """Warn of a schedule whose job may wait for a member without a time limit."""
    if schedule.timeout.from_ == "first_event":
        return
    waiting = _waits_unbounded(schedule.trigger)
    if waiting is None:
        return
    scope.findings.add(
        "L406",
        waiting.at if waiting.at is not None else place,
        f"a job that lacks one member of `{waiting.kind}` waits without end, got no `wait_at_most`",
        f"add `wait_at_most: 3h` beside `{waiting.kind}`, or `from: first_event` to the timeout",
    )


def _waits_unbounded(trigger: Trigger) -> Composite | None:
    if not isinstance(trigger, Composite) or _bounded(trigger):
        return None
    members = [member for member in trigger.of if not (_bounded(member) or _clock(member))]
    lacking = trigger.needed - (len(trigger.of) - len(members))
    if lacking > 1:
        return trigger
    waiting = [_waits_unbounded(member) for member in members]
    return waiting[0] if lacking == 1 and waiting and None not in waiting else None


def _bounded(trigger: Trigger) -> bool:
    return trigger.wait_at_most is not None or trigger.collect_within is not None


def _clock(trigger: Trigger) -> bool:
    return not isinstance(trigger, Composite) and trigger.fires_by_clock


def check_collect_existing(schedule: Schedule, node: MappingNode, scope: Scope) -> None:
    """Warn of a `collect_existing` of a schedule or trigger under which no dataset is counted."""
    if schedule.collect_existing and not any(leaves_with_existing(schedule.trigger, asked=True)):
        _warn(node, scope)
    trigger = node.mapping("trigger")
    for place in () if trigger is None else nested_triggers(trigger):
        if place.flag("collect_existing", False) and not any(
            {"partitions", "size"} & member.keys.keys() for member in nested_triggers(place)
        ):
            _warn(place, scope)


def _warn(node: MappingNode, scope: Scope) -> None:
    scope.findings.add(
        "L450",
        node.keys["collect_existing"],
        "`collect_existing` collects events of a dataset, got it where none is counted",
        "delete it, or move it to a `partitions` or `size` trigger",
    )
