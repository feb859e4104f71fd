"""Several outputs of a step are one commit: what dies, fails or is left out in between."""

from collections.abc import Iterator

import pytest
from dagster import (
    AssetExecutionContext,
    AssetIn,
    AssetOut,
    AssetsDefinition,
    Failure,
    Output,
    RetryPolicy,
    asset,
    multi_asset,
)
from pyspark.sql import DataFrame

from tests.dagster_defs.io_manager.house import House
from tidegate import io_manager
from tidegate.dagster_defs.io_manager import tables
from tidegate.dagster_defs.io_manager.step_outputs import StepOutputs
from tidegate.scheduler.store import patience
from tidegate.scheduler.store.error import StoreAway
from tidegate.scheduler.store.sql.store import SqlStore

pytestmark = [pytest.mark.spark, pytest.mark.dagster]

APPEND = {"tidegate/write": "append"}


def pair(house: House, *, leave_out: str = "", die: bool = False, required: bool = False) -> AssetsDefinition:
    """A multi-asset of two tables that are appended to, whose code may end early in one of two ways."""

    @multi_asset(
        outs={name: AssetOut(is_required=required, metadata=APPEND) for name in ("a", "b")},
        can_subset=not required,
        name="pair",
    )
    def both(context: AssetExecutionContext) -> Iterator[Output[DataFrame]]:
        for name in sorted(context.selected_output_names):
            if name != leave_out:
                yield Output(house.spark.range(2).toDF("n"), output_name=name, metadata={"by": name})
            if die:
                raise Failure("between two outputs")

    return both


TWO = [(0,), (1,)]


def test_two_outputs_are_one_commit(house: House) -> None:
    both = pair(house, required=True)

    run = house.run(both)

    commit = f"{run.run_id}.pair"
    assert house.materialised("a") == house.materialised("b") == [(None, 2, commit)]
    assert [one.metadata["by"].value for one in run.asset_materializations_for_node("pair")] == ["a", "b"]
    assert house.rows(both, "a") == house.rows(both, "b") == TWO
    assert house.commits().result(commit) is not None


def test_nothing_is_published_or_shown_if_the_code_fails_between_two_outputs(house: House) -> None:
    failed = house.run(pair(house, die=True), fails=True)

    assert house.materialised("a") == house.materialised("b") == []
    assert house.rows(pair(house), "a") == []
    assert house.staging() == []
    assert house.commits().attempts() == ()

    again = house.again(failed.run_id, pair(house))

    assert house.materialised("a") == house.materialised("b") == [(None, 2, f"{failed.run_id}.pair")]
    assert again.run_id != failed.run_id


def test_an_optional_output_may_be_left_out(house: House) -> None:
    @asset
    def reader(a: DataFrame) -> DataFrame:
        return a

    run = house.run(pair(house, leave_out="b"), reader)

    assert house.materialised("a") == [(None, 2, f"{run.run_id}.pair")]
    assert house.materialised("b") == []
    assert house.rows(reader) == TWO


def test_a_subset_is_a_commit_of_its_own_and_repeats_nothing(house: House) -> None:
    both = pair(house)

    @asset(ins={"a": AssetIn("a")})
    def broken(a: DataFrame) -> DataFrame:
        raise Failure("after the tables were published")

    one = house.run(both, broken, selection=["a", "broken"], fails=True)
    two = house.again(one.run_id, both)
    three = house.again(two.run_id, both)

    # An append is not repeated after a success either.
    assert house.rows(both, "a") == house.rows(both, "b") == TWO
    first, rest = f"{one.run_id}.pair", f"{one.run_id}.pair.b"
    assert house.materialised("a") == [(None, 2, first)] * 3
    assert house.materialised("b") == [(None, 2, rest)] * 2
    assert three.success


def test_a_step_is_retried_with_the_same_commit(house: House) -> None:
    tries: list[int] = []

    @asset(metadata=APPEND, retry_policy=RetryPolicy(max_retries=1))
    def shaky(context: AssetExecutionContext) -> Iterator[Output[DataFrame]]:
        tries.append(context.retry_number)
        yield Output(house.spark.range(2).toDF("n"))
        if len(tries) == 1:
            raise RuntimeError("after its output was published")

    run = house.run(shaky)

    assert tries == [0, 1]
    assert house.rows(shaky) == TWO
    assert house.materialised("shaky") == [(None, 2, f"{run.run_id}.shaky")] * 2


def test_a_store_that_is_away_is_waited_for_and_then_the_step_is_tried_again(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patience, "FIRST_PAUSE_SECONDS", 0.001)
    monkeypatch.setattr(tables, "RETRY_WAIT_SECONDS", 0)
    opened, begun, tries = list[str](), list[int](), list[int]()
    real_open, real_begin = io_manager._open_store, StepOutputs.begin

    def away_once(url: str) -> SqlStore:
        opened.append(url)
        if len(opened) == 1:
            raise StoreAway("the server is restarted")
        return real_open(url)

    def away_twice(outputs: StepOutputs) -> None:
        begun.append(1)
        if len(begun) < 3:
            raise StoreAway("the server is restarted")
        real_begin(outputs)

    monkeypatch.setattr(io_manager, "_open_store", away_once)
    monkeypatch.setattr(StepOutputs, "begin", away_twice)

    @asset
    def numbers() -> DataFrame:
        tries.append(1)
        return house.spark.range(2).toDF("n")

    house.run(numbers)

    assert len(tries) == 3
    assert house.rows(numbers) == TWO
