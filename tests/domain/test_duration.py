"""Durations: one unit, or ISO 8601 without years and months; from a tenth of a second to 366 days."""

from datetime import timedelta

import pytest

from tidegate.domain.duration import DurationError, duration_text, parse_duration


@pytest.mark.parametrize(
    ("text", "duration"),
    [
        ("1s", timedelta(seconds=1)),
        ("0.1s", timedelta(milliseconds=100)),
        ("0.25s", timedelta(milliseconds=250)),
        ("1.005s", timedelta(milliseconds=1005)),
        ("90s", timedelta(seconds=90)),
        ("15m", timedelta(minutes=15)),
        ("4h", timedelta(hours=4)),
        ("2d", timedelta(days=2)),
        ("366d", timedelta(days=366)),
        ("007m", timedelta(minutes=7)),
        ("PT1H30M", timedelta(minutes=90)),
        ("PT90S", timedelta(seconds=90)),
        ("P1D", timedelta(days=1)),
        ("P2W", timedelta(weeks=2)),
        ("P1DT12H", timedelta(hours=36)),
    ],
)
def test_a_duration_is_read(text: str, duration: timedelta) -> None:
    assert parse_duration(text) == duration


@pytest.mark.parametrize(
    "text",
    [
        "",
        "10",
        "m",
        "1.5h",
        "-1h",
        "1h30m",
        "1 h",
        "1H",
        "P",
        "PT",
        "P1Y",
        "P1M",
        "P1DT",
        "P1H",
        "1h\n",
        "٣s",
        "0s",
        "0.09s",
        ".5s",
        "0.5m",
        "0.1234s",
        "367d",
        "99999999d",
        "999999999s",
        "P99999999W",
    ],
)
def test_anything_else_is_refused_with_a_hint(text: str) -> None:
    with pytest.raises(DurationError) as refused:
        parse_duration(text)
    assert refused.value.hint


def test_scenarios_may_allow_no_time_at_all() -> None:
    assert parse_duration("0s", minimum=timedelta(0)) == timedelta(0)


@pytest.mark.parametrize("text", ["0.1s", "1.25s", "1.005s", "1s", "90s", "15m", "4h", "2d", "366d"])
def test_the_text_of_a_duration_is_read_as_the_same(text: str) -> None:
    assert duration_text(parse_duration(text)) == text


def test_the_text_of_a_duration_is_the_shortest() -> None:
    assert [duration_text(timedelta(seconds=s)) for s in (0, 60, 61, 3_600, 86_400, 90_000)] == [
        "0s",
        "1m",
        "61s",
        "1h",
        "1d",
        "25h",
    ]
