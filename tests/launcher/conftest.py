"""One project with a code server for the tests of this folder; one worker takes them (`tests/workers.py`)."""

from collections.abc import Iterator

import pytest

from tests.launcher.quick import PROGRAMS, Quick, quick_project


@pytest.fixture(scope="package")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Quick]:
    with quick_project(tmp_path_factory.mktemp("quick"), "mode: fork") as quick:
        yield quick


@pytest.fixture
def quick(project: Quick) -> Iterator[Quick]:
    """The project, whose programs a test may change."""
    yield project
    if project.programs.read_text() != PROGRAMS:
        project.programs.write_text(PROGRAMS)
