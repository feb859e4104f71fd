"""The demo's project: a folder with the example app, its waits shortened from hours to seconds.

Each replacement refers to a line of schedules/flights.yaml; a missing line is an error, so the
demo cannot silently diverge from the example.
"""

import math
from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from tidegate.domain.error import UserError
from tidegate.domain.value import Value
from tidegate.processes.home import DEVELOPMENT, SETTINGS_NAME
from tidegate.project.settings.settings import Settings, load_settings
from tidegate.project.shipped import example_app

ZONE = ZoneInfo("America/New_York")

READY_AFTER = timedelta(seconds=10)
"""Nothing is joined before this."""

WINDOW_WAIT_MAX = timedelta(seconds=25)
"""The window opens at a full minute; one that is further away than this has been open since the last one.
The first days are ready to be joined after 10 to 20 seconds, so some runs of the demo show a wait for it.
"""

PATIENCE = timedelta(seconds=10)
"""How long the join waits for missing weather."""

SETTINGS = """\
[spark]
# Several runs share two cores: one thread each.
master = "local[1]"

[spark.conf]
"spark.sql.shuffle.partitions" = "1"
# Plans of a few hundred rows are not worth a second look while they run.
"spark.sql.adaptive.enabled" = "false"

[dagster]
tick_seconds = 2
"""

DAGSTER_CHANGES = {"mode: fork": "mode: warm", "max_concurrent_runs: 4": "max_concurrent_runs: 2"}
"""The demo's changes of `dagster.yaml`: two processes with a Spark that they keep from run to run."""


class Replacement(Value, kw_only=True):
    """One shortened wait.

    Attributes:
        what: description of the wait.
        old, new: the text in the YAML, and its replacement in the demo.
    """

    what: str
    old: str
    new: str


def replacements(now: datetime, patience: timedelta = PATIENCE) -> tuple[Replacement, ...]:
    """Return the demo's changes of the example.

    Args:
        now: the start; aware.
        patience: how long the join waits for missing weather.
    """
    opens = _opening(now).astimezone(ZONE)
    closes = opens + timedelta(hours=8)
    return (
        Replacement(what="time since the last run of clean_weather", old="for: 30m", new="for: 5s"),
        Replacement(
            what="wait of the join for missing weather",
            old="wait_at_most: 3h",
            new=f"wait_at_most: {patience.total_seconds():.0f}s",
        ),
        Replacement(what="window of the join, opens", old='from: "22:00"', new=f'from: "{opens:%H:%M}"'),
        Replacement(what="window of the join, closes", old='to: "06:00"', new=f'to: "{closes:%H:%M}"'),
        Replacement(
            what="cron of the reference tables",
            old='cron: "30 5 * * *"',
            new=f'cron: "{opens.minute} {opens.hour} * * *"',
        ),
        Replacement(what="delay after that cron", old="delay: 1m", new="delay: 5s"),
    )


def make_project(folder: Path, changes: tuple[Replacement, ...]) -> Settings:
    """Create the project in an empty folder.

    Raises:
        UserError: the example does not contain a line of the replacements.
    """
    example = example_app()
    text = example.read_text()
    for change in changes:
        if text.count(change.old) < 1:
            raise UserError(
                f"the example has no line with {change.old!r}", "bring tidegate/demo/project.py up to date"
            )
        # The scenarios below the schedules use the real hours, so only the first match is replaced.
        text = text.replace(change.old, change.new, 1)
    (folder / "schedules").mkdir(parents=True)
    (folder / "schedules" / example.name).write_text(text.partition("\nexamples:\n")[0] + "\n")
    (folder / "tidegate.toml").write_text(SETTINGS)
    (folder / SETTINGS_NAME).write_text(_changed(DEVELOPMENT, DAGSTER_CHANGES))
    return load_settings(folder)


def _changed(text: str, changes: Mapping[str, str]) -> str:
    for old, new in changes.items():
        if old not in text:
            raise UserError(
                f"{SETTINGS_NAME} has no line with {old!r}", "bring tidegate/demo/project.py up to date"
            )
        text = text.replace(old, new)
    return text


def _opening(now: datetime) -> datetime:
    """Return the full minute at which the window of the join opens, or has opened."""
    opens = _next_minute(now + READY_AFTER)
    return opens if opens - now <= WINDOW_WAIT_MAX else opens - timedelta(minutes=1)


def _next_minute(instant: datetime) -> datetime:
    seconds = math.ceil(instant.timestamp() / 60) * 60
    return datetime.fromtimestamp(seconds, instant.tzinfo)
