"""Hostile names: refused by lint with a clear message, or kept apart wherever they become files.

Names of apps, datasets, programs and dimensions are narrow, so there lint refuses nearly
everything. Keys of partitions and ids of commits are freer: what is allowed comes back as it
went in, beside its twins. Whatever a name says, nothing is written outside the warehouse.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from tests.doubles.commit_store import MemoryCommitStepStore
from tidegate.compiler.compile import compile_files
from tidegate.domain.model import Dataset, PartitionScheme, Program, StaticDimension
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef, Warehouse, dataset_ref
from tidegate.spark_jobs.errors import OutputError
from tidegate.spark_jobs.programs.params import Params
from tidegate.spark_jobs.publication.table import read
from tidegate.spark_jobs.runner import run_program

LONG = "n" * 300
REFUSED_NAMES = (
    "", " ", "a:b", "x/y", "/abs", "_hidden", ".h", ".", "..", "../up", "é漢字", LONG, "a\0b", "a\nb", "a\n",
    "NUL", "A", "a b", " a", "a.", "a%2Fb", "C:\\a", "-a", "1a", "a-b", "__HIVE_DEFAULT_PARTITION__",
)  # fmt: skip
ALLOWED_NAMES = ("a_b", "a__b", "con", "nul", "v", "n" * 63)

REFUSED_KEYS = (
    "", " ", LONG, "a\0b", "a\nb", "a|b", "...", "(null)", "__HIVE_DEFAULT_PARTITION__", ":" * 84, "漢" * 28,
    "a\u202eb",
)  # fmt: skip
ALLOWED_KEYS = (
    "a:b", "a_b", "a b", "_hidden", ".h", ".", "..", "A", "a", "NUL", "con", "a.", "a ", "v", "k", "007", "7",
    "2013-12-22", "null", "n" * 200, ":" * 66, "x/y", "/abs", "é漢字", " a", "a%2Fb", "a=b", "../up", "a,b",
    "[a]", "'a' \"b\"", "a`b", "a\\b", "{a}*?", "漢" * 27,
)  # fmt: skip

REFUSED_PATHS = (
    "", " ", "/abs", "..", "a/../../b", ".", "./a", "a//b", "a:b", "C:\\a", "~/a", "a\0b", "a\nb", "a\tb",
    " a", "_hidden", ".h", "a/_b", "a/.b", LONG, "é" * 150, "a*", "a?", "a[b]", "a{b,c}", "a$b", "a\u202eb",
    "hdfs://x",
)  # fmt: skip
ALLOWED_PATHS = ("landing/é漢字", "landing/a b", "a%20b", "a=b,c;d", "A#b", "con", "a.", "n" * 255)


def lint(document: str) -> list[str]:
    """The codes of what lint says of an app."""
    return [found.code for found in compile_files({"a.yaml": document.encode()}).diagnostics]


PLACES = {
    "app": "app: {}\n",
    "dataset": "app: x\ndatasets:\n  {}: {{}}\n",
    "program": "app: x\nprograms:\n  {}: {{run: a.b}}\n",
    "dimension": "app: x\ndatasets:\n  d: {{partitions: {{{}: [k]}}}}\n",
    "key": "app: x\ndatasets:\n  d: {{partitions: {{tag: [{}]}}}}\n",
    "path": "app: x\ndatasets:\n  d: {{path: {}}}\n",
}
REFUSED = {**dict.fromkeys(PLACES, REFUSED_NAMES), "key": REFUSED_KEYS, "path": REFUSED_PATHS}
ALLOWED = {**dict.fromkeys(PLACES, ALLOWED_NAMES), "key": ALLOWED_KEYS, "path": ALLOWED_PATHS}


@pytest.mark.parametrize("place", PLACES)
def test_lint_says_which_names_there_are(place: str) -> None:
    for name in REFUSED[place]:
        found = lint(PLACES[place].format(json.dumps(name)))
        assert found, f"{name!r} is refused as a {place}"
        assert set(found) <= {"S104", "S106", "S112", "V205", "V207", "R112"}, (name, found)
    for name in ALLOWED[place]:
        assert lint(PLACES[place].format(json.dumps(name))) == [], f"{name!r} is allowed as a {place}"


def test_twins_in_one_app_have_folders_of_their_own() -> None:
    twins = "app: x\ndatasets:\n  a: {path: in/a}\n  b: {path: IN/A}\n  c: {path: in}\n  d: {path: in/a_b}\n"
    assert lint(twins) == ["V207", "V207", "V207"]


# --- where names become files -----------------------------------------------------------

TAGS = PartitionScheme(static=StaticDimension(name="tag", keys=ALLOWED_KEYS))


def tagged(spark: SparkSession, inputs: dict[str, DataFrame | None], params: Any) -> dict[str, DataFrame]:
    """A program: one row for each partition, which says what it was meant to be."""
    rows = [(key, f"{key} of {params.job}") for key in params.partitions]
    frame = spark.createDataFrame(rows, "tag string, value string")
    return dict.fromkeys(params.args["outputs"], frame)


def around(folder: Path) -> set[str]:
    """Every file and folder below a folder, relative to it."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


