"""Opening a store: what its address may be, what its schema is, and what is said when it cannot be."""

import subprocess
import sys
from pathlib import Path

import pytest
import sqlalchemy
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from tests.doubles.stopped_process import WRITES_TO_A_STORE, stopped
from tests.worlds.samples import app
from tidegate.scheduler.model.deployed import APPS
from tidegate.scheduler.store.error import StoreError
from tidegate.scheduler.store.open import open_store
from tidegate.scheduler.store.sql import commit_tables, tables
from tidegate.scheduler.store.sql.connection import lock
from tidegate.scheduler.store.sql.metadata import metadata
from tidegate.scheduler.store.sql.open import open_sql_store
from tidegate.scheduler.store.sql.schema import HEAD, MIGRATIONS
from tidegate.scheduler.store.sql.store import SqlStore

pytestmark = pytest.mark.usefixtures("really_migrated")

PROJECT = Path(__file__).parents[2]

BAD_URLS = [
    ("no url at all", "is not a URL"),
    ("", "is not a URL"),
    ("mysql://localhost/x", "cannot be kept in 'mysql'"),
    ("postgresql+asyncpg://localhost/x", "cannot be kept in 'postgresql+asyncpg'"),
    ("sqlite://", "needs a file"),
    ("sqlite:///:memory:", "needs a file"),
]

OWN_INDEXES = "SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL"
"""The indexes of a table, without those of its keys."""


@pytest.mark.parametrize(("url", "message"), BAD_URLS)
def test_an_address_that_cannot_be_meant_is_refused_with_the_forms_that_can(url: str, message: str) -> None:
    with pytest.raises(StoreError) as raised:
        open_store(url)
    assert message in raised.value.message
    assert "sqlite:///" in raised.value.hint


def test_the_folder_of_a_sqlite_file_is_made(tmp_path: Path) -> None:
    open_store(f"sqlite:///{tmp_path}/a/b c/store.db").close()
    assert (tmp_path / "a/b c/store.db").exists()


def test_a_store_keeps_what_it_holds_when_it_is_opened_again(sql_url: str) -> None:
    first = open_store(sql_url)
    with first.transaction() as transaction:
        transaction.put_records(APPS, [app("a")])
    first.close()
    second = open_store(sql_url, create=False)
    with second.reading() as reader:
        assert reader.records(APPS) == (app("a"),)
    second.close()


def test_without_create_a_store_that_does_not_exist_is_refused_and_not_made(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"there is no store at .*tidegate deploy"):
        open_store(f"sqlite:///{tmp_path}/folder/store.db", create=False)
    assert list(tmp_path.iterdir()) == []


def test_without_create_a_database_that_holds_no_store_is_refused(sql_url: str) -> None:
    if sql_url.startswith("sqlite"):
        Path(sql_url.removeprefix("sqlite:///")).touch()
    with pytest.raises(StoreError, match="there is no store at"):
        open_store(sql_url, create=False)


def test_a_file_that_is_no_database_is_told_so(tmp_path: Path) -> None:
    (tmp_path / "store.db").write_text("not a database, but long enough to be read as one" * 100)
    with pytest.raises(StoreError, match="file is not a database"):
        open_store(f"sqlite:///{tmp_path}/store.db")


def test_a_folder_that_cannot_be_made_is_told_so(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="cannot be made"):
        open_store(f"sqlite:///{tmp_path}/file/store.db")


def test_a_server_that_does_not_answer_is_told_without_its_password() -> None:
    with pytest.raises(StoreError) as raised:
        open_store("postgres://me:secret-word@127.0.0.1:1/x")
    assert "postgresql+psycopg2://me:***@127.0.0.1:1/x cannot be used" in raised.value.message
    assert "secret-word" not in str(raised.value)


def test_a_store_of_a_newer_version_is_refused(sql_store: SqlStore, sql_url: str) -> None:
    with sql_store.engine.begin() as connection:
        connection.execute(sqlalchemy.text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(StoreError, match="schema 9999, which a newer tidegate wrote"):
        open_store(sql_url)


def test_a_store_that_stays_locked_is_told_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tidegate.scheduler.store.sql.connection.engine.BUSY_SECONDS", 0)
    monkeypatch.setattr(lock, "BUSY_SECONDS", 0)
    store = open_store(f"sqlite:///{tmp_path}/store.db")
    with store.transaction(), pytest.raises(StoreError, match="stayed locked"), store.transaction():
        pass
    store.close()


def test_a_writer_that_hangs_is_named_with_the_remedy_and_loses_only_what_it_has_not_committed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite has no limit for a process that hangs in its transaction: the others say who it is."""
    monkeypatch.setattr("tidegate.scheduler.store.sql.connection.engine.BUSY_SECONDS", 0)
    monkeypatch.setattr(lock, "BUSY_SECONDS", 0)
    store = open_sql_store(f"sqlite:///{tmp_path}/store.db")
    with stopped(WRITES_TO_A_STORE, tmp_path / "store.db") as pid:
        with pytest.raises(StoreError, match=rf"by process {pid} \(.*, stopped\)") as raised:
            store.transaction().__enter__()
        assert raised.value.hint.startswith("end that process")
    with store.transaction() as after:
        after.set_cursor("written", 1)
    assert lock.writer_of(store.engine) is None
    store.close()


def test_the_migrations_make_exactly_the_tables(sql_url: str) -> None:
    sql_store = open_sql_store(sql_url)
    assert {table.name for table in metadata.tables.values()} >= {
        tables.jobs.name,
        commit_tables.commit_tokens.name,
    }
    with sql_store.engine.connect() as connection:
        found = compare_metadata(
            MigrationContext.configure(connection, opts={"compare_type": True}), metadata
        )
        inspector = sqlalchemy.inspect(connection)
        for table in metadata.tables.values():
            indexes = {index["name"] for index in inspector.get_indexes(table.name)}
            if connection.dialect.name == "sqlite":
                # Of an expression SQLAlchemy does not read the index there.
                made = connection.exec_driver_sql(OWN_INDEXES, (table.name,))
                indexes |= set(made.scalars())
            assert indexes == {index.name for index in table.indexes}, table.name
    sql_store.close()
    assert found == []


def test_the_newest_revision_is_the_one_that_the_engine_knows() -> None:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    assert ScriptDirectory.from_config(config).get_heads() == [HEAD]


@pytest.mark.slow
def test_opening_a_current_store_does_not_import_the_migrations(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/store.db"
    open_store(url).close()
    program = f"""
import sys
from tidegate.scheduler.store.open import open_store
open_store({url!r}, create=False).close()
assert "sqlalchemy" in sys.modules and "alembic" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], cwd=PROJECT, check=True, timeout=60)


def test_a_sqlite_store_writes_ahead_and_waits_for_the_disk(tmp_path: Path) -> None:
    store = open_store(f"sqlite:///{tmp_path}/store.db")
    assert isinstance(store, SqlStore)
    with store.engine.connect() as connection:
        found = [
            connection.exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        ]
    store.close()
    assert found == ["wal", 2, 1, 15_000]
