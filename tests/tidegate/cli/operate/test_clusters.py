"""`tidegate doctor` on Spark: what is installed, and which masters answer."""

import socket
from pathlib import Path

import pytest

from tidegate.cli.operate.health.clusters import spark_findings
from tidegate.cli.operate.health.findings import Finding
from tidegate.project.settings.settings import load_settings
from tidegate.spark_jobs.errors import JavaNotFound
from tidegate.spark_jobs.iceberg.catalog import runtime
from tidegate.spark_jobs.iceberg.catalog.runtime import InstalledSpark
from tidegate.spark_jobs.session import java


def found_with(folder: Path, text: str) -> dict[str, Finding]:
    (folder / "tidegate.toml").write_text(text)
    return {each.part: each for each in spark_findings(load_settings(folder))}


def test_each_master_is_asked_once_and_named_with_its_sections(project_folder: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as alive, socket.create_server(("127.0.0.1", 0)) as ended:
        here, away = (f"spark://127.0.0.1:{each.getsockname()[1]}" for each in (alive, ended))
        ended.close()
        found = found_with(
            project_folder,
            f'[spark]\nmaster = "{here}"\n[spark.clusters.far]\nmaster = "yarn"\n'
            f'[spark.clusters.large]\nmaster = "{away}"\n'
            '[spark.clusters.same.conf]\n"spark.cores.max" = "1"\n',
        )
    assert {part: str(each.health) for part, each in found.items() if part != "Iceberg"} == {
        "Spark": "ok",
        "Spark master of [spark], [spark.clusters.same]": "ok",
        "Spark master of [spark.clusters.far]": "note",
        "Spark master of [spark.clusters.large]": "wrong",
    }
    large = found["Spark master of [spark.clusters.large]"]
    assert f"{away} does not answer" in large.text and "Connection refused" in large.text
    assert "correct `master`" in large.remedy


def test_versions_and_the_jar_are_named(project_folder: Path) -> None:
    found = found_with(project_folder, "")
    spark, jar = runtime.installed_spark(), runtime.runtime_jar()
    assert spark is not None
    assert spark.version in found["Spark"].text and str(java.java_home()) in found["Spark"].text
    assert ("without Iceberg" if jar is None else jar.name) in found["Spark"].text


def test_a_runtime_for_another_spark_is_named(project_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = InstalledSpark(version="4.9.0", scala="2.13")
    monkeypatch.setattr(runtime, "installed_spark", lambda: other)
    monkeypatch.setattr(
        runtime, "_jars_of_the_wheel", lambda: [Path("iceberg-spark-runtime-3.5_2.12-1.10.0.jar")]
    )
    found = found_with(project_folder, "")
    assert "without Iceberg" in found["Spark"].text
    assert "for Spark 3.5 with Scala 2.12" in found["Iceberg"].text
    assert "`packages`" in found["Iceberg"].remedy


def test_without_spark_or_a_java_the_remedy_is_named(
    project_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none() -> Path:
        raise JavaNotFound("Spark 4.9 needs Java 17", "install one")

    monkeypatch.setattr(java, "java_home", none)
    found = found_with(project_folder, "")["Spark"]
    assert (str(found.health), found.text, found.remedy) == (
        "wrong",
        "Spark 4.9 needs Java 17",
        "install one",
    )
    monkeypatch.setattr(runtime, "installed_spark", lambda: None)
    found = found_with(project_folder, "")["Spark"]
    assert (str(found.health), found.text) == ("note", "not installed here")
    assert "tidegate[iceberg]" in found.remedy
