"""A project whose program computes on executors with modules of its own, and can be held while it writes.

The first task that comes to the row 1 tells where it is, and waits until it may go on. So a test knows which
worker is in the middle of a write, and kills what it wants then.
"""

import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent
from time import monotonic, sleep

import pandas as pd
from pyspark.sql import SparkSession

from tests.crashes.processes import SIGKILL, end
from tests.effort import longer
from tests.spark_jobs.cluster.standalone import SMALL, Standalone, children_of
from tests.tiers import has_iceberg
from tidegate.domain.model import Dataset, PartitionScheme, Program, TimeDimension
from tidegate.domain.spark_conf import Cluster
from tidegate.scheduler.store.commits.steps import SqlCommitStepStore
from tidegate.scheduler.store.sql.open import open_sql_store
from tidegate.spark_jobs.datasets.dataset_ref import Warehouse, dataset_ref
from tidegate.spark_jobs.iceberg.catalog.runtime import IcebergSettings
from tidegate.spark_jobs.programs.params import Params
from tidegate.spark_jobs.publication.table import read
from tidegate.spark_jobs.runner import run_program
from tidegate.spark_jobs.session.executor_code import program_properties
from tidegate.spark_jobs.session.session import NO_PROPERTIES, SparkSettings, program_conf, session

WAIT_SECONDS = longer(300)
DRIVER_SECONDS = 3 * WAIT_SECONDS
"""How long a driver may take: it waits for its executors as long as others wait for its tasks."""
DAYS = ("2013-12-22", "2013-12-23")
ROWS = 400
DAILY = PartitionScheme(time=TimeDimension(name="day", cycle="day", start="2013-01-01"))
DATASETS = {
    "plain": Dataset(name="plain", partitions=DAILY, format="parquet", write="append"),
    "ice": Dataset(name="ice", partitions=DAILY, format="iceberg", write="append"),
}
FILES = {
    "programs/fares.py": """
        import os, time
        from pathlib import Path

        from pyspark.sql import functions as sf

        from surcharges import surcharge

        def fare(number, flags):
            from money.cents import rounded  # found on the executors, though only a call needs it
            if flags and number == 1:
                meet(Path(flags))
            return rounded(number * 1.5 + surcharge(number))

        def meet(flags):
            try:
                (flags / "begun").mkdir()
            except FileExistsError:
                return
            (flags / "place").write_text(os.getcwd())
            (flags / "place").rename(flags / "writing")
            while not (flags / "go on").exists():
                time.sleep(0.05)

        def price(spark, inputs, params):
            flags = params.args.get("flags", "")
            of = sf.udf(lambda number: fare(number, flags), "double")
            days = sf.when(sf.col("id") % 2 == 0, "2013-12-22").otherwise("2013-12-23")
            numbers = spark.range(0, 400, 1, 4)
            if params.args["shuffle"]:
                numbers = numbers.repartition(4, "id")
            frame = numbers.select(sf.col("id"), days.alias("day"), of("id").alias("fare"))
            return {name: frame for name in params.args["outputs"]}
        """,
    "money/cents.py": """
        def rounded(amount):
            return round(amount, 2)
        """,
    "surcharges.py": """
        def surcharge(number):
            return 0.125 * (number % 7)
        """,
}


class Shop:
    """A project with a program, modules of its own, and a cluster among its settings."""

    def __init__(self, folder: Path, cluster: Standalone, cores: int = 1) -> None:
        self.folder = folder
        for name, text in FILES.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(dedent(text))
        self.flags = folder / "flags"
        self.flags.mkdir()
        self.warehouse = Warehouse(path=folder / "warehouse", project=folder)
        self.url = f"sqlite:///{folder / 'store.db'}"
        self.spark = SparkSettings(
            master="local[1]",
            conf=SMALL,
            clusters={"small": Cluster(master=cluster.master, conf={"spark.cores.max": str(cores)})},
            iceberg=IcebergSettings(warehouse=str(folder / "warehouse")) if has_iceberg() else None,
            project=folder,
        )

    def price(
        self,
        output: str,
        *,
        wait: bool = False,
        shuffle: bool = False,
        conf: Mapping[str, str] = NO_PROPERTIES,
    ) -> SparkSession:
        """Run the program on the cluster, as a run's process does. Return the session of the run.

        Args:
            wait: the first task waits in the middle of its rows; see `wait_for_writers`.
            shuffle: the tasks that write read what others have written for them.
            conf: the program's own properties of Spark.
        """
        flags = str(self.flags) if wait else ""
        sys.path.insert(0, str(self.folder))
        program = Program(
            name="p", run="programs.fares.price", writes=(output,), cluster="small", spark_conf=dict(conf)
        )
        with program_conf(program_properties(self.spark, program, DATASETS)):
            run_program(
                lambda: session(self.spark),
                self.warehouse,
                SqlCommitStepStore(open_sql_store(self.url).engine),
                app="shop",
                program=program,
                datasets=DATASETS,
                params=Params(
                    partitions=DAYS, args={"outputs": [output], "flags": flags, "shuffle": shuffle}
                ),
                commit=f"one-of-{output}",
            )
            return session(self.spark)

    def equals_pandas(self, output: str, spark: SparkSession) -> None:
        """The output holds each row once, as pandas computes it."""
        frame = read(spark, dataset_ref("shop", DATASETS[output]), self.warehouse)
        assert frame is not None
        found = pd.DataFrame([row.asDict() for row in frame.select("id", "day", "fare").collect()])
        numbers = pd.Series(range(ROWS))
        expected = pd.DataFrame(
            {
                "id": numbers,
                "day": [DAYS[number % 2] for number in numbers],
                "fare": (numbers * 1.5 + 0.125 * (numbers % 7)).round(2),
            }
        )
        found = found.sort_values("id", ignore_index=True)
        pd.testing.assert_frame_equal(found, expected, check_dtype=False)

    def wait_for_writers(self) -> int:
        """Wait until a task is in the middle of what it writes. Return the number of its worker."""
        until = monotonic() + WAIT_SECONDS
        while not (self.flags / "writing").exists():
            assert monotonic() < until, "no task has begun to write"
            sleep(0.05)
        place = (self.flags / "writing").read_text()
        return int(place.partition("/work-")[2].partition("/")[0])


def kill_driver(driver: int) -> None:
    """Kill a driver with its JVM, as by a power cut of its machine."""
    for child, _ in children_of(driver):
        os.kill(child, signal.SIGKILL)
    os.kill(driver, signal.SIGKILL)
    assert end(driver) == SIGKILL
