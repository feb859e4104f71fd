"""Numbers of a counter are proven unique by the bits of words; the proof never says more than what is so."""

import pytest
from pyspark.sql import SparkSession

from tests.spark_jobs.frames import frame_of
from tidegate.domain.model import NotNullCheck, UniqueCheck
from tidegate.spark_jobs.checks import distinct_numbers
from tidegate.spark_jobs.checks.judge import judge
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef

pytestmark = pytest.mark.spark

LEAST = -(2**63)


@pytest.mark.parametrize(
    ("numbers", "bad", "proven"),
    [
        ([*range(-200, 200)], 0, True),
        ([*range(-200, 200), 63], 2, False),
        ([None, *range(300), None], 0, True),
        ([None, None], 0, False),
        ([LEAST, -LEAST - 1, 0, 0], 2, False),
        ([LEAST, LEAST + 1, LEAST + 2, LEAST + 3], 0, True),
        ([0, 64, 128, 192], 0, False),
    ],
)
def test_numbers_are_unique(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, numbers: list[int | None], bad: int, proven: bool
) -> None:
    monkeypatch.setattr(distinct_numbers, "MANY_ROWS", 1)
    unique = UniqueCheck(name="unique", columns=("Id",))
    ref = DatasetRef(app="shop", name="orders", checks=(NotNullCheck(name="null", columns=("id",)), unique))
    rows = frame_of(spark, [(number,) for number in numbers], "id bigint").repartition(3)

    null, found = judge(ref, {"": len(numbers)}, lambda: rows)

    assert (null.bad, found.bad) == (numbers.count(None), bad)
    known = sorted(number for number in numbers if number is not None)
    spread = distinct_numbers.Spread(known[0] if known else None, known[-1] if known else None, len(known))
    assert distinct_numbers.are_distinct_numbers(rows.where("id IS NOT NULL"), spread) is proven
