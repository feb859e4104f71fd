"""`tidegate report` of landed files: what a run would find without files is said at once."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.tidegate.project import Project
from tidegate.cli.main import application
from tidegate.watcher import unlanded

NINTH = "2026-03-09"


def warned(*keys: str, anyway: bool = False) -> str:
    arguments = [each for key in keys for each in ("--key", key)]
    options = ["--anyway"] if anyway else []
    result = CliRunner().invoke(application, ["report", "sales/orders", *arguments, *options])
    assert result.exit_code == 0, result.output
    assert "reported" in result.stdout
    return result.stderr


def refused(project: Project, *keys: str) -> str:
    """Return what a report that changes nothing says."""
    found = project.refused("report", "sales/orders", *(each for key in keys for each in ("--key", key)))
    assert project.json("events", "list") == []
    assert found.hint.endswith("or add --anyway")
    return str(found)


def land(project: Project, name: str, content: bytes = b"PAR1PAR1") -> None:
    file = project.folder / "landing/orders" / f"day={NINTH}" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)


def test_a_partition_without_files_is_named_with_its_folder(deployed: Project) -> None:
    land(deployed, "_hidden.parquet")
    said = refused(deployed, NINTH)

    folder = deployed.folder / "landing/orders" / f"day={NINTH}"
    assert f"sales/orders {NINTH}: there are no files in {folder}; a run that reads it fails" in said
    assert "put the files there" in said
    assert f"warning: sales/orders {NINTH}: there are no files in" in warned(NINTH, anyway=True)
    land(deployed, "a.parquet")
    assert warned(NINTH) == ""


def test_a_key_without_its_option_is_not_taken_for_a_time_of_a_task(deployed: Project) -> None:
    found = deployed.refused("report", "sales/orders", NINTH)

    assert found.message == '"sales/orders" is a dataset, and no task'
    assert found.hint == f"give each partition by --key: `tidegate report sales/orders --key {NINTH}`"


def test_many_are_counted(deployed: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a landing folder no other folder is looked at but those of the partitions that are named."""
    looked, data_in = list[Path](), unlanded._data_in

    def noted(folder: Path) -> list[Path] | None:
        looked.append(folder)
        return data_in(folder)

    monkeypatch.setattr(unlanded, "_data_in", noted)
    said = refused(deployed, *(f"2026-03-{day:02}" for day in range(1, 13)))

    assert said.count("there are no files") == 10
    assert "2 more have none" in said
    assert {each.name.removeprefix("day=") for each in looked} == {
        f"2026-03-{day:02}" for day in range(1, 11)
    }


def test_what_may_be_empty_is_reported_without_files(deployed: Project) -> None:
    deployed.edit("path: landing/orders}", "path: landing/orders, allow_empty: true}")
    deployed.run("deploy")

    assert warned(NINTH) == ""


def test_what_a_program_writes_is_reported_by_its_publish(deployed: Project) -> None:
    deployed.edit("programs:\n", "programs:\n  fill: {run: programs.fill, writes: [orders]}\n")
    deployed.run("deploy")

    said = "sales/orders: program fill writes it, and its publishes are reported by themselves"
    assert said in refused(deployed, NINTH)
    assert f"warning: {said}" in warned(NINTH, anyway=True)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.parquet", b"PAR1 and no end", "or was cut: it does not end with PAR1"),
        ("a.parquet", b"", "or was cut: it does not end with PAR1"),
        ("a.csv", b"a,b\n1,2\n", "its dataset has files that end with .parquet"),
    ],
)
def test_a_file_that_spark_cannot_read_is_named(
    deployed: Project, name: str, content: bytes, said: str
) -> None:
    land(deployed, name, content)

    found = refused(deployed, NINTH)

    assert f"day={NINTH}/{name}' is not a Parquet file" in found
    assert said in found


def test_a_report_of_a_watched_dataset_counts_and_is_warned_of(deployed: Project) -> None:
    deployed.edit("path: landing/orders}", "path: landing/orders, watch: true}")
    deployed.run("deploy")
    land(deployed, "a.parquet")

    assert "its folder is watched" in warned(NINTH)
