"""The class archive: a JVM of Spark takes its classes from it, and does without where there is none."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tidegate.demo.class_archive import archive_file, java_options

START = """
from tidegate.spark_jobs.iceberg.catalog.runtime import IcebergSettings
from tidegate.spark_jobs.session.session import SparkSettings, session
print(session(SparkSettings(master="local[1]", iceberg=IcebergSettings(warehouse="."))).range(3).count())
"""

WITHOUT_ICEBERG = """
import sys
from pathlib import Path
from tidegate.spark_jobs.iceberg.catalog import runtime
runtime._jars_of_the_wheel = list
from tidegate.demo.class_archive import make
make(Path(sys.argv[1]))
"""
"""As with Spark 4 or Python 3.13, for which the wheel of the runtime has none."""


def test_it_is_kept_in_the_environment_whose_classes_it_holds() -> None:
    assert archive_file() == archive_file()
    assert archive_file().parent == Path(sys.prefix)


@pytest.mark.spark
def test_spark_takes_its_classes_from_the_archive(tmp_path: Path) -> None:
    """`make test` has created it; without that it is created here, which takes a minute."""
    archive = archive_file()
    subprocess.run([sys.executable, "-m", "tidegate.demo.class_archive"], check=True, capture_output=True)
    assert list(archive.parent.glob(f"{archive.name}*")) == [archive]

    loaded = tmp_path / "loaded.txt"
    options = f'{java_options(archive)} "-Xlog:class+load:file={loaded}"'
    assert _start(options) == "3"

    session = next(line for line in loaded.read_text().splitlines() if ".SparkSession " in line)
    assert "source: shared objects file (top)" in session


@pytest.mark.spark
@pytest.mark.soak
def test_spark_starts_without_an_archive(tmp_path: Path) -> None:
    assert _start(java_options(tmp_path / "missing.jsa")) == "3"


@pytest.mark.spark
@pytest.mark.soak
def test_it_is_created_where_spark_has_no_iceberg(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WITHOUT_ICEBERG, str(tmp_path / "classes.jsa")]
    subprocess.run(command, check=True, capture_output=True)
    assert [each.name for each in tmp_path.iterdir()] == ["classes.jsa"]


def _start(options: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", START],
        env={**os.environ, "JDK_JAVA_OPTIONS": options},
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()
