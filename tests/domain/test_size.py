"""Sizes: whole numbers of bytes with one unit, decimal or binary."""

import pytest

from tidegate.domain.size import SizeError, parse_size, size_text


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("0MB", 0),
        ("1KB", 1_000),
        ("500MB", 500_000_000),
        ("100GB", 100_000_000_000),
        ("2TB", 2_000_000_000_000),
        ("1KiB", 1_024),
        ("64MiB", 67_108_864),
        ("1GiB", 1_073_741_824),
        ("1TiB", 1_099_511_627_776),
        ("12 MB", 12_000_000),
        ("999999TB", 999_999 * 10**12),
    ],
)
def test_a_size_is_read(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize(
    "text",
    [
        "",
        "12",
        "MB",
        "-1MB",
        "1.5GB",
        "1mb",
        "1Mb",
        "1M",
        "1 000MB",
        "1  MB",
        "1MB\n",
        "1PB",
        "٣MB",
        "1000000TB",
    ],
)
def test_anything_else_is_refused_with_a_hint(text: str) -> None:
    with pytest.raises(SizeError) as refused:
        parse_size(text)
    assert refused.value.hint


@pytest.mark.parametrize("text", ["1KB", "500MB", "100GB", "2TB", "64MiB", "3KiB", "1GiB", "1TiB"])
def test_the_text_of_a_size_is_read_as_the_same(text: str) -> None:
    assert size_text(parse_size(text)) == text


def test_a_size_without_a_round_unit_is_a_number() -> None:
    assert size_text(1_234) == "1234"
    assert size_text(0) == "0"
