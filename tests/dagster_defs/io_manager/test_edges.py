"""What is refused, what other sessions and stores see, and what a dead run leaves to recovery."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from dagster import (
    AssetKey,
    ConfigurableResource,
    DagsterInstance,
    DailyPartitionsDefinition,
    Definitions,
    asset,
    job,
    op,
)
from pyspark.sql import DataFrame, SparkSession

from tests.dagster_defs.io_manager.house import House
from tests.dagster_defs.sample import deploy
from tests.spark_jobs.frames import frame_of
from tidegate import TidegateIOManager, recovery_definitions
from tidegate.compiler.compile import compile_files
from tidegate.dagster_defs.deployed.names import RECOVERY
from tidegate.domain.error import UserError
from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.tick.tick import tick
from tidegate.spark_jobs.commit import publish as publishing
from tidegate.spark_jobs.errors import CommitFailed, OutputError

pytestmark = [pytest.mark.spark, pytest.mark.dagster]

DAYS = DailyPartitionsDefinition("2023-03-01")


def failure(house: House, *assets: Any, **more: Any) -> str:
    """The description of the failure of a run."""
    result = house.run(*assets, fails=True, **more)
    [event] = [event for event in result.all_events if event.is_step_failure]
    data = event.step_failure_data.user_failure_data
    return data.description or "" if data is not None else str(event.step_failure_data.error)


def test_what_cannot_be_published_is_refused(house: House) -> None:
    @asset
    def frame_of_pandas() -> Any:
        return pd.DataFrame({"n": [1]})

    @asset(partitions_def=DAYS)
    def daily() -> DataFrame:
        return frame_of(house.spark, [("2023-03-09", 1)], "day string, n long")

    @asset(metadata={"tidegate/mode": "append"})
    def wrong() -> DataFrame:
        return house.spark.range(1).toDF("n")

    @asset(partitions_def=DAYS)
    def reader(daily: DataFrame) -> DataFrame:
        return daily

    assert failure(house, frame_of_pandas).startswith(
        "frame_of_pandas: the asset must return a Spark DataFrame, got pandas"
    )
    assert "outside the partitions of its run" in failure(house, daily, partition_key="2023-03-01")
    assert failure(house, wrong).startswith('wrong: unknown metadata "tidegate/mode"')
    lacks = failure(house, daily, reader, selection=[reader], partition_key="2023-03-01")
    assert lacks.startswith("daily: partition 2023-03-01 was never materialised; materialise it first")
    assert house.staging() == []


def test_what_another_instance_of_dagster_has_published_is_read(house: House) -> None:
    @asset(partitions_def=DAYS)
    def daily() -> DataFrame:
        return house.spark.range(2).toDF("n")

    @asset
    def total(daily: DataFrame) -> DataFrame:
        return daily.groupBy().count()

    house.run(daily, partition_key="2023-03-01")
    # `dagster asset materialize` without DAGSTER_HOME has a new one for each run.
    with DagsterInstance.ephemeral() as house.instance:
        house.run(daily, total, selection=[total])

    assert house.rows(total) == [(2,)]


def test_outputs_of_ops_are_refused(house: House) -> None:
    @op
    def number() -> int:
        return 1

    @job(resource_defs={"io_manager": house.tables})
    def numbers() -> None:
        number()

    result = numbers.execute_in_process(instance=house.instance, raise_on_error=False)

    assert not result.success


class OwnSession(ConfigurableResource[Any]):
    """Like `PySparkResource`: the session of a user, with settings of its own."""

    @property
    def spark_session(self) -> SparkSession:
        """A session in another time zone."""
        session = SparkSession.active().newSession()
        session.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
        return session


def test_a_session_of_the_user_keeps_its_settings(house: House) -> None:
    resource = OwnSession()
    tokyo = resource.spark_session
    house.tables = TidegateIOManager(
        warehouse=str(house.folder / "house"), store=f"sqlite:///{house.folder / 's.db'}", pyspark=resource
    )

    @asset(partitions_def=DAYS)
    def events() -> DataFrame:
        # Midnight in UTC, which is the beginning of the partition; at nine in Tokyo.
        frame = tokyo.createDataFrame([(datetime(2023, 3, 1, 9),)], "day timestamp_ntz")
        return frame.selectExpr("cast(day AS timestamp) AS day", "hour(cast(day AS timestamp)) AS hour")

    house.run(events, partition_key="2023-03-01")

    assert house.rows(events) == [("2023-03-01", 9)]
    assert tokyo.conf.get("spark.sql.session.timeZone") == "Asia/Tokyo"


def test_tables_are_read_outside_of_runs(house: House) -> None:
    @asset(partitions_def=DAYS)
    def daily() -> DataFrame:
        return house.spark.range(1).toDF("n")

    house.run(daily, partition_key="2023-03-01")
    defs = Definitions(assets=[daily], resources={"io_manager": house.tables})

    found = defs.load_asset_value("daily", partition_key="2023-03-01")

    assert [tuple(row) for row in found.collect()] == [(0, "2023-03-01")]


def test_what_a_dead_run_was_publishing_is_finished(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    @asset(partitions_def=DAYS)
    def daily() -> DataFrame:
        return house.spark.range(2).toDF("n")

    def fails(*_: Any) -> None:
        raise CommitFailed("the catalog is down", "wait")

    with monkeypatch.context() as broken:
        broken.setattr(publishing, "finish", fails)
        assert failure(house, daily, partition_key="2023-03-01") == "the catalog is down; wait"
    assert house.rows(daily) == []

    recovery = recovery_definitions(house.tables, [daily])
    done = recovery.resolve_job_def(RECOVERY).execute_in_process(instance=house.instance)

    assert done.success
    assert house.rows(daily) == [(0, "2023-03-01"), (1, "2023-03-01")]
    # Under the asset's own key, though its dataset is assets/daily.
    [(partition, rows, commit)] = house.materialised("daily")
    assert (partition, rows) == ("2023-03-01", 2)
    assert commit.endswith(".daily.2023-03-01")


SHOP = b"""
app: shop
timezone: UTC
datasets:
  sales: {partitions: {cycle: day, start: 2023-03-01}, format: parquet}
