"""`run`: satisfied when enough runs of a program have started or ended as asked."""

from collections.abc import Callable
from datetime import datetime

from compiler.model import RunTrigger, Trigger
from scheduler.triggers.collected import Collected
from scheduler.verdict import Verdict


def evaluate(
    trigger: RunTrigger,
    collected: Collected,
    path: str,
    now: datetime,
    member: Callable[[Trigger, str], Verdict],
) -> Verdict:
    """See `scheduler.triggers.evaluate`."""
    arrived = [delivery.event.arrived for delivery in collected.at(path)]
    met = len(arrived) >= trigger.count
    return Verdict(
        kind="run",
        met=met,
        summary=f"{len(arrived)} of {trigger.count} runs of {trigger.program} {trigger.status}",
        since=arrived[trigger.count - 1] if met else None,
        at=trigger.at,
    )
