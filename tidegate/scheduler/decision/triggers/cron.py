"""`cron`: satisfied from the moment of its first fire.

Fires are events: `scheduler.decision.fires` computes which of them are due, and which missed ones
still count.
"""

from datetime import datetime

from tidegate.domain.model import CronTrigger
from tidegate.domain.time.fire_times import next_fire
from tidegate.scheduler.decision.triggers.collected import Collected
from tidegate.scheduler.decision.triggers.leaf import Counting, Deliveries, LeafKind, each_event, one


def _since(trigger: CronTrigger, fires: Deliveries, collected: Collected) -> datetime | None:
    return fires[0].event.arrived if fires else None


def _summary(trigger: CronTrigger, fires: Deliveries, collected: Collected, now: datetime) -> str:
    if fires:
        return f"fired at {fires[0].event.time.isoformat()}"
    return f'next fire of "{trigger.cron}" {_when(trigger, now)}'


def _needs(trigger: CronTrigger, fires: Deliveries, collected: Collected, now: datetime) -> str:
    return f'a fire of "{trigger.cron}", the next one {_when(trigger, now)}'


def _when(trigger: CronTrigger, now: datetime) -> str:
    following = next_fire(trigger, now)
    return "is beyond the search horizon" if following is None else f"at {following.isoformat()}"


def _wanted(trigger: CronTrigger) -> int:
    return 1


KIND = LeafKind(_since, _summary, _needs, Counting(_wanted, one, each_event))
