"""A store of the first release is upgraded by the newest version, while processes of the release use it.

The release is the one whose schema is `schema.FIRST`. docs/operating.md lets its runs go on: a writer here
knows the tables as the release had them, and sends what a run of it sends. What it has committed before,
during and after the upgrade is there once, and the rows of jobs are those that the newest version writes.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, Engine, MetaData, func, insert, select, text, update
from sqlalchemy.dialects import postgresql, sqlite

from tests.worlds.samples import NOON, app, event, job
from tidegate.scheduler.model.deployed import APPS
from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.store.open import open_store
from tidegate.scheduler.store.sql import schema, tables
from tidegate.scheduler.store.sql.connection.lock import begin_writing
from tidegate.scheduler.store.sql.open import open_sql_store
from tidegate.scheduler.store.sql.store import SqlStore

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("really_migrated")]

WAITS = text(
    "SELECT count(*) FROM pg_locks JOIN pg_database ON pg_database.oid = database"
    " WHERE NOT granted AND datname = current_database()"
)

WRITERS = 2
BEFORE, AFTER = 5, 5
"""Transactions of each writer before the upgrade begins, and after it has ended."""
PAUSE_SECONDS = 0.01

JOBS = [
    job("waits", key="k"),
    job("queues", key="l", state=JobState.PENDING_CONSTRAINT, closed=True),
    job("decided", state=JobState.PENDING_LAUNCH, attempt=1, decided_at=NOON),
    job("runs", state=JobState.LAUNCHED, attempt=1, run_id="r"),
    job("done", state=JobState.SUCCEEDED, ended_at=NOON),
]
OF_THE_OUTBOX = "launch_rank"
"""Jobs that the release has decided come behind all that are decided later: their place is another one."""


class Release:
    """The store as a process of the release knows it, which it goes on to use after the upgrade."""

    def __init__(self, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
        with monkeypatch.context() as release:
            release.setattr(schema, "HEAD", schema.FIRST)
            self.engine: Engine = open_sql_store(url).engine
        known = MetaData()
        known.reflect(self.engine)
        self.tables = known.tables
        self.written = 0
        self._halt = threading.Event()
        self._progress = threading.Condition()
        self._commits = [0] * WRITERS
        self._failures: list[BaseException] = []

    def fill(self, newest: Engine) -> None:
        """Write what another store has, in the columns of the release."""
        with newest.connect() as there, begin_writing(self.engine) as here:
            for table in (tables.apps, tables.jobs):
                of_release = self.tables[table.name].columns.keys()
                rows = [dict(row) for row in there.execute(select(table)).mappings()]
                here.execute(insert(table), [{name: row[name] for name in of_release} for row in rows])
            jobs = self.tables["jobs"]
            # The release had no outbox.
            outbox = update(jobs).where(jobs.c.queue == "outbox").values(queue=None, launch_rank=None)
            here.execute(outbox)
            here.commit()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Let the writers work while a block runs, which begins when all of them have begun."""
        threads = [threading.Thread(target=self._write, args=(number,)) for number in range(WRITERS)]
        threads.append(threading.Thread(target=self._read))
        for thread in threads:
            thread.start()
        try:
            self.wait_for(BEFORE)
            yield
            self.wait_for(AFTER)
        finally:
            self._halt.set()
            for thread in threads:
                thread.join()
        assert self._failures == []

    def wait_for(self, commits: int) -> None:
        """Wait until each writer has committed so many times from now on."""
        with self._progress:
            wanted = [number + commits for number in self._commits]
            self._progress.wait_for(
                lambda: (
                    self._failures
                    or all(done >= least for done, least in zip(self._commits, wanted, strict=True))
                )
            )

    def _write(self, writer: int) -> None:
        try:
            for number in count():
                # SQLite has no queue of writers: one that never pauses keeps all others out.
                if self._halt.wait(PAUSE_SECONDS):
                    return
                with begin_writing(self.engine) as connection:
                    self._run(connection, f"{writer}-{number}")
                    connection.commit()
                with self._progress:
                    self._commits[writer] += 1
                    self.written += 1
                    self._progress.notify_all()
        except BaseException as failure:  # noqa: BLE001 -- of a thread; the test raises it
            with self._progress:
                self._failures.append(failure)
                self._progress.notify_all()

    def _read(self) -> None:
        """Read as lists do: several tables in one transaction, beside writers."""
        try:
            while not self._halt.wait(PAUSE_SECONDS):
                with self.engine.connect() as connection:
                    for name in ("events", "jobs", "apps"):
                        connection.execute(select(func.count()).select_from(self.tables[name]))
                        time.sleep(PAUSE_SECONDS)
        except BaseException as failure:  # noqa: BLE001 -- of a thread; the test raises it
            self._failures.append(failure)

    def _run(self, connection: Connection, run: str) -> None:
        """What a run of the release writes: its claim, its attempt, its event, and the job that it is of."""
        tokens, jobs = self.tables["commit_tokens"], self.tables["jobs"]
        dialect: Any = postgresql if connection.dialect.name == "postgresql" else sqlite
        connection.execute(dialect.insert(tokens).values(id=1, value=0).on_conflict_do_nothing())
        given = connection.execute(update(tokens).values(value=tokens.c.value + 1).returning(tokens.c.value))
        token = given.scalar_one()
        claim = {"job": "runs", "attempt": token, "run_id": run, "at": 0}
        connection.execute(insert(self.tables["claims"]).values(**claim))
        attempt = {"token": token, "commit_id": run, "datasets": "[]", "until": 0}
        connection.execute(insert(self.tables["commit_attempts"]).values(**attempt))
        connection.execute(insert(self.tables["events"]).values(**self._event(run)))
        row = dict(connection.execute(select(jobs).where(jobs.c.id == "runs")).mappings().one())
        row["detail"] = run
        upsert = dialect.insert(jobs).values(**row)
        connection.execute(upsert.on_conflict_do_update(index_elements=["id"], set_=dict(upsert.excluded)))

    def _event(self, run: str) -> dict[str, Any]:
        given = {"id": run, "kind": "partition", "key": "partition:a/d", "partition": run, "run_id": run}
        needed = {column.name: 0 for column in self.tables["events"].columns if not column.nullable}
        return {**needed, "own_job": False, "expired": False, "detail": "", **given}


