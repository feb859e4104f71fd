"""A queue on SQLite, with connections that are kept."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.dagster_defs.conftest import KEPT, ONE_FILE
from tests.dagster_defs.coordinator.queued import Queue, queue_in


@pytest.fixture
def home(empty_homes: dict[str, Path], tmp_path: Path) -> Path:
    shutil.copytree(empty_homes[ONE_FILE], tmp_path, dirs_exist_ok=True)
    return tmp_path


@pytest.fixture
def queue(home: Path) -> Iterator[Queue]:
    with queue_in(home, {}, **KEPT) as queue:
        yield queue
