"""Cron patterns of Quartz: five fields, or six with the seconds first, with Sunday as day 1 of the week.

`?` is `*`, a step of a single number begins at it, and a range may run over the end of its field. What our
crons do not have (`L`, `W`, `#`, seconds, years) is not translated.
"""

import re

from tidegate.domain.time.cron_field import FIELDS, WEEKDAY, Field
from tidegate.project.other_schedulers.translated import NotTranslated, check_cron

_RANGE = re.compile(r"(\w+)-(\w+)")


def pattern_of(text: str) -> str:
    """Return a pattern as ours.

    Raises:
        NotTranslated: it has no translation.
    """
    parts = text.split()
    if len(parts) == 6:
        if parts[0] != "0":
            raise NotTranslated(f"seconds other than 0, {parts[0]}: a cron here has minutes")
        parts = parts[1:]
    if len(parts) != 5:
        raise NotTranslated("not five or six fields")
    fields = [_field(part, field) for part, field in zip(parts, FIELDS, strict=True)]
    if fields[2] != "*" and fields[4] != "*":
        raise NotTranslated("both a day of the month and a day of the week, which Quartz does not have")
    pattern = " ".join(fields)
    check_cron(pattern)
    return pattern


def _field(text: str, field: Field) -> str:
    if text == "?":
        return "*"
    return ",".join(_item(item, field) for item in text.split(","))


def _item(item: str, field: Field) -> str:
    """Return one item of a list: days of the week one lower, and a range over the end as two."""
    span, slash, step = item.partition("/")
    found = _RANGE.fullmatch(span)
    if found is None:
        # With a step the item goes on to the end of its field; 1/2 is every second day from Sunday on.
        end = "-6" if slash and field is WEEKDAY and span != "*" else ""
        return f"{_number(span, field)}{end}{slash}{step}"
    first, last = (_number(each, field) for each in found.groups())
    low, high = field.low, 6 if field is WEEKDAY else field.high
    if not _is_backwards(first, last, field):
        return f"{first}-{last}{slash}{step}"
    if slash:
        raise NotTranslated(f"a step in a range over the end of its field, {item}")
    return f"{first}-{high},{low}-{last}"


def _number(text: str, field: Field) -> str:
    """Return a number or name of a field; the days of the week are counted from 1 in Quartz, from 0 here."""
    if field is not WEEKDAY or not text.isdecimal():
        return text
    if not 1 <= int(text) <= 7:
        raise NotTranslated(f"a day of the week outside 1 to 7, {text}")
    return str(int(text) - 1)


def _is_backwards(first: str, last: str, field: Field) -> bool:
    ends = [field.names.get(each.upper(), int(each) if each.isdecimal() else None) for each in (first, last)]
    return ends[0] is not None and ends[1] is not None and ends[0] > ends[1]
