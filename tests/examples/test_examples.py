"""The files of examples/ do what they say; with Spark in the session that all tests share."""

import os
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest
from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.dagster]

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
DAY = "2024-03-01"


def load(name: str) -> ModuleType:
    spec = spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_each_file_is_run_here() -> None:
    source = Path(__file__).read_text("utf-8")
    names = sorted(file.stem for file in EXAMPLES.glob("*.py"))
    assert names == ["io_manager", "read_a_table", "test_program", "test_scenarios"]
    assert [name for name in names if f'"{name}"' not in source.split("def test_each_file")[1]] == []


def test_assets_are_published_and_read_from_outside(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("TIDEGATE_PROJECT", "TIDEGATE_STORE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    published, read = load("io_manager"), load("read_a_table")

    table = str(published.main(tmp_path))
    assert str(published.main(tmp_path)) == table, "a second run replaces the same rows"

    rows = sorted((row["day"], row["item"], row["quantity"]) for row in read.read_rows(table, [DAY]))
    assert rows == [(DAY, "rice", 5), (DAY, "tea", 3)]
    assert read.read_rows(table, ["2024-03-02"]) == []
    assert read.count_files(table) >= 1
    assert read.total(spark, table) == 8


def test_the_test_of_a_program_passes(spark: SparkSession) -> None:
    load("test_program").test_flights_are_late_after_the_minutes_of_the_schedule(spark)


def _scenarios(folder: Path, schedules: Path) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-v", f"{folder}/test_scenarios.py"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "SCHEDULES": str(schedules)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def test_scenarios_are_tests_of_pytest(tmp_path: Path) -> None:
    (tmp_path / "test_scenarios.py").write_text((EXAMPLES / "test_scenarios.py").read_text("utf-8"))
    (tmp_path / "tidegate.toml").write_text("")
    story = ROOT / "schedules" / "stories" / "01_fixed_times.yaml"
    code, printed = _scenarios(tmp_path, story)
    assert code == 0, printed
    assert " passed" in printed
    assert " failed" not in printed

    wrong = tmp_path / "wrong.yaml"
    text = story.read_text("utf-8")
    app = text.split("app: ", 1)[1].split("\n", 1)[0]
    assert "launch: " in text
    wrong.write_text(text[: text.index("examples:")] + EXPECTING_NOTHING)
    code, printed = _scenarios(tmp_path, wrong)
    assert code == 1, printed
    assert f"{app}: it launches nothing" in printed
    assert "observed" in printed


EXPECTING_NOTHING = """\
examples:
  - name: it launches nothing
    start: 2013-12-23T00:00:00Z
    until: +3d
    expect: []
"""
