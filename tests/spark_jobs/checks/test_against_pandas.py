"""Each kind of check finds what pandas finds in the same rows: with nulls, NaN, and without rows."""

import random
import re
from collections.abc import Callable, Mapping
from datetime import date
from decimal import Decimal
from math import isnan, nan
from typing import Any

import pandas as pd
import pytest
from pyspark.sql import DataFrame, SparkSession

from tests.spark_jobs.frames import frame_of
from tidegate.domain.model import (
    Bounds,
    Check,
    MatchesCheck,
    NotNullCheck,
    PartitionScheme,
    RangeCheck,
    RowsCheck,
    TimeDimension,
    UniqueCheck,
    ValuesCheck,
)
from tidegate.spark_jobs.checks.judge import judge
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef

pytestmark = pytest.mark.spark

SCHEMA = (
    "id bigint, Day string, price double, share float, state string, sum decimal(10,2), on date, ok boolean"
)
CHECKS: tuple[Check, ...] = (
    RowsCheck(name="rows", min=2, max=60),
    NotNullCheck(name="null_id", columns=("id",)),
    NotNullCheck(name="null_two", columns=("Price", "state")),
    UniqueCheck(name="unique_id", columns=("ID",)),
    UniqueCheck(name="unique_two", columns=("day", "price")),
    ValuesCheck(name="values_state", values={"state": ("open", "DONE", "7")}),
    ValuesCheck(name="values_price", values={"price": (0.0, 1, "2.5")}),
    ValuesCheck(name="values_two", values={"id": (1, 2, 3, 4, 5), "ok": (True,)}),
    ValuesCheck(name="values_sum", values={"sum": (1.25, 3)}),
    ValuesCheck(name="values_on", values={"on": ("2013-01-01", "2013-01-02")}),
    RangeCheck(name="range_price", range={"price": Bounds(min=0, max=2.5)}),
    RangeCheck(name="range_least", range={"price": Bounds(min=0)}),
    RangeCheck(name="range_share", range={"share": Bounds(max=0.1)}),
    RangeCheck(name="range_id", range={"id": Bounds(min=1.5, max=4.5)}),
    RangeCheck(name="range_sum", range={"sum": Bounds(min="1.25", max=3)}),
    RangeCheck(name="range_on", range={"on": Bounds(max="2013-01-02"), "Day": Bounds(min="b")}),
    MatchesCheck(name="matches_state", matches={"state": "[a-z]+|DONE"}),
)


def outside(bounds: tuple[Any, Any], value: Any) -> bool:
    least, most = bounds
    if value is None:
        return False
    if isinstance(value, float) and isnan(value):
        return True
    return (least is not None and value < least) or (most is not None and value > most)


SINGLE = pd.Series([0.1], dtype="float32")[0].item()
"""0.1 as a column of floats has it."""

BAD: Mapping[str, Callable[[pd.DataFrame], "pd.Series[bool]"]] = {
    "null_id": lambda f: f["id"].map(lambda v: v is None),
    "null_two": lambda f: f["price"].map(lambda v: v is None) | f["state"].map(lambda v: v is None),
    "unique_id": lambda f: repeated(f, ["id"]),
    "unique_two": lambda f: repeated(f, ["Day", "price"]),
    "values_state": lambda f: f["state"].map(lambda v: v not in (None, "open", "DONE", "7")),
    "values_price": lambda f: f["price"].map(lambda v: v not in (None, 0.0, 1.0, 2.5)),
    "values_two": lambda f: (
        f["id"].map(lambda v: v not in (None, 1, 2, 3, 4, 5)) | f["ok"].map(lambda v: v not in (None, True))
    ),
    "values_sum": lambda f: f["sum"].map(lambda v: v not in (None, Decimal("1.25"), Decimal("3"))),
    "values_on": lambda f: f["on"].map(lambda v: str(v) not in ("None", "2013-01-01", "2013-01-02")),
    "range_price": lambda f: f["price"].map(lambda v: outside((0, 2.5), v)),
    "range_least": lambda f: f["price"].map(lambda v: outside((0, None), v)),
    "range_share": lambda f: f["share"].map(lambda v: outside((None, SINGLE), v)),
    "range_id": lambda f: f["id"].map(lambda v: outside((1.5, 4.5), v)),
    "range_sum": lambda f: f["sum"].map(lambda v: outside((Decimal("1.25"), Decimal(3)), v)),
    "range_on": lambda f: (
        f["on"].map(lambda v: outside((None, pd.Timestamp("2013-01-02").date()), v))
        | f["Day"].map(lambda v: outside(("b", None), v))
    ),
    "matches_state": lambda f: f["state"].map(
        lambda v: v is not None and re.fullmatch("[a-z]+|DONE", v) is None
    ),
}


