"""The format of a dataset that names none: from the settings, from what is installed, from the store."""

import json

import pytest
from typer.testing import CliRunner

from tests.tidegate.project import Project
from tidegate.cli.main import application
from tidegate.project.settings.settings import load_settings
from tidegate.scheduler.model.deployed import APPS
from tidegate.scheduler.store.open import open_store
from tidegate.spark_jobs.iceberg.catalog import runtime

RUNTIME = "org.apache.iceberg:iceberg-spark-runtime-3.5_2.12:1.10.2"
KEEPS = 'keeps the format with which it is deployed, got "report": deployed as'


@pytest.fixture(autouse=True)
def no_wheel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime, "runtime_jar", lambda: None)


def settle(project: Project, format: str) -> None:
    """Write the settings."""
    (project.folder / "tidegate.toml").write_text(f'[warehouse]\ndefault_format = "{format}"\n')


def deployed(project: Project) -> dict[str, str]:
    """The formats in the store, which runs use."""
    store = open_store(load_settings(project.folder).store_url)
    with store.reading() as reader:
        (app,) = reader.records(APPS)
    store.close()
    return {name: dataset.format for name, dataset in app.app.datasets.items()}


@pytest.mark.parametrize(
    ("lines", "format"),
    [
        ("", "parquet"),
        (f'[iceberg]\npackages = "{RUNTIME}"', "iceberg"),
        (f'[spark.conf]\n"spark.jars.packages" = "g:a:1,{RUNTIME}"', "iceberg"),
        ('[spark.conf]\nspark.jars = "/opt/iceberg-spark-runtime-3.5_2.12-1.10.2.jar"', "iceberg"),
        ('[spark.conf]\n"spark.driver.extraClassPath" = "/opt/iceberg-spark-runtime-3.5.jar"', "iceberg"),
        ('[spark.conf]\n"spark.jars" = "/opt/postgresql.jar"', "parquet"),
        (f'[warehouse]\ndefault_format = "parquet"\n[iceberg]\npackages = "{RUNTIME}"', "parquet"),
        ('[warehouse]\ndefault_format = "iceberg"', "iceberg"),
    ],
)
def test_the_default_follows_the_runtime_unless_it_is_named(
    project: Project, lines: str, format: str
) -> None:
    (project.folder / "tidegate.toml").write_text(lines)
    assert load_settings(project.folder).default_format == format


def test_the_wheel_counts(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime, "runtime_jar", lambda: project.folder / "iceberg.jar")
    settle(project, "auto")
    assert load_settings(project.folder).default_format == "iceberg"


def test_a_dataset_that_a_program_writes_takes_the_default_and_landed_files_do_not(project: Project) -> None:
    settle(project, "iceberg")
    project.run("deploy")
    assert deployed(project) == {"orders": "parquet", "report": "iceberg"}


@pytest.mark.parametrize(("first", "later"), [("parquet", "iceberg"), ("iceberg", "parquet")])
def test_a_deployed_dataset_keeps_its_format_and_plan_says_so(
    project: Project, first: str, later: str
) -> None:
    settle(project, first)
    project.run("deploy")
    settle(project, later)
    said = CliRunner().invoke(application, ["plan"])
    assert said.exit_code == 0, "nothing changes"
    assert f'{KEEPS} "{first}", and the default is "{later}"' in said.output
    project.edit("  report: {", "  report: {description: all of it, ")
    project.run("deploy")
    assert deployed(project) == {"orders": "parquet", "report": first}

    settle(project, first)
    assert KEEPS not in CliRunner().invoke(application, ["plan"]).output


def test_a_new_dataset_of_a_deployed_app_takes_the_new_default(project: Project) -> None:
    project.run("deploy")
    settle(project, "iceberg")
    project.edit("writes: [report]", "writes: [report, summary]")
    project.edit("datasets:\n", "datasets:\n  summary: {partitions: {cycle: day, start: 2026-01-01}}\n")
    project.run("deploy")
    assert deployed(project) == {"orders": "parquet", "report": "parquet", "summary": "iceberg"}


def test_lint_and_test_use_the_same_default(project: Project) -> None:
    """Only an Iceberg table shows what is new of what a program writes."""
    project.edit("  report: {", "  copy: {write: append}\n  report: {write: append, ")
    follow = "{run: p.follow, reads: [{dataset: report, incremental: true}], writes: [copy]}"
    project.edit("schedules:\n", f"  follow: {follow}\nschedules:\n")
    assert "landed files need a `path`" in project.run("lint", exit_code=1)
    settle(project, "iceberg")
    project.run("lint")
    project.run("test")
    assert json.loads(project.run("plan", "--format", "json", exit_code=2))["apps"]


@pytest.mark.parametrize("renamed", ["report", "app"])
def test_a_renamed_dataset_keeps_its_format(project: Project, renamed: str) -> None:
    project.run("deploy")
    settle(project, "iceberg")
    if renamed == "app":
        project.edit("app: sales", "app: trade\nrenamed_from: sales")
    else:
        project.edit("  report: {", "  summary: {renamed_from: report, ")
        project.edit("writes: [report]", "writes: [summary]")
    project.run("deploy")
    assert set(deployed(project).values()) == {"parquet"}
