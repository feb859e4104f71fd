"""A store that an older version wrote is brought up to date with all that it holds, and goes on."""

from collections.abc import Callable, Generator

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, text

from tests.worlds.by import CLI
from tests.worlds.samples import at, event, job, operation_job, operation_run, record, table
from tidegate.compiler.plan.ownership import Scope
from tidegate.domain.model import CronTrigger, Schedule
from tidegate.scheduler.commands.deployment.deploy import deploy
from tidegate.scheduler.commands.deployment.deployments import change_of, rollback
from tidegate.scheduler.commands.deployment.schedules import delete_schedules
from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.model.journal import By
from tidegate.scheduler.model.refused import Refused
from tidegate.scheduler.model.run import ALL_RUNS
from tidegate.scheduler.store.commits.steps import SqlCommitStepStore
from tidegate.scheduler.store.parts.event_pages import EventsWanted, Outcome
from tidegate.scheduler.store.parts.pages import SchedulesWanted
from tidegate.scheduler.store.protocol import Store
from tidegate.scheduler.store.sql.columns import microseconds
from tidegate.scheduler.store.sql.metadata import metadata
from tidegate.scheduler.store.sql.open import open_sql_store
from tidegate.scheduler.store.sql.schema import HEAD, MIGRATIONS
from tidegate.scheduler.store.sql.store import SqlStore

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("really_migrated")]

NOON_MICROSECONDS = 1_773_144_000_000_000
MINUTE_MICROSECONDS = 60_000_000

CHECKSUM_OF_C7 = "e19b6ade57d46e97a891381c7cd31418cdd655a22a10479b409349f664035404"
OLD_SCHEDULE = '{"name":"s","program":"p","trigger":{"kind":"cron","cron":"0 6 * * *"}}'
OLD_PLAN = '{"program":"p","manifest":{"d":["k"]},"args":{"x":1}}'


def insert(connection: Connection, table: str, **values: object) -> None:
    """Write a row as the older version did: only its own columns."""
    names = ", ".join(values)
    places = ", ".join(f":{name}" for name in values)
    connection.execute(text(f"INSERT INTO {table} ({names}) VALUES ({places})"), values)


def old_job(connection: Connection, id: str, state: JobState, **values: object) -> None:
    """A job of schedule a/s, opened at noon."""
    given = {"app": "a", "schedule": "a/s", "key": "", "fingerprint": "f", "state": state.value}
    rest = {"priority": "normal", "opened_at": NOON_MICROSECONDS, "attempt": 1, "offers": 0, "detail": ""}
    insert(connection, "jobs", id=id, **{**given, **rest, "resources": "[]", **values})


def write_0001(connection: Connection) -> None:
    """A schedule, an event, a waiting job, two jobs with launches, and a run that a person started."""
    noon, minute = NOON_MICROSECONDS, MINUTE_MICROSECONDS
    insert(
        connection,
        "schedules",
        **{"ref": "a/s", "app": "a", "spec": OLD_SCHEDULE, "fingerprint": "f", "status": "active"},
        **{"changed_by": "deploy", "deployed_at": noon},
    )
    insert(
        connection,
        "events",
        **{"id": "e", "kind": "partition", "key": "partition:a/d", "time": noon, "arrived": noon},
        **{"own_job": False, "expired": False, "detail": ""},
    )
    insert(connection, "deliveries", job="waits", event="e", schedule="a/s", leaf="", at=noon + minute)
    old_job(connection, "waits", JobState.PENDING_TRIGGER)
    old_job(connection, "runs", JobState.LAUNCHED, launch=OLD_PLAN, decided_at=noon + minute)
    old_job(connection, "offered", JobState.PENDING_LAUNCH, launch=OLD_PLAN, decided_at=noon + 2 * minute)
    # The checksum that version 0001 wrote, as it is in stores that are in use.
    insert(
        connection,
        "commit_sequences",
        **{"id": "c7", "token": 7, "datasets": '["a/d"]', "body": "steps"},
        checksum=CHECKSUM_OF_C7,
    )
    insert(connection, "commit_datasets", dataset="a/d", sequence="c7")
    insert(connection, "commit_tokens", id=1, value=7)
    run = {"status": "started", "seen_at": noon + 5 * minute}
    insert(connection, "runs", run_id="r", program="a/p", job="runs", attempt=1, **run)
    insert(connection, "runs", run_id="m", program="a/p", started_at=noon + 3 * minute, **run)
    for holder in ("runs", "offered", "m"):
        insert(connection, "slots", resource="program:a/p", holder=holder)
    insert(connection, "slots", resource="group:g", holder="runs")


@pytest.fixture
def upgraded(sql_url: str) -> Generator[Store, None, None]:
    """A store that was made and filled at revision 0001, and is opened by this version."""
    make_old(sql_url, "0001", write_0001)
    opened = open_sql_store(sql_url)
    yield opened
    opened.close()


