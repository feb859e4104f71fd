"""The builder of a task's times: its `at:`, with the keys that belong to its cycle."""

from datetime import date, timedelta
from typing import cast

from tidegate.compiler.reader.node import MappingNode, Node, ScalarNode
from tidegate.compiler.scope.scope import Scope
from tidegate.compiler.values.texts import duration_at
from tidegate.domain.model import Cycle, Day
from tidegate.domain.model.triggers.task import LAST_DAY, TaskTimes
from tidegate.domain.time.calendar import DAY_NAMES
from tidegate.domain.wording import listed, shown

KEYS: dict[Cycle, tuple[str, ...]] = {
    "minute": ("every", "from", "to"),
    "hour": ("every", "minute", "from", "to"),
    "day": ("time",),
    "week": ("time", "weekdays"),
    "month": ("time", "days"),
    "year": ("time", "dates"),
}
"""The keys of `at` by cycle."""

NEEDED: dict[Cycle, tuple[str, str]] = {
    "week": ("weekdays", "[mon]"),
    "month": ("days", "[last]"),
    "year": ("dates", '["01-01"]'),
}
"""The key that says on which days something is done, with an example."""

MINUTES_OF_HOUR = 60
MAX_EVERY = {"minute": 30, "hour": 24}
"""The longest `every`, in units of the cycle: more than half an hour is an hour's task."""

_UNITS = {"minute": timedelta(minutes=1), "hour": timedelta(hours=1)}

_LEAP_YEAR = 2024
"""A year that has every date."""


def build_times(node: MappingNode, cycle: Cycle, scope: Scope) -> TaskTimes | None:
    """Build the times of a task; return None after reporting an error.

    Args:
        node: the task; its `at` may be missing.
    """
    at = node.get("at")
    written = at if isinstance(at, MappingNode) else None
    sound = [_own_keys(written, cycle, scope), _needed(node, written, cycle, scope)]
    if written is None:
        return TaskTimes() if all(sound) else None
    every = _every(written, cycle, scope)
    first, last = _clock(written, "from"), _clock(written, "to")
    sound.append(_in_order(written, cycle, scope))
    dates = _dates(written, scope)
    if every is None or dates is None or not all(sound):
        return None
    names = {str(day.value) for day in written.strings("weekdays")}
    days = [_day(day) for day in written.items("days")]
    return TaskTimes(
        every=every,
        minute=written.number("minute", 0),
        time=_clock(written, "time") or 0,
        from_=first,
        to=last,
        weekdays=cast("tuple[Day, ...]", tuple(day for day in DAY_NAMES if day in names)),
        days=tuple(sorted(days, key=lambda day: (day == LAST_DAY, day))),
        dates=dates,
    )


def _own_keys(written: MappingNode | None, cycle: Cycle, scope: Scope) -> bool:
    """Return whether all keys belong to the cycle; report the others."""
    if written is None:
        return True
    strange = [key for key in written.keys if key not in KEYS[cycle]]
    for key in strange:
        scope.findings.add(
            "V240",
            written.keys[key],
            f"the times of a task with `cycle: {cycle}` have {listed(_quoted(KEYS[cycle]), 'and')},"
            f" got `{key}`",
            f"delete it; `{key}` belongs to {listed(_quoted(_cycles_with(key)), 'and')}",
        )
    return not strange


def _quoted(words: tuple[str, ...]) -> list[str]:
    return [f"`{word}`" for word in words]


def _cycles_with(key: str) -> tuple[str, ...]:
    return tuple(f"cycle: {cycle}" for cycle, keys in KEYS.items() if key in keys)


def _needed(node: MappingNode, written: MappingNode | None, cycle: Cycle, scope: Scope) -> bool:
    """Return whether the key is there that the cycle needs; report a missing one."""
    if cycle not in NEEDED:
        return True
    key, example = NEEDED[cycle]
    if written is not None and key in written.values:
        return True
    scope.findings.add(
        "S103",
        node.keys["at"] if written is not None else node.keys["cycle"],
        f"a task with `cycle: {cycle}` needs `{key}` in its `at`, got none",
        f'add for example at: {{time: "02:00", {key}: {example}}}',
    )
    return False


def _every(written: MappingNode, cycle: Cycle, scope: Scope) -> int | None:
    """Return `every` in units of the cycle, by default 1; None after reporting a wrong one."""
    node = written.get("every")
    if node is None or cycle not in _UNITS:
        return 1
    duration = duration_at(node, scope)
    if duration is None:
        return None
    count, rest = divmod(duration, _UNITS[cycle])
    if rest or not 1 <= count <= MAX_EVERY[cycle]:
        text, letter = node.value if isinstance(node, ScalarNode) else "", cycle[0]
        scope.findings.add(
            "V241",
            node,
            f"`every` of a task with `cycle: {cycle}` is whole {cycle}s, from 1{letter} to"
            f" {MAX_EVERY[cycle]}{letter}, got {shown(text)}",
            f"write for example every: {'5m' if cycle == 'minute' else '2h'}, or choose another cycle",
        )
        return None
    return count


def _clock(written: MappingNode, key: str) -> int | None:
    """Return a wall time in minutes from 00:00; None without the key."""
    text = written.text(key)
    return int(text[:2]) * MINUTES_OF_HOUR + int(text[3:]) if text else None


def _in_order(written: MappingNode, cycle: Cycle, scope: Scope) -> bool:
    """Return whether `from` is not after `to`, and whether both are full hours where they must be."""
    for key in ("from", "to") if cycle == "hour" else ():
        found = _clock(written, key)
        if found is not None and found % MINUTES_OF_HOUR:
            scope.findings.add(
                "V241",
                written.values[key],
                f"`{key}` of a task with `cycle: hour` is a full hour, got {shown(written.text(key))}",
                f'write {key}: "{written.text(key)[:2]}:00", and `minute` for the minute of each hour',
            )
            return False
    first, last = _clock(written, "from"), _clock(written, "to")
    if first is not None and last is not None and first > last:
        scope.findings.add(
            "V241",
            written.values["from"],
            f"`from` is not after `to`, got {shown(written.text('from'))} to {shown(written.text('to'))}",
            "swap them; times over midnight are two tasks, or all day",
        )
        return False
    return True


def _day(node: Node) -> int:
    """Return a day of the month; the schema has checked it."""
    value = node.value if isinstance(node, ScalarNode) else None
    return value if isinstance(value, int) else LAST_DAY


def _dates(written: MappingNode, scope: Scope) -> tuple[tuple[int, int], ...] | None:
    """Return the dates of the year, sorted; None after reporting one that no year has."""
    found = [_date(node, scope) for node in written.strings("dates")]
    sound = sorted(each for each in found if each is not None)
    return tuple(sound) if len(sound) == len(found) else None


def _date(node: ScalarNode, scope: Scope) -> tuple[int, int] | None:
    month, _, day = str(node.value).partition("-")
    try:
        date(_LEAP_YEAR, int(month), int(day))
    except ValueError:
        scope.findings.add(
            "V241",
            node,
            f"a date of the year is a month and a day that exist, got {shown(node.value)}",
            'write for example "07-01" for the first of July',
        )
        return None
    return int(month), int(day)
