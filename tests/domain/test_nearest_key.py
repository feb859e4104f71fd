"""A wrong partition key is answered with the nearest one that exists, and the order of its dimensions."""

import pytest

from tidegate.domain.model import PartitionScheme, StaticDimension, TimeDimension
from tidegate.domain.nearest_key import WrongKey, key_hint, read_key
from tidegate.domain.partition_key import validate_key

DAYS = PartitionScheme(
    time=TimeDimension(name="day", cycle="day", start="2026-11-20", timezone="America/New_York")
)
HOURS = PartitionScheme(
    time=TimeDimension(name="hour", cycle="hour", start="2026-11-20-00:00", timezone="America/New_York")
)
WEEKS = PartitionScheme(
    time=TimeDimension(name="week", cycle="week", start="2026-11-16", timezone="America/New_York")
)
CITIES = PartitionScheme(static=StaticDimension(name="city", keys=("berlin", "paris")))
BOTH = PartitionScheme(time=HOURS.time, static=CITIES.static)
NAMED_LATER = PartitionScheme(time=DAYS.time, static=StaticDimension(name="origin", keys=("EWR", "JFK")))

NEAREST = [
    (DAYS, "2026-13-05", '"2026-12-05"'),
    (DAYS, "2026-11-31", '"2026-11-30"'),
    (DAYS, "2027-02-29", '"2027-02-28"'),
    (DAYS, "2026-00-00", '"2026-11-20"'),
    (DAYS, "24.12.2026", '"2026-12-24"'),
    (DAYS, "1.12.2026", '"2026-12-01"'),
    (DAYS, "12/24/2026", '"2026-12-24"'),
    (DAYS, "24/12/2026", '"2026-12-24"'),
    (DAYS, "2026/12/24", '"2026-12-24"'),
    (DAYS, "2026-12-1", '"2026-12-01"'),
    (DAYS, "20261224", '"2026-12-24"'),
    (DAYS, "2026-12", '"2026-12-01"'),
    (DAYS, "day=2026-12-24", '"2026-12-24"'),
    (DAYS, "2026-12-24-05:00", '"2026-12-24"'),
    (DAYS, "2020-01-01", '"2026-11-20"'),
    (HOURS, "2026-11-21", '"2026-11-21-00:00"'),
    (HOURS, "2026-11-21-05:30", '"2026-11-21-05:00"'),
    (HOURS, "2026-11-21 05:00", '"2026-11-21-05:00"'),
    (HOURS, "2026-11-21-24:00", '"2026-11-21-23:00"'),
    (HOURS, "2026-11-21T05:30:00Z", '"2026-11-21-00:00"'),
    (HOURS, "24.12.2026 7:15", '"2026-12-24-07:00"'),
    (HOURS, "2027-03-14-02:00", '"2027-03-14-03:00"'),
    (WEEKS, "2026-11-25", '"2026-11-23"'),
    (WEEKS, "2026-W48", '"2026-11-23"'),
    (CITIES, "Berlin", '"berlin"'),
    (CITIES, "pariss", '"paris"'),
    (BOTH, "Berlin|2026-11-21", '"berlin|2026-11-21-00:00"'),
    (BOTH, "berlin|24.12.2026", '"berlin|2026-12-24-00:00"'),
    (BOTH, "berlin,2026-11-21-05:00", '"berlin|2026-11-21-05:00"'),
    (BOTH, "hour=2026-11-21-05:00/city=berlin", '"berlin|2026-11-21-05:00": city comes first, then hour'),
    (BOTH, {"town": "berlin", "hour": "2026-11-21"}, '{"city": "berlin", "hour": "2026-11-21-00:00"}'),
]

SWAPPED = [
    (BOTH, "2026-11-20-00:00|berlin", '"berlin|2026-11-20-00:00": city comes first, then hour'),
    (BOTH, "2026-13-20-00:00|Berlin", '"berlin|2026-12-20-00:00": city comes first, then hour'),
    (NAMED_LATER, "JFK|2026-11-21", '"2026-11-21|JFK": day comes first, then origin'),
]

UNREADABLE = [
    (DAYS, "", '"2026-11-20"'),
    (DAYS, "today", '"2026-11-20"'),
    (DAYS, "9999-12-31", '"2026-11-20"'),
    (DAYS, "9" * 5000, '"2026-11-20"'),
    (DAYS, "\u0662\u0660\u0662\u0666-12-24", '"2026-11-20"'),
    (CITIES, "x", '"berlin"'),
    (BOTH, "paris", '"paris|2026-11-20-00:00": city comes first, then hour'),
    (BOTH, "a|b|c", '"berlin|2026-11-20-00:00": city comes first, then hour'),
    (BOTH, {"city": "paris"}, '{"city": "paris", "hour": "2026-11-20-00:00"}'),
]


@pytest.mark.parametrize(("scheme", "written", "nearest"), NEAREST)
def test_the_nearest_key_is_named(scheme, written, nearest):
    wrong = read_key(scheme, written)
    assert isinstance(wrong, WrongKey)
    assert (
        wrong.hint == f"write {nearest}" if "comes first" in nearest else f"write {nearest}, the nearest key"
    )
    if isinstance(written, str):
        assert validate_key(scheme, wrong.hint.split('"')[1]) is None


@pytest.mark.parametrize(("scheme", "written", "turned"), SWAPPED)
def test_swapped_dimensions_are_named_in_their_order(scheme, written, turned):
    wrong = read_key(scheme, written)
    assert isinstance(wrong, WrongKey)
    assert wrong.hint == f"write {turned}"


@pytest.mark.parametrize(("scheme", "written", "example"), UNREADABLE)
def test_what_is_like_no_key_gets_an_example_that_is_not_called_near(scheme, written, example):
    wrong = read_key(scheme, written)
    assert isinstance(wrong, WrongKey)
    assert wrong.hint == f"write for example {example}"
    assert len(wrong.summary) < 200


@pytest.mark.parametrize(
    "written", ["berlin|2026-11-20-00:00", {"hour": "2026-11-20-00:00", "city": "berlin"}]
)
def test_a_key_of_the_scheme_is_its_text(written):
    assert read_key(BOTH, written) == "berlin|2026-11-20-00:00"


def test_an_example_of_the_caller_is_shown_where_none_is_near():
    assert key_hint(DAYS, "today", "2026-11-29") == 'write for example "2026-11-29"'
    assert key_hint(DAYS, "28.11.2026", "2026-11-29") == 'write "2026-11-28", the nearest key'