@pytest.fixture
def newest(tmp_path: Path) -> Iterator[SqlStore]:
    """A store that the newest version has written alone."""
    with closing(open_sql_store(f"sqlite:///{tmp_path}/newest.db")) as store:
        with store.transaction() as transaction:
            transaction.put_records(APPS, [app("a")])
            transaction.put_jobs(JOBS)
        yield store


def rows(engine: Engine, *but: str) -> dict[str, dict[str, Any]]:
    """The rows of all jobs by their ids, without some columns."""
    with engine.connect() as connection:
        found = connection.execute(select(tables.jobs)).mappings()
        return {row["id"]: {name: row[name] for name in row if name not in but} for row in found}


def test_runs_of_the_release_write_while_two_processes_upgrade_its_store(
    sql_url: str, newest: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = Release(sql_url, monkeypatch)
    release.fill(newest.engine)
    opened: list[Any] = []
    with release.writing():
        other = threading.Thread(target=lambda: opened.append(open_store(sql_url, create=False)))
        other.start()
        opened.append(open_store(sql_url, create=False))
        other.join()
        assert len(opened) == 2
        # The newest version writes beside the runs that go on.
        with opened[0].transaction() as transaction:
            assert len(transaction.add_events([event("new")])) == 1
    release.engine.dispose()

    with opened[0].reading() as reader:
        assert reader.records(APPS) == (app("a"),)
        found = {each.id: each for each in reader.jobs()}
    but = (OF_THE_OUTBOX, "detail")
    assert rows(opened[0].engine, *but) == rows(newest.engine, *but)
    assert found["waits"] == JOBS[0]
    with opened[0].engine.connect() as connection:
        assert schema.version(connection) == schema.HEAD != schema.FIRST
        events = connection.execute(select(func.count()).select_from(tables.events)).scalar_one()
        claims = connection.execute(select(func.count()).select_from(tables.claims)).scalar_one()
        tokens = connection.execute(select(release.tables["commit_tokens"].c.value)).scalar_one()
    assert (events - 1, claims, tokens) == (release.written,) * 3
    assert release.written >= WRITERS * (BEFORE + AFTER)
    for store in opened:
        store.close()


@pytest.mark.store
def test_a_reader_of_postgresql_in_the_middle_of_its_tables_is_waited_for_and_nothing_is_a_deadlock(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = Release(postgres_url, monkeypatch)
    upgraded: list[Any] = []
    upgrade = threading.Thread(target=lambda: upgraded.append(open_store(postgres_url, create=False)))
    with release.engine.connect() as reader, release.engine.connect() as watch:
        # A revision changes `jobs` before `events`.
        reader.execute(select(release.tables["events"]))
        upgrade.start()
        while not watch.execute(WAITS).scalar():
            assert upgrade.is_alive()
            watch.rollback()
        reader.execute(select(release.tables["jobs"]))
    upgrade.join()
    [store] = upgraded
    with store.engine.connect() as connection:
        assert schema.version(connection) == schema.HEAD
    store.close()
    release.engine.dispose()
