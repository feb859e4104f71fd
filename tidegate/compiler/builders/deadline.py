"""The builder of `deadline`: a time of the day, a duration after the trigger, or a mapping with both ends."""

import re
from datetime import time

from tidegate.compiler.reader.node import MappingNode, ScalarNode
from tidegate.compiler.scope.scope import Scope
from tidegate.compiler.values.duration import duration_at
from tidegate.domain.model import Deadline

_CLOCK = re.compile(r"([01][0-9]|2[0-3]):([0-5][0-9])")


def build_deadline(node: MappingNode, scope: Scope) -> Deadline | None:
    """Build the deadline of a schedule or task; None without the key, or after reporting an error."""
    written = node.get("deadline")
    if written is None:
        return None
    at = scope.at(node.keys["deadline"])
    if isinstance(written, MappingNode):
        within = duration_at(written.get("within"), scope)
        after = "start" if written.text("after") == "start" else "trigger"
        return None if within is None else Deadline(within=within, after=after, at=at)
    clock = _CLOCK.fullmatch(str(written.value)) if isinstance(written, ScalarNode) else None
    if clock is not None:
        return Deadline(by=time(int(clock[1]), int(clock[2])), at=at)
    within = duration_at(written, scope)
    return None if within is None else Deadline(within=within, at=at)
