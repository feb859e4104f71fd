"""Stores that a user may only read: what it reads, and which error it gets when it writes."""

import shutil
import uuid
from collections.abc import Generator
from pathlib import Path

import pytest
import sqlalchemy

from tests.doubles.reader_user import as_reader, open_to_readers, reader_of
from tests.worlds.samples import app
from tidegate.scheduler.model.deployed import APPS
from tidegate.scheduler.store.commits.steps import SqlCommitStepStore
from tidegate.scheduler.store.error import StoreReadOnly
from tidegate.scheduler.store.open import open_store
from tidegate.scheduler.store.sql import schema
from tidegate.scheduler.store.sql.open import open_sql_store


@pytest.fixture
def folder() -> Generator[Path, None, None]:
    with open_to_readers() as made:
        yield made


def filled(file: Path) -> str:
    """Make a store with one app, and return its URL."""
    url = f"sqlite:///{file}"
    store = open_store(url)
    with store.transaction() as transaction:
        transaction.put_records(APPS, [app("a")])
    store.close()
    return url


def check_it_can_only_be_read(url: str, shown: str) -> None:
    store = open_sql_store(url, create=False)
    commits = SqlCommitStepStore(store.engine)
    with store.reading() as reader:
        assert reader.records(APPS) == (app("a"),)
    assert commits.list_unfinished() == ()
    with pytest.raises(StoreReadOnly) as refused, store.transaction() as transaction:
        transaction.put_records(APPS, [app("b")])
    assert f"{shown} cannot be written by this user" in refused.value.message
    assert "a user that may write the store" in refused.value.hint
    with pytest.raises(StoreReadOnly, match="cannot be written by this user"):
        commits.release("none", "none")
    store.close()


@pytest.mark.parametrize("name", ["store.db", "a name, and #é.db"])
def test_a_closed_sqlite_file_is_read_and_left_as_it_is(folder: Path, name: str) -> None:
    url = filled(folder / name)
    before = sorted(folder.iterdir())
    with reader_of(folder):
        check_it_can_only_be_read(url, name)
    assert sorted(folder.iterdir()) == before


def test_a_read_only_file_in_a_folder_that_may_be_written_is_left_alone(folder: Path) -> None:
    url = filled(folder / "store.db")
    with reader_of(folder):
        pass
    folder.chmod(0o777)
    with as_reader():
        check_it_can_only_be_read(url, "store.db")
    assert [path.name for path in folder.iterdir()] == ["store.db"]


def test_a_sqlite_file_that_a_process_has_open_shows_its_latest_commits(folder: Path) -> None:
    url = filled(folder / "store.db")
    writer = open_store(url)
    with writer.transaction() as transaction:
        transaction.put_records(APPS, [app("late")])
    with reader_of(folder):
        store = open_store(url, create=False)
        with store.reading() as reader:
            assert [each.name for each in reader.records(APPS)] == ["a", "late"]
        store.close()
    writer.close()


def test_changes_that_only_a_writer_can_read_are_not_passed_over(folder: Path) -> None:
    url = filled(folder / "store.db")
    writer = open_store(url)
    with writer.transaction() as transaction:
        transaction.put_records(APPS, [app("late")])
    for path in folder.iterdir():
        shutil.copy(path, path.with_name(path.name.replace("store", "left")))
    writer.close()
    # given the files of a process that died, without the index of its changes
    (folder / "left.db-shm").unlink()
    with reader_of(folder), pytest.raises(StoreReadOnly, match="cannot be read by this user") as refused:
        open_store(f"sqlite:///{folder}/left.db", create=False)
    assert "a process that died left changes" in refused.value.hint


def test_a_file_that_may_not_be_read_is_named_with_the_remedy(folder: Path) -> None:
    url = filled(folder / "store.db")
    with reader_of(folder):
        pass
    (folder / "store.db").chmod(0)
    with as_reader(), pytest.raises(StoreReadOnly, match="cannot be read by this user") as refused:
        open_store(url, create=False)
    assert "let the user read the store" in refused.value.hint


def test_an_old_schema_needs_a_user_that_may_write(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def migrate(connection: sqlalchemy.Connection) -> None:
        connection.execute(sqlalchemy.text("UPDATE alembic_version SET version_num = '9998'"))

    url = filled(folder / "store.db")
    monkeypatch.setattr(schema, "HEAD", "9998")
    monkeypatch.setattr(schema, "migrate", migrate)
    with reader_of(folder), pytest.raises(StoreReadOnly, match="cannot be written by this user"):
        open_store(url, create=False)


@pytest.mark.store
def test_a_user_of_postgresql_with_select_only(postgres_url: str) -> None:
    store = open_store(postgres_url)
    with store.transaction() as transaction:
        transaction.put_records(APPS, [app("a")])
    store.close()
    admin = sqlalchemy.create_engine(postgres_url)
    name = f"reader_{uuid.uuid4().hex}"
    url = admin.url.set(username=name).render_as_string(hide_password=False)
    with admin.begin() as connection:
        connection.execute(sqlalchemy.text(f"CREATE ROLE {name} LOGIN"))
    with pytest.raises(StoreReadOnly, match="cannot be read by this user: permission denied") as refused:
        open_store(url, create=False)
    assert "GRANT SELECT" in refused.value.hint
    with admin.begin() as connection:
        connection.execute(sqlalchemy.text(f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {name}"))
    check_it_can_only_be_read(url, "")
    with admin.begin() as connection:
        connection.execute(sqlalchemy.text(f"DROP OWNED BY {name}; DROP ROLE {name}"))
    admin.dispose()
