"""Projects for the tests of the command line."""

import shutil
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.tidegate.project import SETTINGS, Project
from tests.tidegate.tables import TableProject
from tests.tidegate.tasks import EIGHT, NINE, TaskProject
from tidegate.project import imports
from tidegate.scheduler.model.run import RunStatus


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A project whose folder is the working folder, with nothing deployed yet."""
    monkeypatch.delenv("TIDEGATE_PROJECT", raising=False)
    monkeypatch.delenv("TIDEGATE_STORE_URL", raising=False)
    monkeypatch.chdir(tmp_path)
    return Project(tmp_path)


@pytest.fixture(scope="session")
def deployed_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a project whose app is deployed, to be copied: its name is not that of its folder."""
    folder = tmp_path_factory.mktemp("deployed")
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("TIDEGATE_PROJECT", raising=False)
        patch.delenv("TIDEGATE_STORE_URL", raising=False)
        patch.chdir(folder)
        patch.setattr(imports, "check_imports", lambda compilation, project: compilation)
        project = Project(folder)
        (folder / "tidegate.toml").write_text(f'[project]\nname = "shop"\n{SETTINGS}')
        project.run("deploy")
    return folder


@pytest.fixture
def deployed(project: Project, deployed_once: Path) -> Project:
    """A project whose app is deployed."""
    shutil.copytree(deployed_once, project.folder, dirs_exist_ok=True)
    return project


@pytest.fixture
def deployed_as_its_folder(project: Project) -> Project:
    """A project without a name of its own, whose app is deployed."""
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


@pytest.fixture
def morning(tasks: TaskProject) -> TaskProject:
    """08:00 is done, the run of 09:00 has failed, the feed of 10:00 is not reported."""
    tasks.reported("08:01", EIGHT)
    tasks.run_all("08:10")
    tasks.reported("09:01", NINE)
    tasks.run_all("09:10", RunStatus.FAILED)
    return tasks


@pytest.fixture
def tables(project: Project) -> Generator[TableProject, None, None]:
    """A project with maintenance policies and three tables, deployed now."""
    found = TableProject(project)
    yield found
    found.store.close()
