"""Zones whose clocks change in all the ways there are, and patterns of cron drawn by chance."""

import random
from datetime import UTC, datetime

from tidegate.domain.time.clock_change import ClockChange, clock_changes

ZONES = (
    "Africa/Cairo",  # at midnight
    "Africa/Casablanca",  # around Ramadan, with negative daylight saving
    "America/Havana",  # at midnight and at one
    "America/New_York",
    "America/Nuuk",  # back over midnight
    "America/Santiago",  # in the south, at midnight
    "America/St_Johns",  # half past the hours of others
    "Antarctica/Troll",  # by two hours
    "Asia/Beirut",  # back over midnight
    "Asia/Jerusalem",  # on a Friday
    "Asia/Kolkata",  # never
    "Atlantic/Azores",  # at midnight and at one
    "Australia/Lord_Howe",  # by half an hour
    "Australia/Sydney",
    "Europe/Berlin",
    "Europe/Chisinau",
    "Europe/Dublin",  # with negative daylight saving
    "Europe/Lisbon",
    "Pacific/Auckland",
    "Pacific/Chatham",  # at a quarter to three
)
"""Twenty zones, each with what is odd about it."""

YEAR = 2026

MINUTES = ("*", "0", "30", "*/15", "*/7", "5,35", "10-20", "59", "45/5")
HOURS = ("*", "*/2", "*/3", "0-5", "1,2,3", "2", "0", "23", "1-3/2", "0,12", "8-18", "0-23", "3", "22-23")
DAYS = ("*", "*", "*", "*/2", "1", "25-31", "8", "29", "1-7")
MONTHS = ("*", "*", "*", "3,4,10,11", "*/2")
WEEKDAYS = ("*", "*", "*", "0", "sun", "1-5", "6-7", "*/3", "fri")


def changes_in(zone: str, year: int) -> list[ClockChange]:
    """The changes of a zone's clocks within a year of UTC."""
    begin = datetime(year, 1, 1, tzinfo=UTC)
    return list(clock_changes(zone, begin, begin.replace(year=year + 1)))


def random_pattern(chance: random.Random) -> str:
    """A pattern of five fields, most of them in the hours in which clocks are changed."""
    fields = (MINUTES, HOURS, DAYS, MONTHS, WEEKDAYS)
    return " ".join(chance.choice(choices) for choices in fields)
