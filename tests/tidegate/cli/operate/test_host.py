"""`tidegate host`: what it refuses to start without."""

import pytest

from tests.tidegate.project import Project


@pytest.fixture(autouse=True)
def no_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DAGSTER_HOME", raising=False)


def test_it_names_the_folder_that_has_no_instance(project: Project) -> None:
    refused = project.refused("host")
    assert "there is no dagster.yaml in " in refused.message and ".tidegate/dagster" in refused.message
    assert "DAGSTER_HOME" in (refused.hint or "")


def test_it_names_the_workspace_files_that_it_looked_for(project: Project) -> None:
    home = project.folder / ".tidegate" / "dagster"
    home.mkdir(parents=True)
    (home / "dagster.yaml").touch()
    assert "workspace.yaml or " in project.refused("host").message
    refused = project.refused("host", "--workspace", "other.yaml")
    assert refused.message == "there is no workspace file at other.yaml"
    assert "--workspace" in (refused.hint or "")
