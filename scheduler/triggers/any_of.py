"""`any`: satisfied when one member is, from the moment the first of them was."""

from collections.abc import Callable
from datetime import datetime

from compiler.model import AnyTrigger, Trigger, child_path
from scheduler.triggers.collected import Collected
from scheduler.verdict import Verdict, earliest


def evaluate(
    trigger: AnyTrigger,
    collected: Collected,
    path: str,
    now: datetime,
    member: Callable[[Trigger, str], Verdict],
) -> Verdict:
    """See `scheduler.triggers.evaluate`."""
    parts = tuple(member(inner, child_path(path, index)) for index, inner in enumerate(trigger.of))
    met = sum(part.met for part in parts)
    return Verdict(
        kind="any",
        met=met > 0,
        summary=f"{met} of {len(parts)} members hold, one is enough",
        since=earliest(part.since for part in parts if part.met),
        next_check=None if met else earliest(part.next_check for part in parts),
        at=trigger.at,
        parts=parts,
    )
