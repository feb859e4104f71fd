"""The code that executors get: which packages, once for each content, and importable from the zip."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tidegate.domain.model import Dataset, Program
from tidegate.domain.spark_conf import Cluster
from tidegate.spark_jobs.errors import ProgramError
from tidegate.spark_jobs.session import executor_code
from tidegate.spark_jobs.session.executor_code import program_properties, zip_code
from tidegate.spark_jobs.session.session import PYTHON_FILES, SparkSettings

FILES = {
    "shop_programs/fares.py": "import json, shop_money.cents\nfrom pyspark.sql import functions\n",
    "shop_programs/rates.csv": "1,2\n",
    "shop_programs/.hidden": "secret",
    "shop_money/__init__.py": "",
    "shop_money/cents.py": "def half(a):\n    from shop_tax import of\n    return of(a) / 2\n",
    "shop_tax.py": "from . import nothing_here\n\ndef of(a):\n    return a\n",
    "shop_unused/__init__.py": "",
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def packages(zips: tuple[Path, ...]) -> list[str]:
    return [path.name.rpartition("-")[0] for path in zips]


def test_the_packages_of_the_project_that_a_program_imports_are_zipped_and_no_others(project: Path) -> None:
    zips = zip_code(["shop_programs.fares.price"], project)
    assert packages(zips) == ["shop_money", "shop_programs", "shop_tax"]
    # A package without `__init__.py` is found in its zip too, and so are files that Python does not import.
    asked = (
        "import shop_programs, shop_money.cents as c, shop_tax, pkgutil;"
        "print(shop_programs.__path__, pkgutil.get_data('shop_money.cents', '__init__.py'))"
    ).replace("shop_tax, ", "")
    path = ":".join(map(str, zips))
    found = subprocess.run(
        [sys.executable, "-c", asked], env={"PYTHONPATH": path}, capture_output=True, text=True, check=True
    )
    assert "shop_programs-" in found.stdout
    assert zip_code(["pyspark.sql", "json", "absent_module", "__main__"], project) == ()


def test_only_what_python_reads_as_an_import_is_one(project: Path) -> None:
    """Words of a text would ship a folder of data: to Python each folder is a package."""
    (project / "landing").mkdir()
    (project / "landing" / "rows.parquet").write_bytes(b"rows")
    (project / "gebühr").mkdir()
    (project / "gebühr" / "satz.py").write_text("RATE = 1\n")
    (project / "broken.py").write_text("import landing and more\n")
    (project / "shop_programs" / "fares.py").write_text(
        '"""Rows come\nfrom landing, which people\nimport landing for."""\n'
        "import broken; from gebühr.satz import RATE\nimport shop_money, \\\n    shop_tax\n"
    )

    zips = zip_code(["shop_programs.fares.price"], project)

    assert packages(zips) == ["broken", "gebühr", "shop_money", "shop_programs", "shop_tax"]


def test_links_are_followed_once_and_what_cannot_be_in_a_zip_stays_out(
    project: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    shared = tmp_path_factory.mktemp("shared")
    (shared / "linked").mkdir()
    (shared / "linked" / "code.py").write_text("ONE = 1\n")
    (project / "shop_linked").symlink_to(shared / "linked")
    for number in range(30):
        (shared / "linked" / f"again_{number}").symlink_to(shared / "linked")
    (shared / "linked" / "__pycache__").mkdir()
    (shared / "linked" / "__pycache__" / "code.pyc").write_bytes(b"1")
    (shared / "linked" / os.fsdecode(b"caf\xe9.csv")).write_text("1")

    (zipped,) = zip_code(["shop_linked.code.run"], project)

    assert zipfile.ZipFile(zipped).namelist() == ["shop_linked/", "shop_linked/code.py"]


def test_each_content_is_zipped_once_and_a_change_makes_another(project: Path) -> None:
    first = zip_code(["shop_tax.of"], project)
    written = first[0].stat().st_ino
    assert zip_code(["shop_tax.of"], project) == first
    assert first[0].stat().st_ino == written
    (project / "shop_tax.py").write_text("def of(a):\n    return a * 2\n")
    second = zip_code(["shop_tax.of"], project)
    assert second != first
    assert first[0].exists(), "a session that has begun with it may start another executor"


def test_what_is_too_large_is_refused_and_old_zips_are_deleted(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(executor_code, "MAX_ZIPS", 2)
    for number in range(4):
        (project / "shop_tax.py").write_text(f"RATE = {number}\n")
        newest = zip_code(["shop_tax.of"], project)
    kept = list((project / executor_code.FOLDER).iterdir())
    assert len(kept) == 2 and newest[0] in kept
    # One that another run has begun to write, and renames or deletes while this one looks.
    (project / executor_code.FOLDER / "gone.part").symlink_to("nowhere")
    (project / "shop_tax.py").write_text("RATE = 9\n")
    assert zip_code(["shop_tax.of"], project)[0].exists()
    monkeypatch.setattr(executor_code, "MAX_PACKAGE_BYTES", 10)
    with pytest.raises(ProgramError, match=r"the package shop_programs in .* every executor would fetch it"):
        zip_code(["shop_programs.fares"], project)


def test_a_program_has_the_properties_of_its_cluster_and_its_code_where_executors_are_elsewhere(
    project: Path,
) -> None:
    spark = SparkSettings(
        clusters={"large": Cluster(master="spark://host:7077", conf={"spark.a": "1", "spark.b": "1"})},
        project=project,
    )
    outputs = {"out": Dataset(name="out")}
    program = Program(
        name="p", run="shop_tax.of", writes=("out",), cluster="large", spark_conf={"spark.b": "2"}
    )
    (zipped,) = zip_code(["shop_tax.of"], project)
    assert program_properties(spark, program, outputs) == {
        "spark.master": "spark://host:7077",
        "spark.a": "1",
        "spark.b": "2",
        PYTHON_FILES: str(zipped),
    }
    # On one machine, in one process, there is nothing to ship; another environment may have the cluster.
    here = Program(name="p", run="shop_tax.of", writes=("out",), cluster="of_another_environment")
    assert program_properties(spark, here, outputs) == {}