@pytest.fixture
def fenced(tmp_path: Path) -> Iterator[Warehouse]:
    """A warehouse among other folders; whatever appears outside of it fails the test."""
    project = tmp_path / "out" / "project"
    project.mkdir(parents=True)
    before = around(tmp_path)
    yield Warehouse(path=project / "warehouse", project=project)
    assert {path for path in around(tmp_path) - before if "out/project/warehouse" not in path} == set()


@pytest.mark.spark
@pytest.mark.iceberg
def test_keys_and_commits_round_trip(
    fenced: Warehouse, spark: SparkSession, iceberg_warehouse: Path, tmp_path: Path
) -> None:
    house = iceberg_warehouse.name
    outside = {path for path in around(iceberg_warehouse.parent) if not path.startswith(house)}
    datasets = {
        kind: Dataset(name=kind, partitions=TAGS, format=kind, write="append")
        for kind in ("parquet", "iceberg")
    }
    store = MemoryCommitStepStore()
    commits = ("a:b", "a_b", "../../up", "é漢字", LONG)
    for commit in commits:
        keys = ALLOWED_KEYS if commit == commits[0] else ALLOWED_KEYS[:2]
        run_program(
            spark,
            fenced,
            store,
            app="hostile",
            program=Program(name="p", run=f"{__name__}.tagged", writes=tuple(datasets)),
            datasets=datasets,
            params=Params(partitions=keys, job=commit, args={"outputs": list(datasets)}),
            commit=commit,
        )
    for dataset in datasets.values():
        ref = dataset_ref("hostile", dataset)
        wrote = {key: commits if key in ALLOWED_KEYS[:2] else commits[:1] for key in ALLOWED_KEYS}
        expected = sorted((key, f"{key} of {commit}") for key, made in wrote.items() for commit in made)
        assert rows_of(read(spark, ref, fenced)) == expected
        for key in ("a:b", "a_b", "..", ":" * 66):
            assert rows_of(read(spark, ref, fenced, [key])) == [row for row in expected if row[0] == key]
    below = {path for path in around(iceberg_warehouse.parent) if not path.startswith((house, tmp_path.name))}
    assert below <= outside


def rows_of(frame: DataFrame | None) -> list[tuple[str, str]]:
    assert frame is not None
    return sorted((row.tag, row.value) for row in frame.select("tag", "value").collect())


@pytest.mark.parametrize("name", [name for name in REFUSED_NAMES if name not in ("A", "NUL", "a b", "1a")])
@pytest.mark.parametrize("place", ["app", "name"])
def test_a_name_that_passed_no_lint_leads_nowhere_else(fenced: Warehouse, place: str, name: str) -> None:
    """A dataset that no compiler has seen: its folder lies in the warehouse, or there is none."""
    ref = DatasetRef(**{"app": "x", "name": "y", place: name})
    try:
        root = Path(ref.root(fenced))
    except OutputError as refused:
        assert refused.hint
        return
    assert root.resolve().parent.parent == Path(fenced.path).resolve()
    assert root.parts[-2:] == (ref.app, ref.name)
