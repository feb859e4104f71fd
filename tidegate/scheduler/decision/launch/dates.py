"""Dates: the business dates about which a job is, by the fires that it has collected.

The business date follows the fire: the event of a fire has the day that its cron named, in the zone of that
cron, so the day stays when the schedule changes and the event is carried. What is not a fire (a person,
`elapsed`, data) is read in the app's zone. Pure.
"""

from collections.abc import Iterable
from contextlib import suppress
from datetime import date, datetime

from tidegate.domain.business_date import business_date, is_by_the_clock
from tidegate.domain.model import App, Schedule, WallClock, leaves
from tidegate.domain.schedule_keys import output_scheme
from tidegate.domain.time.calendar import previous_business_day
from tidegate.domain.time.fire_times import day_that_runs
from tidegate.domain.time.wall_clock import wall_time
from tidegate.scheduler.decision.view.job_view import JobView
from tidegate.scheduler.model.event import Delivery, Event, fire_event_key


def is_dated(schedule: Schedule) -> bool:
    """Return whether a run writes its business date, of whatever kind."""
    return schedule.output_partition in ("business_date", "business_day")


def dates_of_fires(app: App, schedule: Schedule, deliveries: Iterable[Delivery]) -> tuple[str, ...]:
    """Return the business dates of the fires of a job, each once, the newest last."""
    fired = (delivery.event for delivery in deliveries if delivery.event.scheduled_for is not None)
    fires = list({event.id: event for event in fired}.values())
    if is_by_the_clock(output_scheme(app, schedule.program)):
        fires.sort(key=lambda fire: fire.time)
    else:
        fires.sort(key=lambda fire: day_of_fire(app, schedule, fire))
    found: dict[str, None] = {}
    for fire in fires:
        with suppress(OverflowError):
            found[date_of_fire(app, schedule, fire)] = None
    return tuple(found)


def date_of_fire(app: App, schedule: Schedule, fire: Event) -> str:
    """Return the business date of the fire of a cron: a key in the cycle of the schedule's outputs.

    Raises:
        OverflowError: the calendar has no such period.
    """
    cron = _cron_of(app, schedule, fire)
    day = day_of_fire(app, schedule, fire)
    return _date(app, schedule, day, fire.scheduled_for or fire.time, cron)


def date_of_moment(app: App, schedule: Schedule, at: datetime) -> str:
    """Return the business date of what is not a fire, as a key in the cycle of the schedule's outputs.

    Its business days are those of the schedule's first cron.

    Raises:
        OverflowError: the calendar has no such period.
    """
    crons = (leaf.trigger.wall_clock for leaf in leaves(schedule.trigger))
    first = next((cron for cron in crons if cron is not None), None)
    return _date(app, schedule, day_that_runs(wall_time(at, schedule.timezone), app.day_starts), at, first)


def day_of_fire(app: App, schedule: Schedule, fire: Event) -> date:
    """Return the day to which the fire of a cron belongs."""
    assert fire.day is not None, "the event of a fire says its day"
    return date.fromisoformat(fire.day)


def _cron_of(app: App, schedule: Schedule, fire: Event) -> WallClock | None:
    """Return the cron of a fire; None if the schedule does not have it any more."""
    ref = f"{app.name}/{schedule.name}"
    crons = {fire_event_key(ref, leaf.path): leaf.trigger.wall_clock for leaf in leaves(schedule.trigger)}
    return crons.get(fire.key)


def _date(app: App, schedule: Schedule, day: date, at: datetime, cron: WallClock | None) -> str:
    """Return the business date of a day, with the business days of a cron."""
    if schedule.output_partition == "business_day":
        return previous_business_day(None if cron is None else cron.calendar, day).isoformat()
    return business_date(day, at, output_scheme(app, schedule.program))


def date_of_job(view: JobView, satisfied_at: datetime) -> str:
    """Return the key of a job whose trigger holds: with `batching: date`, and without a fire, it is a date.

    Args:
        satisfied_at: from when the date of a job without a fire is counted.
    """
    job, schedule = view.job, view.schedule
    if job.key or not schedule.keyed_by_date or has_fires(view):
        return job.key
    with suppress(OverflowError):
        return date_of_moment(view.app, schedule, satisfied_at)
    return ""


def has_fires(view: JobView) -> bool:
    """Return whether a job has collected the fire of a cron."""
    if view.tally is None:
        return any(each.event.scheduled_for is not None for each in view.deliveries)
    clocks = (leaf for leaf in leaves(view.schedule.trigger) if leaf.trigger.wall_clock is not None)
    return any(leaf.path in view.tally.leaves for leaf in clocks)
