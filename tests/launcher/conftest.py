"""One project with a code server for the tests of this folder; one worker takes them (`tests/workers.py`)."""

from collections.abc import Iterator

import pytest

from tests.launcher.quick import Quick, quick_project


@pytest.fixture(scope="package")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Quick]:
    with quick_project(tmp_path_factory.mktemp("quick"), "mode: fork") as quick:
        yield quick
