"""Any user of the machine could read the arguments of my runs in the scheduler's database.

A new SQLite store is for its user only, with the files beside it and its folder. What exists keeps its
permissions, which a person may have set.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tidegate.processes.lock import project_lock
from tidegate.processes.server_address import address_file
from tidegate.scheduler.store.open import open_store

pytestmark = pytest.mark.store


@pytest.fixture(autouse=True)
def generous() -> Iterator[None]:
    """A process whose new files everybody may read and write."""
    before = os.umask(0)
    yield
    os.umask(before)


def permissions(path: Path) -> str:
    return oct(path.stat().st_mode & 0o777)


def test_a_new_store_is_private(tmp_path: Path) -> None:
    file = tmp_path / ".tidegate" / "store.db"
    store = open_store(f"sqlite:///{file}")
    with store.transaction():
        beside = sorted(file.parent.iterdir())
        assert [each.name for each in beside] == ["store.db", "store.db-shm", "store.db-wal"]
        assert {permissions(each) for each in beside} == {"0o600"}
    assert permissions(file.parent) == "0o700"


def test_permissions_that_a_person_has_set_stay(tmp_path: Path) -> None:
    folder = tmp_path / ".tidegate"
    open_store(f"sqlite:///{folder / 'store.db'}")
    folder.chmod(0o750)
    (folder / "store.db").chmod(0o660)
    open_store(f"sqlite:///{folder / 'store.db'}")
    assert (permissions(folder), permissions(folder / "store.db")) == ("0o750", "0o660")


def test_a_store_that_a_link_names_is_private_too(tmp_path: Path) -> None:
    (tmp_path / "store.db").symlink_to(tmp_path / "real.db")
    open_store(f"sqlite:///{tmp_path / 'store.db'}")
    assert permissions(tmp_path / "real.db") == "0o600"


def test_the_folder_is_private_whoever_creates_it(tmp_path: Path) -> None:
    for name in ("dev", "serve"):
        (tmp_path / name).mkdir()
    with project_lock(tmp_path / "dev"):
        assert permissions(tmp_path / "dev" / ".tidegate") == "0o700"
    assert address_file(tmp_path / "serve") is not None
    assert permissions(tmp_path / "serve" / ".tidegate") == "0o700"
