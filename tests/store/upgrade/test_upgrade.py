"""A store of an older release is upgraded once, by a made-up revision; one of no release is refused.

The made-up version has one revision after the first release: a column, and a row that a second run of it
could not write.
"""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import Engine, inspect, text

from tests.worlds.samples import app, schedule
from tidegate.domain.model import ConcurrencyConstraint, CronTrigger, RateConstraint, Schedule
from tidegate.scheduler.model.deployed import APPS
from tidegate.scheduler.store.error import StoreError
from tidegate.scheduler.store.open import open_store, shown_url
from tidegate.scheduler.store.sql import schema
from tidegate.scheduler.store.sql.open import open_sql_store
from tidegate.scheduler.store.sql.statements.rows import SCHEDULES
from tidegate.scheduler.store.sql.store import SqlStore

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("really_migrated")]

PROJECT = Path(__file__).parents[3]
THIS, NEXT = schema.HEAD, f"{int(schema.HEAD) + 1:04}"
REVISION = f'''\
"""A column for apps, and a mark that this has run."""

import sqlalchemy as sa
from alembic import op

revision = "{NEXT}"
down_revision = "{THIS}"


def upgrade() -> None:
    op.add_column("apps", sa.Column("colour", sa.Text(), nullable=False, server_default="grey"))
    op.execute("INSERT INTO cursors (name, value) VALUES ('upgraded', 'true')")
    # BROKEN
'''

PROCESS = """
import sys
from pathlib import Path
from tidegate.scheduler.store.open import open_store
from tidegate.scheduler.store.sql import schema

schema.HEAD, schema.MIGRATIONS = sys.argv[2], Path(sys.argv[3])
print("ready", flush=True)
sys.stdin.read()
with open_store(sys.argv[1], create=False).reading() as reader:
    assert reader.cursor("upgraded") is True
"""


@pytest.fixture
def next_version(tmp_path: Path) -> Path:
    """The folder of the migrations of the made-up version."""
    folder = tmp_path / "migrations"
    shutil.copytree(schema.MIGRATIONS, folder, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / f"versions/rev_{NEXT}_colours.py").write_text(REVISION)
    return folder