def repeated(frame: pd.DataFrame, columns: list[str]) -> "pd.Series[bool]":
    known = ~frame[columns].map(lambda v: v is None).any(axis=1)
    return known & frame[known].duplicated(columns, keep=False).reindex(frame.index, fill_value=False)


def some_rows(seed: int, rows: int, nulls: float) -> list[tuple[Any, ...]]:
    """Rows with each kind of value, of which a part is null, NaN or a negative zero."""
    chance = random.Random(seed)

    def one_of(*values: Any) -> Any:
        return None if chance.random() < nulls else chance.choice(values)

    days = [pd.Timestamp(f"2013-01-0{day}").date() for day in (1, 2, 3)]
    return [
        (
            one_of(*range(max(rows, 3))), chance.choice("abc"), one_of(0.0, -0.0, 1.0, 2.5, 2.6, -3.0, nan),
            one_of(SINGLE, 0.2, nan, -1.0), one_of("open", "DONE", "done", "7", "open\n", ""),
            one_of(Decimal("1.25"), Decimal("3.00"), Decimal("3.01")), one_of(*days), one_of(True, False),
        )
        for _ in range(rows)
    ]  # fmt: skip


def rows_of(spark: SparkSession, data: list[tuple[Any, ...]]) -> DataFrame:
    texts = [[str(value) if isinstance(value, Decimal | date) else value for value in row] for row in data]
    return frame_of(spark, texts, SCHEMA)


@pytest.mark.parametrize(("seed", "rows", "nulls"), [(1, 0, 0.0), (2, 1, 0.0), (4, 61, 0.3), (5, 30, 1.0)])
def test_checks_find_what_pandas_finds(spark: SparkSession, seed: int, rows: int, nulls: float) -> None:
    data = some_rows(seed, rows, nulls)
    frame = pd.DataFrame(data, columns=[part.split()[0] for part in SCHEMA.split(", ")], dtype=object)
    ref = DatasetRef(app="shop", name="orders", checks=CHECKS)

    verdicts = {each.name: each for each in judge(ref, {"": rows}, lambda: rows_of(spark, data))}

    assert list(verdicts) == [check.name for check in CHECKS]
    assert {name: verdicts[name].bad for name in BAD} == {
        name: int(bad(frame).sum()) if rows else 0 for name, bad in BAD.items()
    }
    for verdict in verdicts.values():
        assert verdict.passed == (verdict.bad == 0)
        assert (len(verdict.samples) > 0) == (verdict.bad > 0 and verdict.kind != "rows")
        assert verdict.rows == rows
    assert verdicts["rows"].passed == (2 <= rows <= 60)


def test_rows_are_counted_in_each_of_a_thousand_partitions(spark: SparkSession) -> None:
    keys = [f"{2000 + number // 300}-{number % 300:03}" for number in range(1_000)]
    days = PartitionScheme(time=TimeDimension(name="day", cycle="day", start="2000-01-01"))
    data = pd.DataFrame({"day": [key for at, key in enumerate(keys) for _ in range(at % 4)]})
    data["id"] = range(len(data))
    frame = frame_of(spark, [*data.itertuples(index=False, name=None)], "day string, id bigint")
    counts = data.groupby("day").size().reindex(keys, fill_value=0)
    checks = (
        RowsCheck(name="some", min=1),
        RowsCheck(name="few", max=2),
        UniqueCheck(name="u", columns=("day",)),
    )
    ref = DatasetRef(app="shop", name="orders", scheme=days, checks=checks)

    some, few, unique = judge(ref, counts.to_dict(), lambda: frame)

    assert (some.bad, few.bad) == (int((counts < 1).sum()), int((counts > 2).sum())) == (250, 250)
    assert some.partitions == tuple(counts[counts < 1].index[:5])
    assert some.found.startswith("2000-000: 0 rows, 2000-004: 0 rows, ")
    assert some.found.endswith(" and 245 more, at least 1 row")
    assert unique.bad == int(data.duplicated("day", keep=False).sum())
    assert unique.samples == tuple({"day": key} for key in (keys[2], keys[3], keys[6], keys[7], keys[10]))
