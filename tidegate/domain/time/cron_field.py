"""The parser of cron patterns: from a text to five sets of numbers, or to a message.

Everything that this dialect does not have (seconds, years, `L`, `W`, `#`, `?`, `R`, @reboot) is refused
by name, because tools differ in how they read it. `domain.time.cron` computes the fires.
"""

import re
from dataclasses import dataclass

from tidegate.domain.error import UserError

MAX_PATTERN_CHARS = 512
"""All minutes, hours, days, months and weekdays written out as numbers take 419."""

ALIASES = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}

MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
WEEKDAYS = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")
LONGEST_MONTHS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)

_NUMBER = re.compile(r"[0-9]{1,4}")
_RATE = re.compile(r"every (?:([1-9][0-9]?) )?(minute|hour|day)s?")
_FOREIGN_SIGN = re.compile(r"[?#]|^[0-9]*[LW]+$|^[RH](\(.*)?$")


class CronError(UserError, ValueError):
    """A pattern that is refused."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Field:
    """One of the five fields: its name in messages, its bounds, and its names for numbers."""

    name: str
    low: int
    high: int
    names: dict[str, int]


FIELDS = (
    Field(name="minute", low=0, high=59, names={}),
    Field(name="hour", low=0, high=23, names={}),
    Field(name="day of month", low=1, high=31, names={}),
    Field(name="month", low=1, high=12, names={name: i for i, name in enumerate(MONTHS, 1)}),
    Field(name="day of week", low=0, high=7, names={name: i for i, name in enumerate(WEEKDAYS)}),
)
WEEKDAY = FIELDS[4]

FOREIGN = {
    "?": 'write "*" for "any"',
    "L": "for the last business day of a month write `nth_business_day: -1` beside a cron with a"
    " `calendar`, for its last day a task with `cycle: month` and `at: {days: [last]}`",
    "W": "the nearest weekday cannot be written; for a business day of a month write `nth_business_day`"
    " beside a cron with a `calendar` (-1 is the last), for its last day a task with `at: {days: [last]}`",
    "#": 'the n-th weekday of a month cannot be written; for the first Monday write days "1-7" in a cron of'
    " every day of the week, and check the weekday in the program",
    "R": "random times cannot be written; choose a fixed minute",
    "H": "hashed times cannot be written; choose a fixed minute",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class FieldValues:
    """A parsed field: its text, its numbers ascending, and whether it has a range or steps.

    Attributes:
        is_open: a part of it is a bare `*`.
        begins_open: it begins with `*`, as `*/2` does.
    """

    text: str
    values: tuple[int, ...]
    is_open: bool
    begins_open: bool
    is_pattern: bool


def read_fields(text: str) -> tuple[FieldValues, ...]:
    """Return the five fields of a pattern.

    Raises:
        CronError: the pattern is refused.
    """
    example = 'write five fields, "minute hour day-of-month month day-of-week", for example "30 6 * * 1-5"'
    if len(text) > MAX_PATTERN_CHARS:
        raise CronError(
            f"a cron pattern has at most {MAX_PATTERN_CHARS} characters, got {len(text)}", example
        )
    odd = next((c for c in text if not (" " <= c <= "~" or c == "\t")), None)
    if odd is not None:
        raise CronError(f"cron pattern with the character U+{ord(odd):04X}", "use plain ASCII only")
    stripped = text.strip()
    if stripped.startswith("@"):
        return read_fields(_alias(stripped))
    parts = stripped.split()
    if len(parts) in (6, 7):
        raise CronError(
            f'cron pattern with {len(parts)} fields, got "{text}"',
            f"there are no seconds and no years; {_five_of(parts) or example}",
        )
    if len(parts) != len(FIELDS):
        hint = _in_words(stripped) or example
        raise CronError(f'cron pattern with {len(parts)} of 5 fields, got "{text}"', hint)
    fields = tuple(_read_field(part, field) for part, field in zip(parts, FIELDS, strict=True))
    _refuse_impossible_dates(fields)
    return fields


def _five_of(parts: list[str]) -> str | None:
    """Return what to write for a pattern of Quartz, "0 30 6 ? * MON-FRI": without its seconds and years."""
    try:
        pattern = " ".join("*" if part == "?" else part for part in parts[1:6])
        read_fields(pattern)
    except CronError:
        return None
    same = parts[0] == "0" and parts[6:] in ([], ["*"]) and not any(c.isdigit() for c in parts[5])
    return f'write "{pattern}"' if same else None


def _in_words(text: str) -> str | None:
    """Return what to write for a rate in words: "every 10 minutes" is "*/10 * * * *"."""
    found = _RATE.fullmatch(text.lower())
    if found is None:
        return None
    number, unit = int(found[1] or 1), found[2]
    most = {"minute": 60, "hour": 24, "day": 1}[unit]
    if number > most or most % number:
        return None
    pattern = {"minute": f"*/{number} * * * *", "hour": f"0 */{number} * * *", "day": "0 0 * * *"}[unit]
    return f'write "{pattern.replace("*/1 ", "* ")}"' if number < most or unit == "day" else None


def _alias(text: str) -> str:
    pattern = ALIASES.get(text.lower())
    if pattern is None:
        known = ", ".join(ALIASES)
        raise CronError(f'cron pattern "{text}" is not known', f"write one of {known}, or five fields")
    return pattern


def _read_field(text: str, field: Field) -> FieldValues:
    found: set[int] = set()
    items = text.split(",")
    ranged = False
    for item in items:
        values, is_range = _read_item(item, text, field)
        ranged = ranged or is_range
        found |= values
    if field is WEEKDAY:
        found = {value % 7 for value in found}
    return FieldValues(
        text=text,
        values=tuple(sorted(found)),
        is_open="*" in items,
        begins_open=text.startswith("*"),
        is_pattern=ranged and len(found) > 1,
    )


def _read_item(item: str, text: str, field: Field) -> tuple[set[int], bool]:
    """Return the numbers of one item of a list, and whether the item is more than a single number."""
    span, slash, step_text = item.partition("/")
    step = _read_step(step_text, text, field) if slash else 1
    first_text, dash, last_text = span.partition("-")
    if span == "*":
        first, last = field.low, 6 if field is WEEKDAY else field.high
    else:
        first = _read_number(first_text, text, field)
        last = first
        if dash:
            last = _read_number(last_text, text, field)
            # "fri-sun" and "6-7" end on Sunday, which is at both ends of the week.
            last = 7 if field is WEEKDAY and last == 0 and first > 0 else last
        elif slash:
            last = field.high
    if last < first:
        end = 6 if field is WEEKDAY else field.high
        raise CronError(
            f'{field.name} range "{span}" runs backwards in "{text}"',
            f'write two parts, "{_span(first, end)},{_span(field.low, last)}"',
        )
    return set(range(first, last + 1, step)), bool(dash or slash or span == "*")


def _span(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}-{last}"


def _read_step(text: str, whole: str, field: Field) -> int:
    if _NUMBER.fullmatch(text) is None or int(text) == 0:
        raise CronError(
            f'{field.name} step "{text}" in "{whole}" is not a positive number',
            f'write "*/n" with n from 1 to {field.high}',
        )
    if int(text) > field.high:
        raise CronError(
            f'{field.name} step {text} in "{whole}" is longer than the field, which ends at {field.high}',
            "steps start again in each hour, day or month, so this would fire once in each;"
            " write one number instead",
        )
    return int(text)


def _read_number(text: str, whole: str, field: Field) -> int:
    named = field.names.get(text.upper())
    if named is not None:
        return named
    if _NUMBER.fullmatch(text) is not None:
        value = int(text)
        if field.low <= value <= field.high:
            return value
        raise CronError(
            f'{field.name} {text} in "{whole}" is out of range',
            f"write a number from {field.low} to {field.high}",
        )
    foreign = _FOREIGN_SIGN.search(text.upper())
    if foreign is not None:
        sign = next(sign for sign in FOREIGN if sign in foreign[0])
        raise CronError(
            f'{field.name} "{whole}" uses "{sign}", which is not part of five-field cron', FOREIGN[sign]
        )
    names = f", or {', '.join(field.names)}" if field.names else ""
    raise CronError(
        f'{field.name} "{whole}" is not understood' + (f' at "{text}"' if text and text != whole else ""),
        f"write numbers from {field.low} to {field.high}{names}, lists (1,2), ranges (1-5), steps (*/2)",
    )


def _refuse_impossible_dates(fields: tuple[FieldValues, ...]) -> None:
    days, months = fields[2], fields[3]
    if any(days.values[0] <= LONGEST_MONTHS[month - 1] for month in months.values):
        return
    names = ", ".join(MONTHS[month - 1].capitalize() for month in months.values)
    longest = max(LONGEST_MONTHS[month - 1] for month in months.values)
    raise CronError(
        f'no such date: {names} never has the day of month "{days.text}"',
        f"write a day up to {longest}, or another month",
    )
