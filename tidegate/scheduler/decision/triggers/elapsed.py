"""`elapsed`: satisfied from the instant at which its time has passed.

That instant is an event, a fire like that of a cron: `scheduler.decision.fires` runs the timer, which
starts again at every end of a run or at every event of the dataset. These events only start the
timer.
"""

from datetime import datetime

from tidegate.domain.duration import duration_text
from tidegate.domain.model import ElapsedTrigger
from tidegate.scheduler.decision.triggers.collected import Collected
from tidegate.scheduler.decision.triggers.leaf import Counting, Deliveries, LeafKind, each_event
from tidegate.scheduler.model.event import Event, EventKind


def _since(trigger: ElapsedTrigger, deliveries: Deliveries, collected: Collected) -> datetime | None:
    return next((each.event.arrived for each in deliveries if each.event.kind is EventKind.FIRE), None)


def _summary(trigger: ElapsedTrigger, deliveries: Deliveries, collected: Collected, now: datetime) -> str:
    what = _stretch(trigger)
    fired = _since(trigger, deliveries, collected)
    if fired is None:
        return f"{what} have not passed"
    return f"{what} had passed at {fired.isoformat()}"


def _needs(trigger: ElapsedTrigger, deliveries: Deliveries, collected: Collected, now: datetime) -> str:
    return f"{_stretch(trigger)} to pass"


def _stretch(trigger: ElapsedTrigger) -> str:
    what = f"the last event of {trigger.dataset}"
    if trigger.since == "last_run":
        what = "the last run" if trigger.program is None else f"the last run of {trigger.program}"
    return f"{duration_text(trigger.for_)} since {what}"


def _wanted(trigger: ElapsedTrigger) -> int:
    return 1


def _amount(trigger: ElapsedTrigger, event: Event) -> int:
    return 1 if event.kind is EventKind.FIRE else 0


KIND = LeafKind(_since, _summary, _needs, Counting(_wanted, _amount, each_event))
