"""CSV as RFC 4180 has it: what is read, and the place of what is malformed."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.compiler.expansion.csv_rows import Malformed, records

FIELDS = st.text(st.characters(codec="utf-8", exclude_characters="\r\x00"), max_size=8)


def texts(text: str) -> list[list[str]]:
    return [[field.text for field in record] for record in records(text)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", []),
        ("\r\n\n", []),
        ("a", [["a"]]),
        ("a,b\r\nc,d\r\n", [["a", "b"], ["c", "d"]]),
        ("a,b\nc,d\n\n\r\n", [["a", "b"], ["c", "d"]]),
        ("a\n\nb", [["a"], [""], ["b"]]),
        (",\n", [["", ""]]),
        ('"a ""b""",""\n', [['a "b"', ""]]),
        ('"a\r\nb",c\n', [["a\r\nb", "c"]]),
        ("=1+1,@x,-2, a \n", [["=1+1", "@x", "-2", " a "]]),
    ],
)
def test_what_is_read(text: str, found: list[list[str]]) -> None:
    assert texts(text) == found


@pytest.mark.parametrize(
    ("text", "offset"),
    [
        ('a,"b\n', 2),
        ('a,"b"c\n', 5),
        ('a,b"c"\n', 3),
        ('"a" ,b\n', 3),
        ("a\rb\n", 1),
        ('"a"\rb\n', 3),
    ],
)
def test_what_is_malformed_has_its_place(text: str, offset: int) -> None:
    with pytest.raises(Malformed) as caught:
        texts(text)
    assert caught.value.offset == offset


@given(st.lists(st.lists(FIELDS, min_size=2, max_size=4), max_size=5))
def test_it_reads_what_the_library_writes(rows: list[list[str]]) -> None:
    written = io.StringIO()
    csv.writer(written).writerows(rows)
    assert texts(written.getvalue()) == rows
