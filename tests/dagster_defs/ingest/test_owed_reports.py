"""Reports that the engine has accepted reach Dagster's log, also after a crash, and count once."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from dagster import (
    AssetKey,
    AssetMaterialization,
    AssetRecordsFilter,
    DagsterInstance,
    EventLogEntry,
    EventLogRecord,
    deserialize_value,
)

from tests.crashes.statements import dying_before
from tests.dagster_defs.sample import sample_app, sample_store
from tests.worlds.samples import NOON
from tidegate.dagster_defs.coordinator.event_rows import EventRows, writes_events_together
from tidegate.dagster_defs.coordinator.run_rows import Noting
from tidegate.dagster_defs.deployed.asset_plan import AssetPlan
from tidegate.dagster_defs.deployed.plan_state import LoadedApp, Plan
from tidegate.dagster_defs.ingest import intake, owed_reports
from tidegate.dagster_defs.ingest.intake import ingest
from tidegate.dagster_defs.ingest.owed_reports import send_owed_reports
from tidegate.dagster_defs.ingest.report_rows import MARKED, ReportRows, materialisation
from tidegate.scheduler.intake.report_partitions import Landed, report_partitions
from tidegate.scheduler.model.journal import By
from tidegate.scheduler.model.records.partitions_report import PartitionsReport, ReportedPartition

pytestmark = pytest.mark.dagster

KEYS = tuple(f"2023-03-09|{origin}" for origin in ("EWR", "JFK", "LGA"))


class Engine:
    """A store whose reports go to a log, from which they are read again."""

    def __init__(self, instance: DagsterInstance) -> None:
        self.instance, self.store = instance, sample_store()
        self.now = datetime.now(UTC) + timedelta(minutes=1)
        self.plan = AssetPlan(Plan(apps=(LoadedApp(app=sample_app(), revision=1),)))
        self.said: list[str] = []
        self.written = set[str]()

    def accept(self, request: str = "r1") -> None:
        landed = [Landed(key=key, rows=number, bytes=10) for number, key in enumerate(KEYS)]
        with self.store.transaction() as transaction:
            report_partitions(transaction, "", "flights", "raw", landed, self.now, By(actor="rest"), request)

    def rows(self) -> list[dict[str, Any]]:
        """What the tables have of the events and of the asset, without ids and times."""
        storage: Any = self.instance.event_log_storage
        with getattr(storage, "event_log_storage", storage).index_connection() as connection:
            events = connection.execute(sa.text("SELECT * FROM event_logs ORDER BY id")).mappings().all()
            assets = connection.execute(sa.text("SELECT * FROM asset_keys")).mappings().all()
        last = deserialize_value(assets[0]["last_materialization"], EventLogRecord)
        assert last.storage_id == events[-1]["id"]
        assert last.event_log_entry == deserialize_value(events[-1]["event"], EventLogEntry)
        varying = {
            "id",
            "timestamp",
            "last_materialization",
            "last_materialization_timestamp",
            "create_timestamp",
        }
        times = varying - {"id", "last_materialization"}
        assert all(row[name] for row in (*events, *assets) for name in times & row.keys())
        return [
            {
                name: {**json.loads(value), "timestamp": ""} if name == "event" else value
                for name, value in row.items()
                if name not in varying
            }
            for row in (*events, *assets)
        ]

    def send(self) -> int:
        return send_owed_reports(self.instance, self.store, "", written=self.written)

    def logged(self) -> list[AssetMaterialization]:
        """What the log has of the dataset, in order."""
        wanted = AssetRecordsFilter(asset_key=AssetKey(["flights", "raw"]))
        records = self.instance.fetch_materializations(wanted, limit=99, ascending=True).records
        return [each.asset_materialization for each in records if each.asset_materialization is not None]

    def keys(self) -> list[str | None]:
        return [each.partition for each in self.logged()]

    def read_again(self, written: set[str]) -> None:
        ingest(self.instance, self.store, self.plan, self.now, self.said.append, written=written)

    def counted_once(self) -> None:
        """The events that come back from the log are those that the store has."""
        self.read_again(set())
        with self.store.reading() as reader:
            assert sorted(event.partition or "" for event in reader.events()) == list(KEYS)
            assert [row.landed for row in reader.ledger()] == [3]
        assert self.said == []


@pytest.fixture
def engine(instance: DagsterInstance) -> Engine:
    return Engine(instance)


def test_a_report_reaches_the_log_and_counts_once(engine: Engine) -> None:
    engine.accept()

    assert engine.send() == 3
    assert engine.keys() == list(KEYS)
    metadata = {name: each.value for name, each in engine.logged()[1].metadata.items()}
    assert (metadata["rows"], metadata["bytes"], metadata["at"]) == (1, 10, engine.now.isoformat())
    assert engine.logged()[1].description == "reported by rest"
    engine.counted_once()
    assert engine.send() == 0
    assert len(engine.keys()) == 3


def test_a_crash_before_the_progress_is_stored_writes_again_and_counts_once(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.accept()
    with monkeypatch.context() as patched:
        patched.setattr(owed_reports, "_note_sent", _killed)
        with pytest.raises(KeyboardInterrupt):
            engine.send()
    assert len(engine.keys()) == 3

    engine.send()

    assert len(engine.keys()) == 6
    engine.counted_once()


def test_what_the_log_refused_is_written_later(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    engine.accept()
    with monkeypatch.context() as patched:
        patched.setattr(engine.instance, "report_runless_asset_event", _killed)
        with pytest.raises(KeyboardInterrupt):
            engine.send()
    assert engine.keys() == []

    engine.send()

    assert engine.keys() == list(KEYS)
    engine.counted_once()


def test_a_long_report_is_written_some_at_a_time(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(owed_reports, "SENT_PER_ROUND", 2)
    engine.accept()

    assert [engine.send(), engine.send(), engine.send()] == [2, 1, 0]
    assert engine.keys() == list(KEYS)
    engine.counted_once()


def test_a_process_does_not_read_what_it_has_written_and_reads_all_else(
    disk_instance: DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, read = Engine(disk_instance), list[int]()
    entry_of = intake.entry_of
    monkeypatch.setattr(intake, "entry_of", lambda row: (read.append(row.id), entry_of(row))[1])
    engine.accept()
    engine.send()
    of_others = AssetMaterialization(AssetKey(["flights", "raw"]), partition="2023-03-10|JFK")
    disk_instance.report_runless_asset_event(of_others)

    engine.read_again(engine.written)

    together = writes_events_together(disk_instance)
    assert read == ([4] if together else [1, 2, 3, 4])
    assert engine.written == set()
    with engine.store.reading() as reader:
        assert {event.partition for event in reader.events()} == {*KEYS, "2023-03-10|JFK"}

    engine.read_again(engine.written)
    assert len(read) == (1 if together else 4), "the position is behind them"


def test_reports_of_other_projects_are_left_to_them(engine: Engine) -> None:
    engine.accept()

    assert send_owed_reports(engine.instance, engine.store, "other") == 0
    assert engine.keys() == []


def test_the_rows_of_a_round_are_those_that_dagster_writes_one_by_one(
    disk_instance: DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the asset is new, and where it is known."""
    engine = Engine(disk_instance)
    engine.accept()
    with monkeypatch.context() as patched:
        patched.setattr(owed_reports, "_note_sent", lambda *_: None)
        assert engine.send() == 3
        new = engine.rows()
        with monkeypatch.context() as singly:
            singly.setattr(owed_reports, "writes_events_together", lambda *_: False)
            assert engine.send() == 3
        assert engine.rows() == [*new[:3], *new]
        assert engine.send() == 3
    assert engine.rows() == [*new[:3], *new[:3], *new]
    assert engine.send() == 3
    engine.counted_once()


