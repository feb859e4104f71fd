"""`all`: satisfied when every member is, from the moment the last of them was."""

from collections.abc import Callable
from datetime import datetime

from compiler.model import AllTrigger, Trigger, child_path
from scheduler.triggers.collected import Collected
from scheduler.verdict import Verdict, earliest


def evaluate(
    trigger: AllTrigger,
    collected: Collected,
    path: str,
    now: datetime,
    member: Callable[[Trigger, str], Verdict],
) -> Verdict:
    """See `scheduler.triggers.evaluate`."""
    parts = tuple(member(inner, child_path(path, index)) for index, inner in enumerate(trigger.of))
    met = sum(part.met for part in parts)
    satisfied = met == len(parts)
    return Verdict(
        kind="all",
        met=satisfied,
        summary=f"{met} of {len(parts)} members hold",
        since=max(part.since for part in parts if part.since is not None) if satisfied else None,
        next_check=None if satisfied else earliest(part.next_check for part in parts if not part.met),
        at=trigger.at,
        parts=parts,
    )
