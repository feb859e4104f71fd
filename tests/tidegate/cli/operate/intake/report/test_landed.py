"""`tidegate report` of landed files: what a run would find without files is said at once."""

import pytest
from typer.testing import CliRunner

from tests.tidegate.project import Project
from tidegate.cli.main import application

NINTH = "2026-03-09"


def warned(*keys: str) -> str:
    arguments = [each for key in keys for each in ("--key", key)]
    result = CliRunner().invoke(application, ["report", "sales/orders", *arguments])
    assert result.exit_code == 0, result.output
    assert "reported" in result.stdout
    return result.stderr


def land(project: Project, name: str) -> None:
    file = project.folder / "landing/orders" / f"day={NINTH}" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("1")


def test_a_partition_without_files_is_named_with_its_folder(deployed: Project) -> None:
    land(deployed, "_hidden.parquet")
    said = warned(NINTH)

    folder = deployed.folder / "landing/orders" / f"day={NINTH}"
    assert f"warning: sales/orders {NINTH}: there are no files in {folder}; a run that reads it fails" in said
    assert "hint: put the files there" in said
    land(deployed, "a.parquet")
    assert warned(NINTH) == ""


def test_many_are_counted(deployed: Project) -> None:
    said = warned(*(f"2026-03-{day:02}" for day in range(1, 13)))

    assert said.count("there are no files") == 10
    assert "2 more have none" in said


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("path: landing/orders}", "path: landing/orders, allow_empty: true}"),
        ("programs:\n", "programs:\n  fill: {run: programs.fill, writes: [orders]}\n"),
    ],
)
def test_what_may_be_empty_or_is_published_is_not_looked_at(deployed: Project, old: str, new: str) -> None:
    deployed.edit(old, new)
    deployed.run("deploy")

    assert warned(NINTH) == ""


def test_a_report_of_a_watched_dataset_counts_and_is_warned_of(deployed: Project) -> None:
    deployed.edit("path: landing/orders}", "path: landing/orders, watch: true}")
    deployed.run("deploy")
    land(deployed, "a.parquet")

    assert "its folder is watched" in warned(NINTH)
