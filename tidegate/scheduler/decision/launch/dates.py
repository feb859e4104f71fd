"""Dates: the business dates about which a job is, by the fires that it has collected.

The business date follows the fire: the event of a fire has the day that its cron named, in the zone of that
cron, so the day stays when the schedule changes and the event is carried. What is not a fire (a person,
`elapsed`, data) is read in the app's zone. Pure.
"""

from collections.abc import Iterable
from datetime import date, datetime

from tidegate.domain.business_date import business_date, is_by_the_clock
from tidegate.domain.model import App, PartitionScheme, Schedule, leaves
from tidegate.domain.time import fire_times
from tidegate.domain.time.wall_clock import wall_time
from tidegate.scheduler.model.event import Delivery, Event, fire_event_key


def dates_of_fires(app: App, schedule: Schedule, deliveries: Iterable[Delivery]) -> tuple[str, ...]:
    """Return the business dates of the fires of a job, each once, the newest last."""
    events = {delivery.event.id: delivery.event for delivery in deliveries}.values()
    fires = [event for event in events if event.scheduled_for is not None]
    if is_by_the_clock(output_scheme(app, schedule.program)):
        fires.sort(key=lambda fire: fire.time)
    else:
        fires.sort(key=lambda fire: day_of_fire(app, schedule, fire))
    return tuple(dict.fromkeys(date_of_fire(app, schedule, fire) for fire in fires))


def date_of_fire(app: App, schedule: Schedule, fire: Event) -> str:
    """Return the business date of the fire of a cron: a key in the cycle of the schedule's outputs.

    Raises:
        OverflowError: the calendar has no period before it.
    """
    at = fire.scheduled_for or fire.time
    return business_date(day_of_fire(app, schedule, fire), at, output_scheme(app, schedule.program))


def date_of_moment(app: App, schedule: Schedule, at: datetime) -> str:
    """Return the business date of what is not a fire, as a key in the cycle of the schedule's outputs.

    Raises:
        OverflowError: the calendar has no period before it.
    """
    day = wall_time(at, schedule.timezone).date()
    return business_date(day, at, output_scheme(app, schedule.program))


def day_of_fire(app: App, schedule: Schedule, fire: Event) -> date:
    """Return the day to which the fire of a cron belongs.

    The event of a fire says so, unless a version before wrote it.
    """
    if fire.day is not None:
        return date.fromisoformat(fire.day)
    at, ref = fire.scheduled_for or fire.time, f"{app.name}/{schedule.name}"
    for leaf in leaves(schedule.trigger):
        if leaf.trigger.wall_clock is not None and fire.key == fire_event_key(ref, leaf.path):
            return fire_times.day_of(leaf.trigger.wall_clock, at)
    return wall_time(at, schedule.timezone).date()


def output_scheme(app: App, program: str) -> PartitionScheme | None:
    """Return the partition scheme of a program's outputs; lint checks that they agree."""
    schemes = (app.datasets[name].partitions for name in app.programs[program].writes)
    return next((scheme for scheme in schemes if scheme is not None), None)
