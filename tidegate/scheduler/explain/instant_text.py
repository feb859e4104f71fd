"""An instant in the texts for people: in UTC, and in the local time of a zone beside it."""

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

UTC_NAME = "UTC"


def instant_text(instant: datetime, zone: ZoneInfo | None = None) -> str:
    """Return an instant to the second: "2026-03-10 06:00:00Z (02:00 New York)".

    The local part has the day where that is another one: "(03-09 22:00 New York)".

    Args:
        instant: in UTC.
        zone: of the local time; without one, and in UTC, only UTC is shown.
    """
    shown = f"{instant:%Y-%m-%d %H:%M:%SZ}"
    if zone is None:
        return shown
    local = instant.astimezone(zone)
    if local.tzname() == UTC_NAME and local.utcoffset() == timedelta():
        return shown
    form = "%H:%M" if local.date() == instant.date() else "%m-%d %H:%M"
    return f"{shown} ({local.strftime(form)} {zone_name(zone)})"


def zone_name(zone: ZoneInfo) -> str:
    """Return the name of a zone in short: "New York" for "America/New_York"."""
    return zone.key.rpartition("/")[2].replace("_", " ")
