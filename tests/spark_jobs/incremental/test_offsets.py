"""A source that counts its rows: which range is new, and what is refused."""

from pathlib import Path
from typing import Any

import pytest

from tests.spark_jobs.staging import DAILY
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef, Warehouse
from tidegate.spark_jobs.datasets.increment import IncrementalRead
from tidegate.spark_jobs.errors import ProgramError, SourceError
from tidegate.spark_jobs.incremental import offsets as incremental_offsets
from tidegate.spark_jobs.incremental.offsets import Range, new_ranges
from tidegate.spark_jobs.programs.loading import load_source
from tidegate.spark_jobs.programs.params import Params

D22, D23 = "2013-12-22", "2013-12-23"


def asked(positions: dict[str, str] | None = None, *, daily: bool = False) -> IncrementalRead:
    return IncrementalRead(
        consumer="test/load",
        ref=DatasetRef(app="test", name="orders", scheme=DAILY if daily else None),
        warehouse=Warehouse(path=Path("w"), project=Path("p")),
        params=Params(),
        positions=positions or {},
        selects=lambda key: key != D23,
    )


@pytest.mark.parametrize(
    ("sentence", "positions", "newest", "ranges"),
    [
        ("a part is read from its beginning at first", {}, {"": 7}, {"": Range(after=None, upto=7)}),
        ("then from where it was left", {"": "7"}, {"": 9}, {"": Range(after=7, upto=9)}),
        ("what does not change is not read", {"": "7"}, {"": 7}, {}),
        ("numbers are compared as numbers", {"": "9"}, {"": 10}, {"": Range(after=9, upto=10)}),
        ("texts as texts", {"": '"a9"'}, {"": "b1"}, {"": Range(after="a9", upto="b1")}),
        (
            "parts are apart",
            {"eu": "5", "us": "8"},
            {"eu": 6, "us": 8, "asia": 1},
            {"eu": Range(after=5, upto=6), "asia": Range(after=None, upto=1)},
        ),
        ("a part that the source has forgotten is left alone", {"eu": "5"}, {}, {}),
        ("zero is an offset", {}, {"": 0}, {"": Range(after=None, upto=0)}),
    ],
)
def test_what_is_new(
    sentence: str, positions: dict[str, str], newest: dict[str, Any], ranges: dict[str, Range]
) -> None:
    assert new_ranges("feeds.orders", newest, asked(positions)) == ranges


def test_the_parts_of_a_dataset_with_partitions_are_its_keys_and_only_those_of_the_run_are_read() -> None:
    assert list(new_ranges("feeds.orders", {D22: 1, D23: 1}, asked(daily=True))) == [D22]
    with pytest.raises(SourceError, match="gives the part 'eu', and test/orders has no such partition"):
        new_ranges("feeds.orders", {"eu": 1}, asked(daily=True))


@pytest.mark.parametrize(
    ("positions", "newest", "message", "hint"),
    [
        ({"": "9"}, {"": 8}, "has fallen from 9 to 8; an offset never falls", "--to '8'"),
        ({"eu": '"b"'}, {"eu": "a"}, "part 'eu', has fallen from 'b' to 'a'", "--part 'eu' --to '\"a\"'"),
        ({"": "9"}, {"": "9"}, "gives '9' after 9: one is a number, the other a text", "--to ''"),
        ({}, {"": True}, "gives the offset True", "whole numbers"),
        ({}, {"": 1.5}, "gives the offset 1.5", "whole numbers"),
        ({}, {"": ""}, "gives an offset of 0 characters", "leave a part without rows out"),
        ({}, {"": "x" * 1_001}, "gives an offset of 1001 characters", "1 to 1000 characters"),
        ({}, {1: 1}, "returned the part 1", "use texts as names of parts"),
        ({}, [1], "newest returned list", 'for example {"": 1200}'),
        ({"": '{"snapshot":1}'}, {"": 1}, "is not an offset", "--to '1200'"),
    ],
)
def test_what_cannot_be_is_refused_in_words(
    positions: dict[str, str], newest: Any, message: str, hint: str
) -> None:
    with pytest.raises(SourceError) as caught:
        new_ranges("feeds.orders", newest, asked(positions))
    assert message in caught.value.message
    assert hint in caught.value.hint


def test_there_are_only_so_many_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(incremental_offsets, "MAX_PARTS", 1)
    with pytest.raises(SourceError, match="returned 2 parts, at most 1 are allowed"):
        new_ranges("feeds.orders", {"a": 1, "b": 1}, asked())


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("no.such.module", "source no.such.module: no such module"),
        ("tests.spark_jobs.staging", "has no function newest"),
    ],
)
def test_a_module_that_is_none(path: str, message: str) -> None:
    with pytest.raises(ProgramError, match=message):
        load_source(path)
