"""`elapsed`: satisfied from the moment at which its time had passed.

That moment is an event, a fire like that of a cron: `scheduler.fires` runs the clock, which starts
anew at every end of a run or at every event of the dataset. Other events that reach the leaf only set
the clock.
"""

from datetime import datetime

from compiler.duration import duration_text
from compiler.model import ElapsedTrigger
from scheduler.event import EventKind
from scheduler.triggers.collected import Collected
from scheduler.triggers.leaf import Deliveries, LeafKind


def _since(trigger: ElapsedTrigger, deliveries: Deliveries, collected: Collected) -> datetime | None:
    return next((each.event.arrived for each in deliveries if each.event.kind is EventKind.FIRE), None)


def _summary(trigger: ElapsedTrigger, deliveries: Deliveries, collected: Collected, now: datetime) -> str:
    what = "the last run" if trigger.since == "last_run" else f"the last event of {trigger.dataset}"
    if trigger.since == "last_run" and trigger.program is not None:
        what += f" of {trigger.program}"
    fired = _since(trigger, deliveries, collected)
    if fired is None:
        return f"{duration_text(trigger.for_)} since {what} have not passed"
    return f"{duration_text(trigger.for_)} since {what} had passed at {fired.isoformat()}"


KIND = LeafKind("elapsed", _since, _summary)
