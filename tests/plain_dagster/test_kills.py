"""The plain-Dagster example killed at random points: in the end its tables equal those of pandas.

Each run is a process forked from this one, so that it costs no JVM, and dies before one of all the calls
that it makes. Then it is executed again, as a person does it in the UI, until it ends well.
"""

import shutil
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from dagster import AssetKey, DagsterInstance, Definitions
from dagster._core.test_utils import instance_for_test
from pyspark.sql import SparkSession

from tests import tally
from tests.crashes.processes import SIGKILL, end, kill_self
from tests.effort import much
from tests.plain_dagster.reference import COLUMNS, Row, expected, rows
from tests.spark_jobs.crash_table import driver
from tests.spark_jobs.crash_table.chance import at_call, tell_calls
from tidegate import TidegateIOManager, io_manager
from tidegate.spark_jobs.publication.table import read

pytestmark = [pytest.mark.spark, pytest.mark.dagster, pytest.mark.endurance]  # processes are killed

EXAMPLE = Path(__file__).parents[2] / "examples" / "plain_dagster"
KILLS = much(1)
SEED = 9
DAYS = tuple(f"2013-{month:02}-{day:02}" for month in (1, 2) for day in range(1, 29))
DAYS_OF_A_RUN = 2
DAILY, WHOLE = ("flights", "by_carrier", "loads"), ("carriers",)
RANGE = ("dagster/asset_partition_range_start", "dagster/asset_partition_range_end")


class Example:
    """The example in a folder of its own, with a Dagster instance on disk."""

    def __init__(self, folder: Path, instance: DagsterInstance, defs: Definitions) -> None:
        self._folder, self._ref, self._defs = folder, instance.get_ref(), defs
        self.kills = 0

    def run(self, assets: tuple[str, ...], days: tuple[str, ...], call: int) -> int:
        """Run assets, once more after each kill. Return the number of calls of the last run.

        Args:
            call: the run dies before this call; 0 for none.
        """
        tags = dict(zip(RANGE, (days[0], days[-1]), strict=True)) if days else {}
        run = str(uuid.uuid4())
        while self._dies(run, assets, tags, call):
            self.kills += 1
            # Some die a second time, in what they do to go on.
            call = call // 3 if self.kills % 3 == 0 else 0
            again = {"dagster/parent_run_id": run, "dagster/root_run_id": run}
            tags, run = again | tags | {"dagster/parent_run_id": run}, str(uuid.uuid4())
        return int((self._folder / "calls").read_text())

    def _dies(self, run: str, assets: tuple[str, ...], tags: dict[str, str], call: int) -> bool:
        """Run assets in a process of its own. Return whether it was killed."""
        code = end(driver.start(lambda: self._work(run, assets, tags), lambda: self._prepare(call)))
        assert code in (0, SIGKILL), f"a run of {assets}, to be killed before call {call}, failed"
        return code != 0

    def _prepare(self, call: int) -> None:
        # Connections do not survive a fork.
        io_manager._open_store.cache_clear()
        at_call(call, kill_self)

    def _work(self, run: str, assets: tuple[str, ...], tags: dict[str, str]) -> None:
        with DagsterInstance.from_ref(self._ref) as instance:
            done = self._defs.resolve_implicit_global_asset_job_def().execute_in_process(
                instance=instance, run_id=run, tags=tags, asset_selection=[AssetKey(name) for name in assets]
            )
        assert done.success
        tell_calls(self._folder / "calls")


@pytest.fixture
def example(tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> Iterator[Example]:
    folder = tmp_path / "example"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("warehouse", ".*", "__pycache__"))
    monkeypatch.delenv("TIDEGATE_PROJECT", raising=False)
    monkeypatch.delenv("TIDEGATE_STORE_URL", raising=False)
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(folder)
    # Each process that is forked has another connection to this JVM.
    monkeypatch.setattr(TidegateIOManager, "spark_session", property(lambda _: spark))
    from delays.definitions import defs

    with instance_for_test(temp_dir=str(tmp_path)) as instance:
        yield Example(folder, instance, defs)
    for name in [name for name in sys.modules if name.partition(".")[0] == "delays"]:
        del sys.modules[name]


@pytest.mark.soak  # dagster_defs/io_manager/test_crash_table.py kills the runs of such assets
def test_tables_equal_those_of_pandas(example: Example, spark: SparkSession) -> None:
    chance, loaded = Random(SEED), 0
    calls = {DAILY: 0, WHOLE: 0}
    while example.kills < KILLS or loaded == 0:
        days = DAYS[loaded : loaded + DAYS_OF_A_RUN]
        calls[DAILY] = example.run(DAILY, days, chance.randint(1, calls[DAILY]) if loaded else 0)
        loaded += DAYS_OF_A_RUN
        if chance.random() < 0.3:
            calls[WHOLE] = example.run(WHOLE, (), chance.randint(1, calls[WHOLE]) if calls[WHOLE] else 0)
    example.run(WHOLE, (), 0)
    tally.reach("kills of the plain-Dagster example", example.kills)

    assert tables_of(spark) == expected(DAYS[:loaded])


def tables_of(spark: SparkSession) -> dict[str, list[Row]]:
    """Every table, its rows sorted."""
    from delays.assets import ASSETS, tables

    found: dict[str, list[Row]] = {}
    for spec in (spec for asset in ASSETS for spec in asset.specs):
        ref = tables.dataset_of(spec.key, spec.metadata, spec.partitions_def)
        frame = read(spark, ref, tables.location().warehouse)
        assert frame is not None
        found[spec.key.path[-1]] = rows(frame.select(*COLUMNS[spec.key.path[-1]]).toPandas())
    return found