programs:
  report: {run: programs.report, reads: [sales]}
schedules:
  report_a_day: {program: report, for_each: day, trigger: {partitions: {dataset: sales}}, status: active}
"""


def test_a_schedule_of_the_yaml_waits_for_a_partition(house: House) -> None:
    @asset(key_prefix="shop", partitions_def=DAYS)
    def sales() -> DataFrame:
        return house.spark.range(2).toDF("n")

    compiled = compile_files({"shop.yaml": SHOP})
    store = house.tables.location().open_store()
    now = datetime.now(UTC)
    deploy(store, compiled.apps["shop"].app, at=now)

    run = house.run(sales, partition_key="2023-03-01")
    tick(store, now + timedelta(minutes=5))

    with store.reading() as reader:
        [event] = reader.events(key_prefix="partition:", limit=10)
        [waiting] = reader.jobs(schedules=["shop/report_a_day"])
    assert (event.key, event.partition, event.rows) == ("partition:shop/sales", "2023-03-01", 2)
    assert event.run_id == run.run_id
    assert (waiting.key, waiting.state) == ("2023-03-01", JobState.PENDING_LAUNCH)


def test_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TIDEGATE_PROJECT", raising=False)
    monkeypatch.setenv("TIDEGATE_STORE_URL", "sqlite:///other.db")

    with pytest.raises(UserError, match=r"no tidegate\.toml"):
        TidegateIOManager(warehouse="house").location()
    given = TidegateIOManager(warehouse="w", store="sqlite:///s.db").location()
    assert given.warehouse.path == tmp_path / "w"
    (tmp_path / "tidegate.toml").write_text('[warehouse]\npath = "lake"\n')
    assert TidegateIOManager().location().warehouse.path == tmp_path / "lake"
    properties = TidegateIOManager(spark_conf={"spark.driver.memory": "1g"}).spark_properties()
    assert properties["spark.driver.memory"] == "1g"
    assert properties["spark.sql.session.timeZone"] == "UTC"
    with pytest.raises(OutputError):
        TidegateIOManager(format="delta").dataset_of(AssetKey("a"), {}, None)


def test_it_is_imported_only_when_it_is_used() -> None:
    import tidegate

    assert tidegate.TidegateIOManager is TidegateIOManager
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        tidegate.nothing  # noqa: B018 -- the access is what is tested
