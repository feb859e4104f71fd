"""The breaks of first users: programs that are run by real Spark, and the one line that a person is shown.

Each row breaks one thing. The line names the place, what is wrong and what to write. Rows that need
commands or processes are elsewhere: see the last test.
"""

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from tests.doubles.commit_store import MemoryCommitStepStore
from tests.spark_jobs.frames import frame_of
from tidegate.dagster_defs.run.failure_text import failure_text
from tidegate.domain.model import App, Dataset, PartitionScheme, Program, TimeDimension
from tidegate.spark_jobs.datasets.dataset_ref import Warehouse
from tidegate.spark_jobs.programs.params import Params
from tidegate.spark_jobs.runner import run_program
from tidegate.watcher.unlanded import without_files

pytestmark = pytest.mark.spark

DAILY = PartitionScheme(
    time=TimeDimension(name="day", cycle="day", start="2026-11-20", timezone="America/New_York")
)
RAW = Dataset(name="raw", partitions=DAILY, path="landing/raw")
OUT = Dataset(name="out", partitions=DAILY)
DAY = "2026-11-21"
FOLDER = f"landing/raw/day={DAY}"
FRAME = "pyspark.sql.DataFrame"

Inputs = dict[str, DataFrame | None]


def copies(spark: SparkSession, inputs: Inputs, params: Any) -> Any:
    return inputs["raw"]


def nothing(spark: SparkSession, inputs: Inputs, params: Any) -> Any:
    """A program that forgets to return."""


def other_name(spark: SparkSession, inputs: Inputs, params: Any) -> Any:
    return {"outt": inputs["raw"]}


class Frame:
    """A frame of a library whose frames have no Arrow stream."""

    columns = ("id",)


def of_another_library(spark: SparkSession, inputs: Inputs, params: Any) -> Any:
    return Frame()


def of_doubles(spark: SparkSession, inputs: Inputs, params: Any) -> Any:
    return frame_of(spark, [(1, 2.5)], "id int, city double")


def of_another_day(spark: SparkSession, inputs: Inputs, params: Any) -> Any:
    return frame_of(spark, [(1, "2026-11-22"), (2, "2026-11-22")], "id int, day string")


def raises(spark: SparkSession, inputs: Inputs, params: Any) -> Any:
    raise ValueError("no fares")


def raises_in_a_row(spark: SparkSession, inputs: Inputs, params: Any) -> Any:
    fare = sf.udf(lambda city: int(city), "int")
    raw = inputs["raw"]
    assert raw is not None
    return raw.withColumn("fare", fare("city"))


def imports(spark: SparkSession, inputs: Inputs, params: Any) -> Any:
    import fares_of_nobody  # noqa: F401 # pyright: ignore[reportMissingImports]


def imports_in_a_row(spark: SparkSession, inputs: Inputs, params: Any) -> Any:
    from pyspark.sql import functions as sf

    def fare(city: str) -> str:
        import fares_of_nobody  # noqa: F401 # pyright: ignore[reportMissingImports]

        return city

    raw = inputs["raw"]
    assert raw is not None
    return raw.withColumn("city", sf.udf(fare)("city"))


def names_a_column(spark: SparkSession, inputs: Inputs, params: Any) -> Any:
    raw = inputs["raw"]
    assert raw is not None
    return raw.select("citi")


class Runs:
    """Runs the programs above over one landed partition, whose table has the city as a string."""

    def __init__(self, folder: Path, spark: SparkSession) -> None:
        self.folder, self.spark = folder, spark
        self.warehouse = Warehouse(path=folder / "warehouse", project=folder)
        self.store = MemoryCommitStepStore()
        frame = frame_of(spark, [(1, "sf")], "id int, city string")
        frame.coalesce(1).write.parquet(str(folder / FOLDER))
        self.runs = 0

    def run(self, function: str) -> None:
        self.runs += 1
        run_program(
            self.spark,
            self.warehouse,
            self.store,
            app="energy",
            program=Program(name="p", run=f"{__name__}.{function}", reads=("raw",), writes=("out",)),
            datasets={"raw": RAW, "out": OUT},
            params=Params(partitions=(DAY,)),
            commit=f"c{self.runs}",
        )

    def said(self, function: str) -> str:
        with pytest.raises(Exception) as raised:
            self.run(function)
        return failure_text(raised.value, Path(__file__).parent)


