"""What was measured of a table, for people: values in their units."""

from datetime import timedelta

from tidegate.domain.duration import duration_text
from tidegate.domain.maintenance.measures import DAY, MEASURES

_UNITS = ("bytes", "KB", "MB", "GB", "TB", "PB")

HOUR = 3_600.0


def value_text(measure: str, value: float | None) -> str:
    """Return a value of a measure: "60%", "1.2GB", "10.5d", "1,200"; "unknown" for None."""
    if value is None:
        return "unknown"
    known = MEASURES.get(measure)
    match "count" if known is None else known.unit:
        case "percent":
            return f"{number_text(value)}%"
        case "bytes":
            return bytes_text(value)
        case "seconds":
            return age_text(timedelta(seconds=value))
        case _:
            return number_text(value)


def number_text(value: float) -> str:
    """Return a number with at most two decimals: "1,200", "0.25"."""
    text = f"{value:,.2f}"
    return text.rstrip("0").rstrip(".")


def bytes_text(value: float) -> str:
    """Return a size with at most one decimal: "512MB", "1.2GB"."""
    unit = 0
    while abs(value) >= 999.95 and unit < len(_UNITS) - 1:
        value, unit = value / 1000, unit + 1
    text = f"{value:.1f}".removesuffix(".0")
    return f"{text}{'' if unit else ' '}{_UNITS[unit]}"


def age_text(age: timedelta) -> str:
    """Return how long ago something was, in the unit that a person would name: "40s", "7m", "3h", "10.5d"."""
    seconds = age.total_seconds()
    if seconds >= DAY:
        return f"{number_text(round(seconds / DAY, 1))}d"
    for unit, length in (("h", HOUR), ("m", 60.0)):
        if seconds >= length:
            return f"{int(seconds // length)}{unit}"
    return duration_text(timedelta(seconds=int(max(seconds, 0))))