def make_old(url: str, revision: str, write: Callable[[Connection], None]) -> None:
    """Make a store of an older revision, and fill it."""
    new = open_sql_store(url)
    with new.engine.begin() as connection:
        connection.execute(text("DROP TABLE alembic_version"))
        for table in drop_order():
            connection.execute(text(f"DROP TABLE {table}"))
    with new.engine.begin() as connection:
        config = Config()
        config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
        config.attributes["connection"] = connection
        command.upgrade(config, revision)
        write(connection)
    new.close()


def drop_order() -> list[str]:
    """Every table, those that refer to others first."""
    return [table.name for table in reversed(metadata.sorted_tables)]


def test_everything_is_there_and_has_the_meaning_it_had(upgraded: SqlStore) -> None:
    with upgraded.engine.connect() as connection:
        assert connection.execute(text("SELECT version_num FROM alembic_version")).scalar() == HEAD
    with upgraded.reading() as reader:
        (schedule,) = reader.schedules()
        assert schedule.spec == Schedule(name="s", program="p", trigger=CronTrigger(cron="0 6 * * *"))
        assert schedule.clocks == {}
        assert reader.schedules_page(SchedulesWanted(app="a", program="p", kind="cron"), 9) == (schedule,)
        assert reader.events() == (event("e"),)
        assert reader.jobs(ids=["waits"]) == (job("waits", fingerprint="f"),)
        (runs,) = reader.jobs(ids=["runs"])
        assert runs.launch is not None
        assert runs.launch.upstream == ()
        assert runs.launch.manifest == {"d": ("k",)}
        assert reader.gauges() == ()


def test_what_runs_counts_as_launched_and_holds_a_slot_of_all_runs(upgraded: SqlStore) -> None:
    with upgraded.reading() as reader:
        assert reader.launches(["a/p"], at(0)) == {"a/p": (at(1), at(2), at(3))}
        assert reader.slots([ALL_RUNS, "group:g"]) == {ALL_RUNS: 3, "group:g": 1}
    with upgraded.transaction() as transaction:
        assert transaction.release_slots("runs") == ("group:g", "program:a/p", ALL_RUNS)
        transaction.remove_launch("offered")
        assert transaction.launches(["a/p"], at(0)) == {"a/p": (at(1), at(3))}


def test_events_of_a_schedule_are_listed_by_their_arrival(upgraded: SqlStore) -> None:
    with upgraded.reading() as reader:
        pending = EventsWanted(schedule="a/s", outcome=Outcome.PENDING)
        for wanted in (pending, EventsWanted(schedule="a/s", since=at(0), until=at(1))):
            assert [each.id for each in reader.events_page(wanted, 2)] == ["e"]
        assert reader.events_page(EventsWanted(schedule="a/s", since=at(1)), 2) == ()


def test_it_can_be_written_to_like_a_new_one(upgraded: SqlStore) -> None:
    with upgraded.transaction() as transaction:
        (waits,) = transaction.jobs(ids=["waits"])
        transaction.put_jobs([waits])
        (state,) = transaction.schedules()
        transaction.put_schedules([state])
        assert transaction.jobs(ids=["waits"]) == (waits,)
        assert transaction.schedules() == (state,)


def test_a_publish_that_the_older_version_left_can_be_finished(upgraded: SqlStore) -> None:
    store = SqlCommitStepStore(upgraded.engine)
    assert store.list_unfinished("a/d") == ("c7",)
    assert store.get("c7") == "steps"
    state = store.take("c7", "me", now=at(0), until=at(2))
    assert state is not None and (state.owner, state.failures) == ("me", 0)
    assert store.begin("c8", ["a/d"], until=at(2)) == 8
    store.remove("c7", "done")
    assert store.result("c7") == "done"


def write_0003(connection: Connection) -> None:
    """Two apps, as the version without owners wrote them."""
    for name in ("kept", "left"):
        spec = f'{{"name":"{name}","programs":{{"p":{{"name":"p","run":"m.p"}}}}}}'
        insert(connection, "apps", name=name, spec=spec, revision=3, deployed_at=NOON_MICROSECONDS)


def test_apps_without_an_owner_are_adopted_by_the_project_that_deploys_them(sql_url: str) -> None:
    make_old(sql_url, "0003", write_0003)
    store = open_sql_store(sql_url)
    with store.reading() as reader:
        apps = reader.apps()
    assert [(app.name, app.revision, app.project) for app in apps] == [("kept", 3, ""), ("left", 3, "")]
    with store.transaction() as transaction:
        scope = Scope(project="shop")
        changes = deploy(transaction, {"kept": apps[0].app}, at(0), scope=scope, by=CLI)
    assert (changes.adopted, changes.empty) == (("kept",), True)
    with store.reading() as reader:
        assert {app.name: app.project for app in reader.apps()} == {"kept": "shop", "left": ""}
    store.close()


def write_0010(connection: Connection) -> None:
    """A job, and events of a dataset, as the version without maintenance wrote them."""
    old_job(connection, "waits", JobState.PENDING_TRIGGER, retried=2)
    arrived = {"kind": "partition", "key": "partition:a/d", "time": NOON_MICROSECONDS}
    for id, partition in (("e", "k2"), ("f", "k1"), ("g", "k2")):
        insert(
            connection,
            "events",
            **{"id": id, "partition": partition, "arrived": NOON_MICROSECONDS, **arrived},
            **{"own_job": False, "expired": False, "detail": ""},
        )


