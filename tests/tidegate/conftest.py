"""Projects for the tests of the command line."""

from collections.abc import Generator
from pathlib import Path

import pytest

from tests.tidegate.project import Project
from tests.tidegate.tasks import TaskProject
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


@pytest.fixture
def tasks(project: Project) -> Generator[TaskProject, None, None]:
    """A project with cycle tasks, deployed on 2026-03-10."""
    found = TaskProject(project)
    yield found
    found.store.close()
