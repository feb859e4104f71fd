"""Which changes of partitions leave the meaning of a key as it is."""

import pytest

from tidegate.compiler.plan.part_change import keeps_keys
from tidegate.domain.model import PartitionScheme, StaticDimension, TimeDimension

DAY = TimeDimension(name="day", cycle="day", start="2013-01-01")
PLACE = StaticDimension(name="origin", keys=("EWR", "JFK"))


def time(**changes: str) -> PartitionScheme:
    import msgspec

    return PartitionScheme(time=msgspec.structs.replace(DAY, **changes), static=PLACE)


@pytest.mark.parametrize(
    ("sentence", "after", "kept"),
    [
        ("the same", time(), True),
        ("an earlier start", time(start="2012-01-01"), True),
        ("another zone", time(timezone="Europe/Berlin"), False),
        ("another cycle", time(cycle="week"), False),
        ("another name of the column", time(name="date"), False),
        (
            "a further key",
            PartitionScheme(time=DAY, static=StaticDimension(name="origin", keys=("EWR", "JFK", "LGA"))),
            True,
        ),
        ("another list", PartitionScheme(time=DAY, static=StaticDimension(name="o", keys=("EWR",))), False),
        ("no list", PartitionScheme(time=DAY), False),
        ("no time", PartitionScheme(static=PLACE), False),
        ("no partitions", None, False),
    ],
)
def test_a_key_keeps_its_meaning(sentence: str, after: PartitionScheme | None, kept: bool) -> None:
    assert keeps_keys(time(), after) == kept, sentence
    assert keeps_keys(after, time()) == kept, sentence


def test_without_partitions_there_is_one_key() -> None:
    assert keeps_keys(None, None)
