"""`cron`: satisfied from the moment of its first fire.

Fires are events like all others: `scheduler.fires` computes which ones are due and what
becomes of those that were missed.
"""

from collections.abc import Callable
from datetime import datetime

from compiler.cron import parse
from compiler.model import CronTrigger, Trigger
from scheduler.triggers.collected import Collected
from scheduler.verdict import Verdict


def evaluate(
    trigger: CronTrigger,
    collected: Collected,
    path: str,
    now: datetime,
    member: Callable[[Trigger, str], Verdict],
) -> Verdict:
    """See `scheduler.triggers.evaluate`."""
    fires = collected.at(path)
    if fires:
        summary = f"fired at {fires[0].event.time.isoformat()}"
    else:
        following = parse(trigger.cron).next_fire(now, trigger.timezone)
        summary = f'next fire of "{trigger.cron}" at {following.isoformat()}'
    return Verdict(
        kind="cron",
        met=bool(fires),
        summary=summary,
        since=fires[0].event.arrived if fires else None,
        at=trigger.at,
    )
