"""Histories about dates: crons and tasks in zones made by chance, over days on which clocks change.

The oracle does its own sums. It finds the wall time that a pattern names by looking at every minute before a
fire, and the hour that is over by walking back minute by minute.
"""

import json
import random
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from tests.worlds.by import CLI
from tidegate.compiler.compile import compile_files
from tidegate.domain.model import App
from tidegate.scheduler.commands.deployment.deploy import deploy
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.store.memory.store import MemoryStore
from tidegate.scheduler.tick.tick import tick

STEPS = 4
"""Days of a history."""

ZONES = ("UTC", "America/New_York", "Asia/Tokyo", "America/Nuuk", "Europe/Berlin")
OUTPUT_ZONES = ("UTC", "America/Phoenix", "Asia/Kolkata", "Asia/Tokyo")
"""Their clocks do not change, so that each hour has one key."""

BEGINS = ("2026-03-06", "2026-03-27", "2026-10-23", "2026-10-30", "2026-12-30")
HOURS, MINUTES = (0, 2, 6, 12, 17, 23), (0, 30)
DAYS = ("*", "mon-fri", "tue-sat", "sun")
CLOSED = ("2026-03-09", "2026-10-26")
DAY_STARTS = ("00:00", "00:00", "06:00", "23:30")
ALL_DAY = timedelta(days=1)
MINUTE = timedelta(minutes=1)


def history(seed: int, steps: int = STEPS) -> int:
    """Play some days; return how many launches were judged.

    Raises:
        AssertionError: a run writes another date than its fire names.
    """
    dice = random.Random(seed)
    text = chance_app(dice)
    begin = datetime.fromisoformat(dice.choice(BEGINS)).replace(tzinfo=UTC)
    store = MemoryStore()
    compilation = compile_files({"a.yaml": json.dumps(text).encode()})
    assert compilation.ok, compilation.diagnostics
    app = compilation.apps["a"].app
    with store.transaction() as transaction:
        deploy(transaction, {"a": app}, begin, by=CLI)
    for hours in range(0, steps * 24, dice.choice((1, 5, 12))):
        tick(store, begin + timedelta(hours=hours))
    with store.reading() as reader:
        launched = [job for job in reader.jobs() if job.launch is not None]
    for job in launched:
        judge(job, text, app)
    return len(launched)


def chance_app(dice: random.Random) -> dict[str, Any]:
    """An app with a schedule for each cycle of outputs, and tasks of an hour and of a day."""
    zone, other = dice.choice(ZONES), dice.choice(OUTPUT_ZONES)
    hours = {"cycle": "hour", "start": "2026-01-01-00:00", "timezone": other}
    days = {"cycle": "day", "start": "2026-01-01", "timezone": other}
    months = {"cycle": "month", "start": "2025-01-01", "timezone": other}
    cut = {
        "hours": hours,
        "days": days,
        "months": months,
        "business": days,
        "task_hours": hours,
        "task_days": days,
    }
    task_days = {"cycle": "day", "at": {"time": f"{dice.choice(HOURS):02}:30"}}
    if dice.random() < 0.5:
        task_days |= {"business_date": "previous_business_day", "calendar": "office"}
    return {
        "app": "a",
        "timezone": zone,
        "day_starts": dice.choice(DAY_STARTS),
        "calendars": {"office": {"closed": list(CLOSED)}},
        "datasets": {name: {"partitions": scheme} for name, scheme in cut.items()},
        "programs": {name: {"run": f"programs.{name}", "writes": [name]} for name in cut},
        "schedules": {
            name: {"program": name, "status": "active", "trigger": _cron(dice)}
            | ({"output_partition": "business_day"} if name == "business" else {})
            for name in ("hours", "days", "months", "business")
        },
        "tasks": {
            "task_hours": {
                "program": "task_hours",
                "status": "active",
                "cycle": "hour",
                "at": {"every": "3h"},
            },
            "task_days": {"program": "task_days", "status": "active", **task_days},
        },
    }


def _cron(dice: random.Random) -> dict[str, Any]:
    pattern = f"{dice.choice(MINUTES)} {dice.choice(HOURS)} * * {dice.choice(DAYS)}"
    return {"cron": pattern, "timezone": dice.choice(ZONES), "catch_up": "all"}


# --- the oracle -------------------------------------------------------------------------


def judge(job: Job, text: dict[str, Any], app: App) -> None:
    """A launched job writes the date that its fire, or its scheduled time, names."""
    assert job.launch is not None
    name = job.schedule.partition("/")[2]
    if job.instance is not None:
        expected = _of_task(name, job.instance.scheduled, job.instance.start, text)
    else:
        assert job.launch.scheduled_time is not None
        expected = _of_schedule(name, job.launch.scheduled_time, text)
    found = job.launch.partitions
    assert found == (expected,), f"{name} of {job.launch.scheduled_time} writes {found}, not {expected}"


def _of_schedule(name: str, fire: datetime, text: dict[str, Any]) -> str:
    trigger = text["schedules"][name]["trigger"]
    minute, hour = map(int, trigger["cron"].split()[:2])
    wall = _named(fire, trigger["timezone"], time(hour, minute))
    return _about(name, fire, _day(wall, text), text, closed=())


def _of_task(name: str, scheduled: datetime, start: datetime, text: dict[str, Any]) -> str:
    zone = ZoneInfo(text["timezone"])
    if name == "task_hours":
        return _hour_with(_hour_over(scheduled, text["timezone"]), _zone_of(name, text))
    task = text["tasks"][name]
    at = time.fromisoformat(task["at"]["time"])
    day = _day(datetime.combine(scheduled.astimezone(zone).date(), at), text)
    business = "business" if "business_date" in task else "days"
    return _about(business, start, day, text, closed=CLOSED)


def _named(fire: datetime, zone: str, at: time) -> datetime:
    """The wall time that a pattern names, in the minutes before its fire: clocks may have skipped it."""
    wall = fire.astimezone(ZoneInfo(zone)).replace(tzinfo=None)
    while wall.time() != at:
        wall -= MINUTE
    return wall


def _day(wall: datetime, text: dict[str, Any]) -> date:
    early = f"{wall:%H:%M}" < text["day_starts"]
    return wall.date() - ALL_DAY if early else wall.date()


def _about(name: str, at: datetime, day: date, text: dict[str, Any], closed: tuple[str, ...]) -> str:
    match name:
        case "hours":
            return _hour_with(_hour_over(at, _zone_of(name, text)), _zone_of(name, text))
        case "months":
            return (day.replace(day=1) - ALL_DAY).replace(day=1).isoformat()
        case "business":
            return next(_weekdays_before(day, closed)).isoformat()
        case _:
            return (day - ALL_DAY).isoformat()


def _weekdays_before(day: date, closed: tuple[str, ...]) -> Iterator[date]:
    while True:
        day -= ALL_DAY
        if day.strftime("%a") not in ("Sat", "Sun") and day.isoformat() not in closed:
            yield day


def _hour_over(at: datetime, zone: str) -> datetime:
    """The first instant of the last hour that is over: one minute before its end, back to its full hour."""
    end = at
    while end.astimezone(ZoneInfo(zone)).minute:
        end -= MINUTE
    begin = end - MINUTE
    while begin.astimezone(ZoneInfo(zone)).minute:
        begin -= MINUTE
    return begin


def _hour_with(at: datetime, zone: str) -> str:
    return f"{at.astimezone(ZoneInfo(zone)):%Y-%m-%d-%H}:00"


def _zone_of(name: str, text: dict[str, Any]) -> str:
    return str(text["datasets"][name]["partitions"]["timezone"])
