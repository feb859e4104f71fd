"""The month was closed although one of its days had failed, as only its last day was waited for.

`period: month` waits for every day of it; so do weeks, years, and spans of hours and days.
"""

import pytest

from tests.field.played import failures
from tidegate.compiler.compile import compile_files

APP = """
app: books
datasets: {{days: {{partitions: {{cycle: day, start: 2026-01-01}}}}}}
programs: {{add_up: {{run: x.a, writes: [days]}}, close: {{run: x.c, reads: [days]}}}}
tasks:
  daily: {{program: add_up, cycle: day, at: {{time: "02:00"}}, status: active}}
  close:
    program: close
    cycle: day
    at: {{time: "05:00"}}
    depends_on: [{{task: daily, period: {period}}}]
    status: active
examples:
  - name: it
    start: 2026-02-25T00:00:00Z
    until: 2026-04-10T12:00:00Z
    programs: {{add_up@{failed}: {{ends: failed}}}}
    expect_only: []
    expect: [{{at: {at}T05:01:00Z, instance: close, scheduled: {of}, status: {status}}}]
"""


@pytest.mark.parametrize(
    ("period", "failed", "of", "at", "status"),
    [
        ("month", "2026-03-20", "2026-04-01", "2026-04-05", "not_run"),
        ("month", "2026-04-03", "2026-04-01", "2026-04-05", "successful"),
        # The business date of 1 March is the last day of February.
        ("month", "2026-03-02", "2026-03-01", "2026-03-05", "successful"),
        ("week", "2026-03-12", "2026-03-09", "2026-03-20", "not_run"),
        ("week", "2026-03-16", "2026-03-09", "2026-03-20", "successful"),
        ("7d", "2026-03-04", "2026-03-10", "2026-03-10", "not_run"),
        ("7d", "2026-03-03", "2026-03-10", "2026-03-10", "successful"),
        ("36h", "2026-03-09", "2026-03-10", "2026-03-10", "not_run"),
        ("36h", "2026-03-08", "2026-03-10", "2026-03-10", "successful"),
    ],
)
def test_every_day_of_the_period_is_waited_for(
    period: str, failed: str, of: str, at: str, status: str
) -> None:
    assert failures(APP.format(period=period, failed=failed, of=of, at=at, status=status)) == []


BUSINESS = "business_date: previous_business_day"


@pytest.mark.parametrize(
    ("of_daily", "of_close", "failed", "of", "at", "status"),
    [
        # 30 January is a Friday: the last instance about it is that of Monday, 2 February.
        (BUSINESS, "", "2026-02-02", "2026-02-01", "2026-02-04", "not_run"),
        (BUSINESS, "", "2026-02-03", "2026-02-01", "2026-02-04", "successful"),
        # Monday, 2 March, is about Friday, 27 February.
        ("", BUSINESS, "2026-03-03", "2026-03-02", "2026-03-04", "successful"),
        ("", BUSINESS, "2026-02-20", "2026-03-02", "2026-03-04", "not_run"),
        # What ends within the month is waited for no longer than that.
        ("valid_to: 2026-03-10", "", "2026-01-01", "2026-03-05", "2026-03-12", "successful"),
    ],
)
def test_a_month_is_that_of_the_business_dates(
    of_daily: str, of_close: str, failed: str, of: str, at: str, status: str
) -> None:
    text = APP.format(period="month", failed=failed, of=of, at=at, status=status)
    text = text.replace("2026-02-25T", "2026-01-01T").replace("2026-04-10T", "2026-03-15T")
    if of_daily:
        text = text.replace('at: {time: "02:00"},', f'at: {{time: "02:00"}}, {of_daily},')
    if of_close:
        text = text.replace("  close:\n    program", f"  close:\n    {of_close}\n    program")
    assert failures(text) == []


def test_a_backfill_waits_for_the_business_day_before_a_weekend() -> None:
    text = APP.format(period="same", failed="", of="2026-03-02", at="2026-03-03", status="successful")
    head = text[: text.index("examples:")].replace(
        "cycle: day, at", f"cycle: day, {BUSINESS}, calendar: office, at"
    )
    head = head.replace("  close:\n    program", f"  close:\n    {BUSINESS}\n    program")
    head = head.replace("datasets:", "calendars: {office: {weekend: [sat, sun]}}\ndatasets:", 1)
    example = """
examples:
  - name: it
    start: 2026-04-10T00:00:00Z
    given: [{at: +1h, backfill: {task: close, from: 2026-03-27, to: 2026-03-27, upstream: true}}]
    until: +3h
    expect_only: [close]
    expect:
      - {at: +61m, launch: close, business_date: 2026-03-27}
      - at: +2h
        instance: close
        business_date: 2026-03-27
        status: successful
        upstream: {daily: [2026-03-30]}
"""
    assert failures(head + example) == []


@pytest.mark.parametrize("period", ["fortnight", "7", "0s", ""])
def test_another_word_is_an_error(period: str) -> None:
    text = APP.format(
        period=f'"{period}"', failed="2026-03-20", of="2026-03-20", at="2026-03-20", status="failed"
    )
    assert not compile_files({"a.yaml": text.encode()}).ok
