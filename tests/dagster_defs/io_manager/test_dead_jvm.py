"""A JVM that is killed under a step: the next try of the step, in the same process, has another session.

In a process of its own, so that the session of the other tests is left alone.
"""

import os
import signal
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from dagster import AssetExecutionContext, DagsterInstance, RetryPolicy, asset
from dagster_pyspark import LazyPySparkResource, PySparkResource
from pyspark import SparkContext
from pyspark.sql import DataFrame, SparkSession

from tests.crashes.processes import in_child
from tests.dagster_defs.io_manager.house import House
from tests.effort import only
from tests.interpreted import INTERPRETED
from tidegate import TidegateIOManager
from tidegate.dagster_defs.io_manager import tables
from tidegate.dagster_defs.io_manager.pyspark_resource import session_of
from tidegate.spark_jobs.errors import SparkLost
from tidegate.spark_jobs.session.session import forget_jvm

pytestmark = [pytest.mark.spark, pytest.mark.dagster]

SMALL = {"spark.driver.memory": "512m", **INTERPRETED}
CONF = {"spark.master": "local[1]", "spark.ui.enabled": "false", **SMALL}


def kill_jvm() -> None:
    """Kill the JVM of this process, as the system does for its memory."""
    gateway: Any = SparkContext._gateway
    os.kill(gateway.proc.pid, signal.SIGKILL)
    gateway.proc.wait()


def house_of(folder: Path, instance: DagsterInstance, **more: Any) -> House:
    """A project whose session starts in this process."""
    house = House(folder, instance, None)  # pyright: ignore[reportArgumentType] -- no session exists yet
    house.tables = TidegateIOManager(
        warehouse=str(folder / "house"),
        store=f"sqlite:///{folder / 's.db'}",
        spark_master="local[1]",
        spark_conf=SMALL,
        **more,
    )
    return house


def in_fresh_process(work: Callable[[DagsterInstance], None], monkeypatch: pytest.MonkeyPatch) -> None:
    """Do some work in a process that has no JVM yet."""
    monkeypatch.setattr(tables, "RETRY_WAIT_SECONDS", 0)

    def child() -> None:
        forget_jvm()
        with DagsterInstance.ephemeral() as instance:
            work(instance)

    assert in_child(child) == 0


def published(house: House, tries: list[int], *, deaths: int, resource: Any = None) -> None:
    """Publish an asset whose JVM dies while its first outputs are staged."""

    def frame(spark: SparkSession) -> DataFrame:
        made = spark.range(3).toDF("n")
        tries.append(1)
        if len(tries) <= deaths:
            kill_jvm()
        return made

    if resource is None:

        @asset(name="numbers")
        def own() -> DataFrame:
            return frame(house.tables.spark_session)

        house.run(own)
        house.spark = house.tables.spark_session
        assert house.rows(own) == [(0,), (1,), (2,)]
        return

    @asset(name="numbers", required_resource_keys={"pyspark"})
    def users(context: AssetExecutionContext) -> DataFrame:
        return frame(context.resources.pyspark.spark_session)

    house.run(users, resources={"pyspark": resource})
    house.spark = SparkSession.active()
    assert house.rows(users) == [(0,), (1,), (2,)]


@pytest.mark.soak  # tests/spark_jobs/test_dead_jvm.py replaces that session, the next test a death in a run
def test_the_session_of_tidegate_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def work(instance: DagsterInstance) -> None:
        tries: list[int] = []
        published(house_of(tmp_path, instance), tries, deaths=2)
        assert len(tries) == 3

    in_fresh_process(work, monkeypatch)


@pytest.mark.parametrize("kind", only([PySparkResource, LazyPySparkResource], LazyPySparkResource))
def test_the_session_of_a_pyspark_resource_is_replaced_and_the_last_death_fails_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: type[Any]
) -> None:
    def work(instance: DagsterInstance) -> None:
        resource, tries = kind(spark_config=CONF), list[int]()
        published(house_of(tmp_path, instance, pyspark=resource), tries, deaths=1, resource=resource)
        assert len(tries) == 2
        last_death(tmp_path / "last", instance)

    in_fresh_process(work, monkeypatch)


def last_death(folder: Path, instance: DagsterInstance) -> None:
    """A death that no further try follows fails the run, and says what to do. The JVM is the one there is."""
    tables.STEP_RETRIES = 0
    folder.mkdir()
    house = house_of(folder, instance)

    @asset
    def dies() -> DataFrame:
        made = house.tables.spark_session.range(3).toDF("n")
        kill_jvm()
        return made

    [event] = [event for event in house.run(dies, fails=True).all_events if event.is_step_failure]
    said = str(event.step_failure_data.user_failure_data)
    assert "the JVM of Spark has ended" in said and "spark.driver.memory" in said


@pytest.mark.soak
def test_after_a_death_in_the_code_of_an_asset_its_input_is_loaded_with_another_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def work(instance: DagsterInstance) -> None:
        resource, tries = PySparkResource(spark_config=CONF), list[int]()
        house = house_of(tmp_path, instance, pyspark=resource)

        @asset
        def numbers() -> DataFrame:
            return house.tables.spark_session.range(3).toDF("n")

        @asset(retry_policy=RetryPolicy(max_retries=1), required_resource_keys={"pyspark"})
        def doubled(context: AssetExecutionContext, numbers: DataFrame) -> DataFrame:
            tries.append(1)
            if len(tries) == 1:
                kill_jvm()
            context.resources.pyspark.spark_session.range(1).count()
            return numbers.selectExpr("2 * n AS n")

        house.run(numbers, doubled, resources={"pyspark": resource})
        house.spark = SparkSession.active()
        assert house.rows(doubled) == [(0,), (2,), (4,)]
        assert len(tries) == 2

    in_fresh_process(work, monkeypatch)


def test_a_resource_that_keeps_a_dead_session_is_named_with_the_remedy() -> None:
    class Keeps:
        spark_session = SimpleNamespace(_jvm="another")

    with pytest.raises(
        SparkLost, match="the JVM of Spark has ended, and Keeps still has its session"
    ) as lost:
        session_of(Keeps())
    assert "execute the run again" in lost.value.hint
