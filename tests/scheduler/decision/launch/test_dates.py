"""The business date follows the fire: the day that its own cron names, which stays with it."""

from datetime import date

import msgspec
import pytest

from tests.worlds.world import DATASETS, MIDNIGHT, World, app_of, at
from tidegate.domain.model import Calendar
from tidegate.scheduler.decision.launch.dates import date_of_moment, dates_of_fires
from tidegate.scheduler.decision.launch.plan import plan_launch
from tidegate.scheduler.decision.view.job_view import JobView

S = "s: {{program: p, status: active, on_update: carry, trigger: {trigger}{more}}}"
TOKYO = '{cron: "0 2 * * *", timezone: Asia/Tokyo}'
NEW_YORK = '{cron: "0 22 * * *", timezone: America/New_York}'
UTC_CRON = '{cron: "0 2 * * *"}'
LATER = ", constraints: [{delay: 1d}]"


class Early(World):
    """A world whose app begins its days at six."""

    compiled = staticmethod(
        lambda text: app_of(text, DATASETS.replace("app: a", 'app: a\nday_starts: "06:00"'))
    )


def dates(trigger: str, *ticks: str, more: str = LATER) -> World:
    """A schedule whose fires wait a day."""
    world = World(S.format(trigger=trigger, more=more))
    for clock in ticks:
        world.tick(clock)
    return world


def of(world: World) -> tuple[str, ...]:
    job = world.only("s")
    with world.store.reading() as reader:
        collected = reader.deliveries([job.id])[job.id]
    return dates_of_fires(world.app, world.app.schedules["s"], collected)


FIRES = [
    ("in the zone of the app", UTC_CRON, ("02:00",), ("2026-03-09",)),
    ("east of the app, a day ahead", TOKYO, ("17:00",), ("2026-03-10",)),
    ("west of the app, a day behind", NEW_YORK, ("02:00",), ("2026-03-08",)),
    (
        "of two crons in two zones, the newest last",
        f"{{any: [{TOKYO}, {NEW_YORK}]}}",
        ("02:00", "17:00"),
        ("2026-03-08", "2026-03-10"),
    ),
    (
        "of two crons that name one day, once",
        f'{{any: [{TOKYO}, {{cron: "0 5 * * *", timezone: Asia/Tokyo}}]}}',
        ("17:00", "20:00"),
        ("2026-03-10",),
    ),
]


@pytest.mark.parametrize(("sentence", "trigger", "ticks", "expected"), FIRES, ids=[row[0] for row in FIRES])
def test_the_dates_of_fires(sentence, trigger, ticks, expected):
    assert of(dates(trigger, *ticks, more=LATER + ", batching: coalesce")) == expected


def test_a_fire_that_a_gap_moves_past_midnight_keeps_the_date_of_its_pattern():
    # given a cron at half past eleven in Nuuk, where clocks go from 23:00 to 00:00 on 28 March
    world = World(S.format(trigger='{cron: "30 23 * * *", timezone: America/Nuuk}', more=""))
    world.tick("19d 00:00")
    # when it fires at the first instant of 29 March
    world.tick("19d 01:00")
    # then it is about the day before 28 March
    launched = [job.launch for job in world.jobs("s") if job.launch is not None]
    assert max(plan.business_date for plan in launched) == "2026-03-27"


def test_the_date_of_a_fire_stays_when_the_zone_of_its_cron_changes():
    world = dates(TOKYO, "17:00")
    # when the cron moves to Honolulu, where that instant is 10 March too, but another day's fire
    world.redeploy("18:00", S.format(trigger=TOKYO.replace("Asia/Tokyo", "Pacific/Honolulu"), more=LATER))
    assert of(world) == ("2026-03-10",)


def test_what_is_not_a_fire_is_read_in_the_zone_of_the_app():
    world = dates(TOKYO)
    assert date_of_moment(world.app, world.app.schedules["s"], at("17:00")) == "2026-03-09"
    west = msgspec.structs.replace(world.app.schedules["s"], timezone="America/New_York")
    assert date_of_moment(world.app, west, MIDNIGHT) == "2026-03-08"


BUSINESS_DAY = ", output_partition: business_day"
WEEKDAYS = '{cron: "0 6 * * mon-fri"}'


def test_a_fire_of_weekdays_is_about_the_weekday_before():
    assert of(dates(WEEKDAYS, "6d 06:00", more=LATER + BUSINESS_DAY)) == ("2026-03-13",)


def test_fires_of_saturday_sunday_and_monday_are_of_one_date():
    more = LATER.replace("1d", "9d") + BUSINESS_DAY + ", batching: coalesce, timeout: 30d"
    ticks = ("4d 06:00", "5d 06:00", "6d 06:00", "7d 06:00")
    assert of(dates('{cron: "0 6 * * *"}', *ticks, more=more)) == ("2026-03-13", "2026-03-16")


def test_a_calendar_without_business_days_leaves_a_fire_without_a_date():
    world = dates(WEEKDAYS, "06:00", more=LATER + BUSINESS_DAY)
    week = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
    never = Calendar(name="never", weekend=week, open=(date(2030, 1, 1),))
    before = world.app.schedules["s"]
    trigger = msgspec.structs.replace(before.trigger, calendar=never)
    changed = msgspec.structs.replace(before, trigger=trigger, batching="coalesce")
    with world.store.reading() as reader:
        job = msgspec.structs.replace(world.only("s"), key="")
        collected = reader.deliveries([job.id])[job.id]
    assert dates_of_fires(world.app, changed, collected) == ()
    plan = plan_launch(JobView(app=world.app, schedule=changed, job=job, deliveries=collected), at("06:00"))
    assert (plan.business_date, plan.partitions) == (None, ())


def test_a_fire_before_the_day_starts_keeps_its_day_when_that_changes():
    later = ", constraints: [{delay: 9d}], batching: coalesce, timeout: 30d"
    world = Early(S.format(trigger=UTC_CRON, more=later))
    world.tick("02:00")
    assert of(world) == ("2026-03-08",)
    # when days begin at midnight again
    world.compiled = World.compiled
    world.redeploy("03:00", S.format(trigger=UTC_CRON, more=later))
    # then the fire that the job has keeps its date, and the next one has another
    world.tick("1d 02:00")
    assert of(world) == ("2026-03-08", "2026-03-10")