@pytest.fixture
def runs(tmp_path: Path, spark: SparkSession) -> Runs:
    return Runs(tmp_path, spark)


RETURNED = f"return a {FRAME}, or a dictionary from dataset to {FRAME}"
ROWS = [
    # (program, what its line says)
    ("nothing", ("program p returned None", RETURNED)),
    ("other_name", ("program p returned outt", "return exactly the datasets named under `writes`: out")),
    ("of_another_library", ("program p returned tests.", RETURNED, "spark.createDataFrame(")),
    ("of_another_day", ("rows outside the partitions of its run: 2026-11-22 (2 rows)", "out")),
    ("raises", ("ValueError: no fares (test_breaks.py:",)),
    ("raises_in_a_row", ("ValueError: invalid literal for int() with base 10: 'sf' (test_breaks.py:",)),
    ("imports", ("ModuleNotFoundError: No module named 'fares_of_nobody' (test_breaks.py:",)),
    (
        "imports_in_a_row",
        (
            "ModuleNotFoundError: No module named 'fares_of_nobody'. Executors have the project's packages;"
            " what else they need: tidegate docs spark (test_breaks.py:",
        ),
    ),
    ("names_a_column", ("`citi`", "`city`", "(test_breaks.py:")),
]


@pytest.mark.parametrize(("program", "words"), ROWS, ids=[row[0] for row in ROWS])
def test_a_break_is_a_line_with_what_is_wrong_and_what_to_write(
    runs: Runs, program: str, words: tuple[str, ...]
) -> None:
    said = runs.said(program)
    assert [word for word in words if word not in said] == []
    assert not [frame for frame in ("Job aborted", "TASK_WRITE_FAILED", "awaitResult") if frame in said]


def test_a_type_that_the_table_does_not_take_is_said_once_and_first(runs: Runs) -> None:
    runs.run("copies")
    said = runs.said("of_doubles")
    first = said.splitlines()[0]
    assert "energy/out" in first
    assert first.count("city is string in the table and double in the output") == 1
    assert said.count("double") == 1


@pytest.mark.parametrize(
    ("name", "content"),
    [("b.parquet", b"PAR1 a file that was cut"), ("b.csv", b"id,city\n1,sf and more\n")],
    ids=["cut", "csv"],
)
def test_a_file_that_is_not_parquet_is_named_with_its_partition(
    runs: Runs, name: str, content: bytes
) -> None:
    (runs.folder / FOLDER / name).write_bytes(content)
    said = runs.said("copies")
    assert f"{FOLDER}/{name}" in said
    assert "is not a Parquet file" in said
    assert f"(partition {DAY})" in said
    assert not [frame for frame in ("Job aborted", "TASK_WRITE_FAILED", "awaitResult") if frame in said]


def test_a_reported_key_without_files_names_the_folder_that_was_looked_at(tmp_path: Path) -> None:
    app = App(name="energy", datasets={"raw": RAW})
    warehouse = Warehouse(path=tmp_path / "warehouse", project=tmp_path)
    assert without_files(app, "raw", [DAY], warehouse) == {
        DAY: f"there are no files in {tmp_path / FOLDER}; a run that reads it fails"
    }


def test_what_other_tests_break_is_there() -> None:
    """The rows of the table that need whole processes and commands are played where those are."""
    root = Path(__file__).parents[3] / "tests"
    elsewhere = (
        ("domain/test_nearest_key.py", "def test_the_nearest_key_is_named"),
        ("domain/test_nearest_key.py", "def test_swapped_dimensions_are_named_in_their_order"),
        ("dagster_defs/run/test_dead_runs.py", "def test_"),
        ("tidegate/cli/develop/test_saved_plan.py", "def test_a_plan_that_holds_is_deployed_once"),
        ("tidegate/cli/test_environments.py", "def test_a_variable_that_is_not_set_has_a_place_and_a_re"),
        ("tidegate/cli/test_environments.py", "def test_an_unknown_environment_lists_the_known_ones"),
    )
    for file, test in elsewhere:
        assert test in (root / file).read_text(encoding="utf-8"), (file, test)
