"""The `window` constraint: wall-clock hours [from, to) in which a job may be launched."""

from datetime import time

from tidegate.compiler.diagnostics.diagnostic import Related
from tidegate.compiler.reader.node import MappingNode
from tidegate.compiler.scope.scope import Scope
from tidegate.compiler.values.calendar import calendar_at
from tidegate.compiler.values.texts import zone_of
from tidegate.domain.model import At, WindowConstraint
from tidegate.domain.time.calendar import ever_a_business_day
from tidegate.domain.wording import listed, shown


def build_window(node: MappingNode, at: At, scope: Scope) -> WindowConstraint | None:
    """Build a window of a schedule, or of an operation; return None after reporting an error."""
    from_, to = (
        time.fromisoformat(node.text("from")),
        time.fromisoformat(node.text("to")),
    )
    if from_ == to:
        scope.findings.add(
            "V204",
            node.values["to"],
            f"a window is [from, to) and is empty if from = to, got {shown(node.text('to'))} for both",
            "change one of the two; for the whole day leave the window out",
            (Related(at=scope.at(node.values["from"]), note="`from` is here"),),
        )
        return None
    calendar = calendar_at(node, scope)
    if calendar is None and "calendar" in node.values:
        return None
    days = tuple(str(n.value) for n in node.strings("days"))
    window = WindowConstraint(
        from_=from_,
        to=to,
        days=days,  # pyright: ignore[reportArgumentType] - each one of the schema's enum
        timezone=zone_of(node, scope),
        calendar=calendar,
        otherwise="skip" if node.text("otherwise") == "skip" else "wait",
        at=at,
    )
    return window if _ever_opens(window, node, scope) else None


def _ever_opens(window: WindowConstraint, node: MappingNode, scope: Scope) -> bool:
    """Return whether the window's days can be business days; report days that cannot."""
    calendar = window.calendar
    if calendar is None or not window.days or ever_a_business_day(window.days, calendar):
        return True
    scope.findings.add(
        "V204",
        node.values["days"],
        f"a window opens on business days, got {listed(window.days, 'and')},"
        f' which are never business days of calendar "{calendar.name}"',
        "add a business day to `days`, or delete one of `days` and `calendar`",
    )
    return False
