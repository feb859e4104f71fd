"""The checks of assets: the last output of a step withholds all of them, and Dagster shows what was found."""

from datetime import UTC, datetime
from typing import Any

import pytest
from dagster import AssetCheckKey, AssetKey, AssetOut, asset, multi_asset
from pyspark.sql import DataFrame

from tests.dagster_defs.io_manager.house import House
from tests.spark_jobs.frames import frame_of
from tidegate.domain.model import App, Dataset, NotNullCheck
from tidegate.scheduler.model.deployed import APPS, DeployedApp

pytestmark = [pytest.mark.spark, pytest.mark.dagster]

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
CHECKS = [{"rows": {"min": 2}}, {"unique": ["n"], "severity": "warn"}]


def shown(house: House, name: str, check: str) -> tuple[bool, str | None] | None:
    """The newest result of a check, as Dagster shows it."""
    key = AssetCheckKey(AssetKey([name]), check)
    record = house.instance.event_log_storage.get_latest_asset_check_execution_by_key([key]).get(key)
    if record is None or record.event is None:
        return None
    found = record.event.asset_check_evaluation
    return None if found is None else (found.passed, found.description)


def test_a_failed_check_of_one_output_withholds_all_outputs_of_the_step(house: House) -> None:
    rows: dict[str, list[tuple[Any, ...]]] = {"first": [(1,)], "second": [(7,)]}

    @multi_asset(outs={"first": AssetOut(metadata={"tidegate/checks": CHECKS}), "second": AssetOut()})
    def both() -> tuple[DataFrame, DataFrame]:
        return frame_of(house.spark, rows["first"], "n long"), frame_of(house.spark, rows["second"], "n long")

    failed = house.run(both, fails=True)

    assert not failed.success
    assert house.materialised("first") == house.materialised("second") == []
    assert shown(house, "first", "rows") == (False, "1 row, at least 2 rows")
    assert shown(house, "first", "unique_n") == (True, "1 row: n unique")


def test_a_warning_is_reported_and_published(house: House) -> None:
    @asset(metadata={"tidegate/checks": CHECKS})
    def numbers() -> DataFrame:
        return frame_of(house.spark, [(1,), (1,)], "n long")

    house.run(numbers)

    assert house.rows(numbers) == [(1,), (1,)]
    assert shown(house, "numbers", "rows") == (True, "2 rows: at least 2 rows")
    assert shown(house, "numbers", "unique_n") == (False, "2 of 2 rows: n not unique")


@pytest.mark.iceberg
def test_the_checks_of_the_deployed_yaml_are_judged_too(house: House) -> None:
    dataset = Dataset(name="numbers", checks=(NotNullCheck(name="null", columns=("n",)),))
    refers = [{"reference": {"columns": ["n"], "dataset": "codes"}, "name": "known", "severity": "warn"}]
    app = App(name="shop", datasets={"numbers": dataset, "codes": Dataset(name="codes", format="iceberg")})
    with house.tables.location().open_store().transaction() as transaction:
        transaction.put_records(APPS, [DeployedApp(app=app, revision=1, deployed_at=NOON)])

    @asset(metadata={"tidegate/dataset": "shop/codes", "tidegate/format": "iceberg"})
    def codes() -> DataFrame:
        return frame_of(house.spark, [(1,)], "n long")

    @asset(metadata={"tidegate/dataset": "shop/numbers", "tidegate/checks": refers})
    def numbers() -> DataFrame:
        return frame_of(house.spark, [(1,), (2,), (None,)], "n long")

    house.run(codes)
    house.run(numbers, fails=True)

    assert shown(house, "numbers", "known") == (False, "1 of 3 rows: n not in codes")
    assert shown(house, "numbers", "null") == (False, "1 of 3 rows: n is null")
    assert house.materialised("numbers") == []
