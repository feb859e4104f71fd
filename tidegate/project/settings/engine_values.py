"""The sections `[lint]` and `[retention]`, as values of the compiler and of the engine."""

import re
from datetime import timedelta
from pathlib import Path

import msgspec

from tidegate.compiler.rules.house import HouseRules
from tidegate.domain.wording import shown
from tidegate.project.settings.language import LintSection, RetentionSection, SettingsError
from tidegate.scheduler.model.keep import Keep


def house_rules(file: Path, section: LintSection) -> HouseRules:
    """Return the rules of `[lint.rules]`.

    Raises:
        SettingsError: there is no such rule, or its value is wrong.
    """
    hint = "see `tidegate docs settings`, and docs/operating.md for an example of each rule"
    try:
        rules = msgspec.convert(section.rules, HouseRules)
    except msgspec.ValidationError as error:
        raise SettingsError(f"{file}: lint.rules: {error}", hint) from error
    if rules.name is not None:
        try:
            re.compile(rules.name.pattern)
        except re.error as error:
            raise SettingsError(f"{file}: lint.rules.name is not a pattern: {error}", hint) from error
    return rules


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