def test_an_older_store_knows_of_no_tables_and_takes_them(sql_url: str) -> None:
    make_old(sql_url, "0010", write_0010)
    store = open_sql_store(sql_url)
    with store.transaction() as transaction:
        assert transaction.jobs() == (job("waits", fingerprint="f", retried=2),)
        assert (transaction.tables(), transaction.records(), transaction.operation_runs()) == ((), (), ())
        assert transaction.next_maintenance() is None
        assert transaction.keys_written("a/d") == ("k1", "k2")
        transaction.put_tables([table("a/d")])
        transaction.put_records([record(next_look=at(1))])
        transaction.put_operation_runs([operation_run("j")])
        transaction.put_jobs([operation_job("j")])
    with store.reading() as reader:
        assert reader.tables() == (table("a/d"),)
        assert reader.due_records(at(1), 9) == (record(next_look=at(1)),)
        assert reader.operation_runs(running=True) == (operation_run("j"),)
        assert reader.jobs(ids=["j"]) == (operation_job("j"),)
    store.close()


OLD_TASK = '{"name":"t","program":"p","trigger":{"kind":"task","cycle":"day"}}'


def write_0010_tasks(connection: Connection) -> None:
    """A schedule and two tasks, one of them disabled, as the version with one kind of due rows wrote them."""
    rows = (("a/s", OLD_SCHEDULE, at(1)), ("a/t", OLD_TASK, at(2)), ("a/off", OLD_TASK, None))
    for ref, spec, due in rows:
        number = None if due is None else microseconds(due)
        given = {"ref": ref, "app": "a", "spec": spec, "fingerprint": "f", "status": "active"}
        insert(
            connection,
            "schedules",
            **{**given, "changed_by": "deploy", "deployed_at": NOON_MICROSECONDS},
            **{"next_fire_at": number, "due_at": number},
        )


def test_tasks_of_an_older_store_are_due_as_tasks(sql_url: str) -> None:
    make_old(sql_url, "0010", write_0010_tasks)
    store = open_sql_store(sql_url)
    with store.reading() as reader:
        assert [state.ref for state in reader.due_schedules(at(5), 10)] == ["a/s"]
        assert [state.ref for state in reader.due_tasks(at(5), 10)] == ["a/t"]
        assert not reader.due_tasks(at(1), 10)
    store.close()


APP = '{"name":"a","datasets":{},"programs":{"p":{"name":"p","run":"programs.p"}}}'


def write_0024(connection: Connection) -> None:
    """An app with a schedule, which deployment 2 has left."""
    insert(connection, "apps", name="a", spec=APP, revision=2, deployed_at=NOON_MICROSECONDS, project="shop")
    given = {"ref": "a/s", "app": "a", "spec": OLD_SCHEDULE, "fingerprint": "f", "status": "active"}
    insert(connection, "schedules", **given, changed_by="deploy", deployed_at=NOON_MICROSECONDS)
    data = '{"update_schedules":true,"force":false,"apps":{"a":{"action":"create"}}}'
    for _ in range(2):
        insert(connection, "journal", at=NOON_MICROSECONDS, kind="deploy", data=data)


def test_the_last_deployment_of_an_older_store_can_be_rolled_back_to(sql_url: str) -> None:
    make_old(sql_url, "0024", write_0024)
    store = open_sql_store(sql_url)
    by, scope = By(actor="cli", reason="x"), Scope(project="shop")
    with store.transaction() as transaction:
        assert transaction.first_kept() == 2
        assert [each.namespace for each in transaction.apps()] == ["default"]
        assert change_of(transaction, 2) is None
        with pytest.raises(Refused, match="deployment 1 is not kept"):
            rollback(transaction, 1, scope, at(1), by)
        with pytest.raises(Refused, match="nothing differs"):
            rollback(transaction, 2, scope, at(1), by)
    with store.transaction() as transaction:
        delete_schedules(transaction, ["a/s"], at(2), by=CLI)
        rollback(transaction, 2, scope, at(3), by)
        (found,) = transaction.schedules()
        assert found.spec.program == "p"
    store.close()


def write_0030(connection: Connection) -> None:
    """Late jobs of a schedule: one waits, one has succeeded; and one that is not late."""
    noon = NOON_MICROSECONDS
    old_job(connection, "waits", JobState.PENDING_TRIGGER, late_at=noon)
    old_job(connection, "ended", JobState.SUCCEEDED, late_at=noon, ended_at=noon + MINUTE_MICROSECONDS)
    old_job(connection, "in_time", JobState.PENDING_TRIGGER)


def test_late_jobs_of_an_older_store_are_counted(sql_url: str) -> None:
    make_old(sql_url, "0030", write_0030)
    store = open_sql_store(sql_url)
    with store.reading() as reader:
        assert reader.late_jobs() == {"a/s": 1}
        assert [(each.kind, each.name, each.number) for each in reader.late_totals()] == [
            ("schedule", "a/s", 2)
        ]
        assert reader.next_due_data() is None
    store.close()
