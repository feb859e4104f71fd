"""`tidegate.read` without Spark: which files are those of the newest version, on which file system."""

import subprocess
import sys
from pathlib import Path

import pytest
from pyarrow import fs

import tidegate.read
from tests.doubles.commit_store import MemoryCommitStepStore
from tests.spark_jobs.staging import Rows, begin, daily, stage_rows
from tidegate.spark_jobs.commit.context import CommitContext
from tidegate.spark_jobs.commit.publish import publish
from tidegate.spark_jobs.datasets.dataset_ref import Warehouse
from tidegate.spark_jobs.publication.table import sequence_of

TABLE = daily("table")
D21, D22 = "2013-12-21", "2013-12-22"


@pytest.fixture
def root(tmp_path: Path) -> str:
    warehouse, store = Warehouse(path=tmp_path, project=tmp_path), MemoryCommitStepStore()
    published: list[Rows] = [{D21: [1], D22: [2]}, {D22: [20]}]
    for number, rows in enumerate(published, start=1):
        token = begin(store, f"c{number}", [TABLE.id])
        staged = stage_rows(warehouse, TABLE, rows, commit=f"c{number}", token=token)
        publish(sequence_of(f"c{number}", token, [staged]), store, CommitContext(files=warehouse.files))
    return TABLE.root(warehouse)


def _below(root: str, names: list[str]) -> list[str]:
    return [name.removeprefix(f"{root}/") for name in names]


def test_the_files_are_those_of_the_newest_version(root: str) -> None:
    first, second = f"_data/day={D21}/c1/part-0.parquet", f"_data/day={D22}/c2/part-0.parquet"
    assert _below(root, tidegate.read.files(root)) == [first, second]
    assert _below(root, tidegate.read.files(f"{root}/", keys=[D22, "2014-01-01"])) == [second]
    assert tidegate.read.files(f"file://{root}") == tidegate.read.files(root)
    assert all(Path(file).is_file() for file in tidegate.read.files(root))


def test_a_file_system_of_pyarrow_reads_the_same(root: str) -> None:
    assert tidegate.read.files(root, filesystem=fs.LocalFileSystem()) == tidegate.read.files(root)
    inside = fs.SubTreeFileSystem(root, fs.LocalFileSystem())
    assert tidegate.read.files("", filesystem=inside) == [
        f"/{file}" for file in _below(root, tidegate.read.files(root))
    ]


def test_a_relative_path_leads_to_absolute_files(root: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(root).parent)
    assert tidegate.read.files("table") == tidegate.read.files(root)


@pytest.mark.parametrize("filesystem", [None, fs.LocalFileSystem()])
def test_a_folder_without_versions_is_not_guessed_at(
    tmp_path: Path, filesystem: fs.FileSystem | None
) -> None:
    (tmp_path / "day=2013-12-22").mkdir()
    with pytest.raises(FileNotFoundError, match="has not published into this folder"):
        tidegate.read.files(str(tmp_path), filesystem=filesystem)


def test_the_module_is_light() -> None:
    heavy = ("pyspark", "dagster", "pyarrow", "sqlalchemy")
    code = f"import sys, tidegate.read; print([m for m in {heavy} if m in sys.modules])"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"
