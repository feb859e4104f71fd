"""Where the store says that a schedule was written."""

from pathlib import Path

import pytest

from tests.tidegate.project import Project


def test_places_are_stored_relative_to_the_project(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Deployed from elsewhere, the store still names the file as the repository does."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.setenv("TIDEGATE_PROJECT", str(tmp_path))
    monkeypatch.chdir(elsewhere)

    project.run("deploy")

    assert "schedules/sales.yaml:12:3" in project.run("schedules", "show", "report_daily").split()


def test_places_outside_of_the_project_are_stored_relative_to_it_too(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "tidegate.toml").write_text('[project]\nschedules = "../schedules"\n')
    monkeypatch.setenv("TIDEGATE_PROJECT", str(inner))

    project.run("deploy")

    assert "../schedules/sales.yaml:12:3" in project.run("schedules", "show", "report_daily").split()