def test_a_round_takes_as_many_statements_whatever_it_writes(disk_instance: DagsterInstance) -> None:
    """Not with Dagster's own files, one for each run, into which it writes event by event."""
    engine, counts = Engine(disk_instance), list[int]()
    for reports in (1, 1, 4):
        for number in range(reports):
            engine.accept(f"{len(counts)} {number}")
        with dying_before(sa.Engine, 0) as passed:
            assert engine.send() == 3 * reports
        counts.append(len(passed))
    assert (counts[1] == counts[2]) is writes_events_together(disk_instance)


def _killed(*_: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    "detail", ['reported by "é\\n": \\', f"of {MARKED.key} and {MARKED.rows}", MARKED.event]
)
def test_rows_that_are_made_from_one_are_those_of_dagster(instance: DagsterInstance, detail: str) -> None:
    """Whatever values are known, and also where a text looks like a mark."""
    sizes = ((1, 2), (0, 2**63 - 1), (None, 3), (None, 4), (None, 5), (6, None), (None, None))
    keys = ["2023-03-09|JFK", 'a"b', "é\\", "\n", "", "", f"x{MARKED.key}"]
    parts = [
        ReportedPartition(event=f"report:r:{number}", key=key, rows=rows, bytes=bytes_, at=NOON)
        for number, (key, (rows, bytes_)) in enumerate(zip(keys, sizes, strict=True))
    ]
    report = PartitionsReport(
        id="r", project="", dataset="a/d", asked="", detail=detail, partitions=(), at=NOON, owed_since=NOON
    )
    key, events = AssetKey(["a", "d"]), EventRows(instance)

    made = ReportRows(instance, events)
    made.add(key, report, parts)

    noting = Noting(instance, json.loads(made.rows[0]["event"])["timestamp"])
    for part in parts:
        noting.report_runless_asset_event(materialisation(key, report, part))
    assert made.rows == [events.row(entry) for entry in noting.entries]
    assert made.last == {key: (len(parts) - 1, noting.entries[-1])}


def test_dagster_makes_few_of_the_rows_of_a_report(
    disk_instance: DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, counts = Engine(disk_instance), list[int]()
    row = EventRows.row
    monkeypatch.setattr(EventRows, "row", lambda self, entry: (counts.append(1), row(self, entry))[1])
    engine.accept()
    engine.send()
    assert len(counts) == (2 if writes_events_together(disk_instance) else 0) < len(KEYS)
