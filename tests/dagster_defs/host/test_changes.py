"""Whether something was committed: asked of SQLite and of PostgreSQL, for the store and for Dagster's log."""

import shutil
from pathlib import Path

import pytest
from dagster import AssetKey, AssetMaterialization, DagsterInstance

from tests.dagster_defs.sample import deploy, sample_app
from tests.doubles.reference.store import ReferenceStore
from tidegate.dagster_defs.host.changes import Changes
from tidegate.scheduler.model.deployed import APPS
from tidegate.scheduler.store.open import open_store

pytestmark = pytest.mark.dagster


def test_a_commit_to_the_store_or_to_the_log_is_seen_and_nothing_else(
    disk_instance: DagsterInstance, sql_url: str
) -> None:
    instance, changes = disk_instance, Changes(disk_instance)
    store = open_store(sql_url)
    other = open_store(sql_url)

    def token() -> tuple[object, ...]:
        found = changes.token(store)
        assert found is not None
        return found

    idle = token()
    with store.reading() as reader:
        reader.records(APPS)
    with store.transaction():
        pass
    assert token() == idle

    seen = [idle]
    with other.transaction() as transaction:
        transaction.set_cursor("any", 1)
    seen.append(token())
    with store.transaction() as transaction:
        transaction.set_cursor("any", 2)
    seen.append(token())
    instance.report_runless_asset_event(AssetMaterialization(AssetKey("a")))
    seen.append(token())
    assert len(set(map(str, seen))) == len(seen)
    assert token() == seen[-1]
    changes.close()
    store.close()
    other.close()


def test_a_file_that_was_replaced_is_a_change(tmp_path: Path, empty_homes: dict[str, Path]) -> None:
    home = empty_homes["one file"]
    with DagsterInstance.from_config(str(shutil.copytree(home, tmp_path / "home"))) as instance:
        store = open_store(f"sqlite:///{tmp_path}/store.db")
        changes = Changes(instance)
        before = changes.token(store)
        shutil.copy(tmp_path / "store.db", tmp_path / "copy.db")
        (tmp_path / "copy.db").rename(tmp_path / "store.db")
        assert None not in (before, changes.token(store))
        assert changes.token(store) != before
        changes.close()
        store.close()


def test_where_it_is_not_known_the_host_reads_what_there_is(
    instance: DagsterInstance, store: ReferenceStore, tmp_path: Path
) -> None:
    deploy(store, sample_app())
    assert Changes(instance).token(store) is None
    file = open_store(f"sqlite:///{tmp_path}/store.db")
    assert Changes(instance).token(file) is None
    file.close()
