"""Projects for the tests of the command line."""

from pathlib import Path

import pytest

from tests.tidegate.project import Project
from tidegate.project import imports


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A project whose folder is the working folder, with nothing deployed yet."""
    monkeypatch.delenv("TIDEGATE_PROJECT", raising=False)
    monkeypatch.delenv("TIDEGATE_STORE_URL", raising=False)
    monkeypatch.chdir(tmp_path)
    return Project(tmp_path)


@pytest.fixture
def deployed(project: Project) -> Project:
    """A project whose app is deployed."""
    project.run("deploy")
    return project


@pytest.fixture(autouse=True)
def imports_of_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """The programs of these projects are names only, so they are not imported."""
    monkeypatch.setattr(imports, "check_imports", lambda compilation, project: compilation)
