"""The builder of a schedule's `retries`: a number of further attempts, or a mapping with their pauses."""

from datetime import timedelta

from tidegate.compiler.reader.node import MappingNode
from tidegate.compiler.scope.scope import Scope
from tidegate.compiler.values.duration import duration_at
from tidegate.domain.model import Retries
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
