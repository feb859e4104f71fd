"""Keys at the ends of the calendar, where date arithmetic overflows, are refused like any other."""

from datetime import UTC, datetime
from itertools import product

import pytest

from tidegate.compiler.compile import compile_files
from tidegate.domain.time.cron import parse

APP = """\
app: a
timezone: ZONE
datasets: {d: {partitions: {cycle: CYCLE, start: START}}}
programs: {p: {run: j.p}}
schedules: {s: {program: p, trigger: {partitions: {dataset: d, keys: [KEY]}}}}
"""
TIMES = {"minute": "-23:59", "hour": "-23:00", "day": "", "week": "", "month": "", "year": ""}
DAYS = ("0000-01-01", "0001-01-01", "9998-12-31", "9999-01-01", "9999-12-31")
ZONES = ("UTC", "Pacific/Kiritimati", "America/New_York")


@pytest.mark.parametrize(("cycle", "day", "zone"), list(product(TIMES, DAYS, ZONES)))
def test_the_ends_of_the_calendar(cycle: str, day: str, zone: str) -> None:
    key = day + TIMES[cycle]
    for start in (key, "1970-01-01"):
        text = APP.replace("ZONE", zone).replace("CYCLE", cycle).replace("START", start).replace("KEY", key)
        codes = {diagnostic.code for diagnostic in compile_files({"f.yaml": text.encode()}).diagnostics}
        assert codes <= {"V205", "V230"}


@pytest.mark.parametrize("key", ["9999-12-31", "0000-01-01"])
def test_a_key_whose_period_does_not_fit_is_refused(key: str) -> None:
    text = (
        APP.replace("ZONE", "UTC").replace("CYCLE", "day").replace("START", "1970-01-01").replace("KEY", key)
    )
    assert [d.code for d in compile_files({"f.yaml": text.encode()}).diagnostics] == ["V205"]


def test_no_fire_beyond_the_ends() -> None:
    with pytest.raises(OverflowError, match="does not fire after"):
        parse("0 0 1 12 *").next_fire(datetime(9999, 12, 30, tzinfo=UTC), "UTC")
    with pytest.raises(OverflowError, match="does not fire before"):
        parse("0 0 31 1 *").previous_fire(datetime(1, 1, 3, tzinfo=UTC), "UTC")
