"""The warning for a member that a composite has twice: the second one changes nothing, or counts twice.

In a `sequence` the same member may come twice in turn.
"""

from typing import Any, cast

from tidegate.compiler.diagnostics.diagnostic import Related
from tidegate.compiler.fingerprint import canonical
from tidegate.compiler.scope.scope import Scope
from tidegate.domain.model import At, Composite, Trigger
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