@pytest.fixture
def upgraded(next_version: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """This process becomes the made-up version; the folder of its migrations."""
    monkeypatch.setattr(schema, "HEAD", NEXT)
    monkeypatch.setattr(schema, "MIGRATIONS", next_version)
    return next_version


@pytest.fixture
def store(sql_url: str) -> Iterator[SqlStore]:
    """A store of this version, with an app."""
    opened = open_sql_store(sql_url)
    with opened.transaction() as transaction:
        transaction.put_records(APPS, [app("a")])
    yield opened
    opened.close()


def seen(engine: Engine) -> tuple[str | None, set[str]]:
    """The revision of a store, and the columns of its apps."""
    with engine.connect() as connection:
        columns = {each["name"] for each in inspect(connection).get_columns("apps")}
        return schema.version(connection), columns


def test_a_store_of_an_older_release_is_brought_up_to_date_with_all_that_it_has(
    store: SqlStore, sql_url: str, upgraded: Path
) -> None:
    new = open_store(sql_url, create=False)
    with new.reading() as reader:
        assert reader.records(APPS) == (app("a"),)
        assert reader.cursor("upgraded") is True
    new.close()
    revision, columns = seen(store.engine)
    assert revision == NEXT
    assert "colour" in columns
    with store.engine.connect() as connection:
        assert connection.execute(text("SELECT colour FROM apps")).scalars().all() == ["grey"]


def test_schedules_that_are_there_are_found_by_the_kinds_of_their_constraints(
    sql_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rate, one = RateConstraint(max=2, per=timedelta(hours=1)), ConcurrencyConstraint(max=1)
    trigger = CronTrigger(cron="0 6 * * *")
    constraints = {"a/none": (), "a/one": (one,), "a/both": (rate, one)}
    states = [
        schedule(ref, spec=Schedule(name=ref[2:], program="p", trigger=trigger, constraints=each))
        for ref, each in constraints.items()
    ]
    with monkeypatch.context() as older:
        older.setattr(schema, "HEAD", "0116")
        before = open_sql_store(sql_url)
    names = [name for name in SCHEDULES.names if name != "constraint_kinds"]
    rows = [dict(zip(SCHEDULES.names, SCHEDULES.row(state), strict=True)) for state in states]
    columns, values = ", ".join(names), ", ".join(f":{name}" for name in names)
    with before.engine.begin() as connection:
        connection.execute(text(f"INSERT INTO schedules ({columns}) VALUES ({values})"), rows)
    before.close()

    store = open_store(sql_url, create=False)
    with store.reading() as reader:
        assert reader.constraints((RateConstraint,)) == (("a/both", rate),)
        assert reader.constraints((ConcurrencyConstraint,)) == (("a/both", one), ("a/one", one))
    store.close()


def test_of_two_processes_that_open_it_at_once_one_runs_the_revision(
    store: SqlStore, sql_url: str, next_version: Path
) -> None:
    arguments = [sys.executable, "-c", PROCESS, sql_url, NEXT, str(next_version)]
    both = [
        subprocess.Popen(
            arguments, cwd=PROJECT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        for _ in range(2)
    ]
    for process in both:
        assert process.stdout is not None and process.stdout.readline() == b"ready\n"
    for process in both:
        assert process.stdin is not None
        process.stdin.close()
    said = [(process.wait(timeout=60), process.stderr and process.stderr.read()) for process in both]
    for process in both:
        for stream in (process.stdout, process.stderr):
            assert stream is not None
            stream.close()
    assert said == [(0, b"")] * 2
    assert seen(store.engine)[0] == NEXT


def test_a_revision_that_fails_leaves_the_store_as_it_was(
    store: SqlStore, sql_url: str, upgraded: Path
) -> None:
    file = upgraded / f"versions/rev_{NEXT}_colours.py"
    file.write_text(REVISION.replace("# BROKEN", "raise ZeroDivisionError"))
    before = seen(store.engine)
    with pytest.raises(ZeroDivisionError):
        open_store(sql_url)
    assert seen(store.engine) == before
    with store.reading() as reader:
        assert reader.cursor("upgraded") is None


def test_a_store_that_may_not_be_changed_is_refused(store: SqlStore, sql_url: str, upgraded: Path) -> None:
    before = seen(store.engine)
    with pytest.raises(StoreError, match=f"has the older schema {THIS}") as refused:
        open_store(sql_url, migrate=False)
    assert refused.value.hint == "any command of people migrates it"
    assert seen(store.engine) == before


def test_an_older_version_refuses_a_store_that_a_newer_one_has_upgraded(
    store: SqlStore, sql_url: str, next_version: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as newer:
        newer.setattr(schema, "HEAD", NEXT)
        newer.setattr(schema, "MIGRATIONS", next_version)
        open_store(sql_url).close()
    before = seen(store.engine)
    with pytest.raises(StoreError, match=f"has schema {NEXT}, which a newer tidegate wrote"):
        open_store(sql_url)
    assert seen(store.engine) == before


@pytest.mark.parametrize("found", ["0001", "0043"])
def test_a_store_of_an_unreleased_version_is_refused_with_the_remedy(
    store: SqlStore, sql_url: str, found: str
) -> None:
    with store.engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = :found"), {"found": found})
    before = seen(store.engine)
    for migrate in (True, False):
        with pytest.raises(StoreError, match=f"has schema {found} of an unreleased tidegate") as refused:
            open_store(sql_url, migrate=migrate)
    assert refused.value.message.startswith(f"the store {shown_url(sql_url)} has schema")
    assert refused.value.hint.startswith("export what you need and deploy again: `tidegate store export --to")
    assert seen(store.engine) == before


def test_the_journal_of_an_unreleased_version_can_be_read(store: SqlStore, sql_url: str) -> None:
    with store.engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '0001'"))
        connection.execute(text("DROP TABLE totals"))
        connection.execute(
            text("INSERT INTO journal (at, kind, schedule, data) VALUES (0, 'deploy', 'a/s', :data)"),
            {"data": '{"x":1}'},
        )
    before = seen(store.engine)
    old = open_store(sql_url, create=False, may_be_unreleased=True)
    with old.reading() as reader:
        (row,) = reader.journal_page(first=10)
    old.close()
    assert (row.entry.schedule, row.entry.data) == ("a/s", {"x": 1})
    assert seen(store.engine) == before
