"""Values of measures for people."""

from datetime import timedelta

import pytest

from tidegate.domain.maintenance.measures import DAY
from tidegate.scheduler.explain.operations.measure_text import age_text, bytes_text, value_text


@pytest.mark.parametrize(
    ("measure", "value", "text"),
    [
        ("small_file_percent", 33.333, "33.33%"),
        ("files", 12_000, "12,000"),
        ("files", 0, "0"),
        ("delete_ratio", 0.25, "0.25"),
        ("partition_skew", 3.0, "3"),
        ("total_size", 5e12, "5TB"),
        ("oldest_snapshot_age", 10.25 * DAY, "10.2d"),
        ("something_new", 7, "7"),
        ("files", None, "unknown"),
    ],
)
def test_each_measure_has_its_unit(measure: str, value: float | None, text: str) -> None:
    assert value_text(measure, value) == text


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 bytes"),
        (999, "999 bytes"),
        (1000, "1KB"),
        (999_949, "999.9KB"),
        (999_950, "1MB"),
        (2e18, "2000PB"),
    ],
)
def test_sizes(size: float, text: str) -> None:
    assert bytes_text(size) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0s"),
        (-5, "0s"),
        (59.9, "59s"),
        (60, "1m"),
        (3_599, "59m"),
        (3_600, "1h"),
        (86_400, "1d"),
        (129_600, "1.5d"),
    ],
)
def test_ages(seconds: float, text: str) -> None:
    assert age_text(timedelta(seconds=seconds)) == text
