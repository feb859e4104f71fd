"""The builders of what happens when a job fails, is late or was early: `retries`, `deadline`, `repair`.

`retries` is a number of further attempts, or a mapping with their pauses. `deadline` is a time of the day, a
duration after the trigger, or a mapping with both ends. `repair` is `true`, or a mapping with its bounds.
`alerts` has the channels of each kind of alert, or one list for all kinds.
"""

from datetime import timedelta
from typing import cast

import msgspec

from tidegate.compiler.reader.node import MappingNode, ScalarNode, plain
from tidegate.compiler.scope.scope import Scope
from tidegate.compiler.values.fields import read_value
from tidegate.compiler.values.texts import duration_at
from tidegate.domain.duration import duration_hint
from tidegate.domain.model import Deadline, Repair, Retries
from tidegate.domain.model.shared import KINDS, Routes
from tidegate.domain.time.clock_text import clock_hint, clock_time
from tidegate.domain.wording import shown

NO_WAIT = timedelta(0)


def build_retries(schedule: MappingNode, scope: Scope) -> Retries | None:
    """Build the retries of a schedule; None without the key. A wrong pause is reported, and left out."""
    written = schedule.get("retries")
    if written is None:
        return None
    at = scope.at(schedule.keys["retries"])
    if not isinstance(written, MappingNode):
        return Retries(max=schedule.number("retries", 0), at=at)
    wait = duration_at(written.get("wait"), scope, minimum=NO_WAIT)
    if "backoff" in written.keys and not wait:
        scope.findings.add(
            "V209",
            written.keys["backoff"],
            f"`backoff` multiplies `wait`, got {shown(written.decimal('backoff', 1.0))} without a `wait`",
            "write for example wait: 1m, or delete `backoff`",
        )
    return Retries(
        max=written.number("max", 0), wait=wait or NO_WAIT, backoff=written.decimal("backoff", 1.0), at=at
    )


def build_deadline(node: MappingNode, scope: Scope) -> Deadline | None:
    """Build the deadline of a schedule or task; None without the key, or after reporting an error."""
    written = node.get("deadline")
    if written is None:
        return None
    at = scope.at(node.keys["deadline"])
    if isinstance(written, MappingNode):
        return read_value(Deadline, written, scope, at)
    text = str(written.value) if isinstance(written, ScalarNode) else ""
    by = clock_time(text)
    if by is not None:
        return Deadline(by=by, at=at)
    meant = None if duration_hint(text) else clock_hint(text)
    if meant is not None:
        rule = 'a deadline is a time of the day such as "08:00", or a duration'
        scope.findings.add("V201", written, f"{rule}, got {shown(text)}", meant)
        return None
    return read_value(Deadline, written, scope, at, short="within")


def build_repair(node: MappingNode, scope: Scope) -> Repair | None:
    """Build the repair of a schedule; None without one. A wrong duration is reported, and left out."""
    written = node.get("repair")
    if written is None or not (isinstance(written, MappingNode) or node.flag("repair", False)):
        return None
    found, at = Repair(), scope.at(node.keys["repair"])
    if not isinstance(written, MappingNode):
        return msgspec.structs.replace(found, at=at)
    return Repair(
        after=duration_at(written.get("after"), scope) or found.after,
        at_most=written.number("at_most", found.at_most),
        within=duration_at(written.get("within"), scope) or found.within,
        at=at,
    )


def build_alerts(node: MappingNode) -> Routes:
    """Build the routes of an app, schedule or task; without the key none, so that those around it count."""
    written = node.get("alerts")
    if written is None:
        return {}
    if isinstance(written, MappingNode):
        return {kind: _channels(plain(channels)) for kind, channels in written.values.items()}
    return dict.fromkeys(KINDS, _channels(plain(written)))


def _channels(written: object) -> tuple[str, ...]:
    names = [written] if isinstance(written, str) else cast("list[str]", written)
    return tuple(dict.fromkeys(names))
