"""The section `[retention]`: how long the store keeps old rows, as a value of the engine."""

import re
from datetime import timedelta
from pathlib import Path

from tidegate.domain.wording import shown
from tidegate.project.settings.language import RetentionSection, SettingsError
from tidegate.scheduler.model.retention import Keep

DAYS_MAX = 36_500
"""A hundred years; `forever` is longer."""

FOREVER = "forever"


def kept(file: Path, section: RetentionSection) -> Keep:
    """Return how long rows are kept.

    Raises:
        SettingsError: a value is not a number of days.
    """
    return Keep(
        journal=_days(file, "journal", section.journal),
        events=_days(file, "events", section.events),
        finished_jobs=_days(file, "finished_jobs", section.finished_jobs),
        launches=_days(file, "launches", section.launches),
    )


def _days(file: Path, key: str, text: str) -> timedelta | None:
    if text == FOREVER:
        return None
    found = re.fullmatch(r"([0-9]{1,5})d", text)
    if found is None or not 1 <= int(found[1]) <= DAYS_MAX:
        raise SettingsError(
            f"{file}: retention.{key} must be a number of days from 1d to {DAYS_MAX}d, or {FOREVER},"
            f" got {shown(text)}",
            f'write for example {key} = "90d"',
        )
    return timedelta(days=int(found[1]))
