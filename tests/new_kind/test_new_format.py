"""A new table format is a folder of `spark_jobs`, one of its maintenance, and a line in each registry.

As in `test_new_kind`, the format is added to a copy of the package, and a dataset of it is taken through what
meets a format: settings, lint, plan, deploy, and the registries that read, write and maintain tables.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.simulation.patch import apply_patch

pytestmark = pytest.mark.endurance  # a process, in which the whole package is imported

HERE = Path(__file__).parent
PROJECT = HERE.parents[1]


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What the story prints, run on a copy of the package that has the new format."""
    folder = tmp_path_factory.mktemp("copy")
    for part in ("tidegate", "tests/new_kind", "tests/tidegate"):
        shutil.copytree(PROJECT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
    for room in ("spark_jobs/archive", "spark_jobs/maintenance/archive"):
        package = folder / "tidegate" / room
        package.mkdir()
        (package / "__init__.py").touch()
        added = HERE / "added" / f"{room.replace('/', '_')}_format.txt"
        shutil.copy(added, package / "format.py")
    apply_patch((HERE / "format.patch").read_text("utf-8"), folder)
    found = subprocess.run(
        [sys.executable, "-m", "tests.new_kind.format_story", str(tmp_path_factory.mktemp("project"))],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder), "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert found.returncode == 0, found.stdout + found.stderr
    return found.stdout


def test_files_that_exist_get_a_line_in_each_registry_and_a_word_in_the_schema() -> None:
    lines = (HERE / "format.patch").read_text("utf-8").split("+++ b/")[1:]
    added = {part.split("\n")[0]: sum(line[:1] == "+" for line in part.split("\n")) for part in lines}
    assert added == {
        "tidegate/domain/model/table_format.py": 1,
        "tidegate/spark_jobs/publication/formats.py": 2,
        "tidegate/spark_jobs/maintenance/formats.py": 2,
        "tidegate/compiler/schema/app.schema.json": 1,
    }


def test_the_language_knows_what_the_format_says_of_itself(printed: str) -> None:
    assert "error[V216]: the catalog chooses the path of an Archive table" in printed
    assert 'format: "parquet" -> "archive"' in printed


def test_each_dataset_of_it_is_given_to_it(printed: str) -> None:
    assert "sales report archive ArchiveFormat MaintainedArchive" in printed
    assert "sales orders parquet ParquetFormat MaintainedParquet" in printed
    assert "stock bins archive ArchiveFormat MaintainedArchive" in printed
