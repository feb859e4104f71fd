"""`tidegate store`: the size of the store, what retention removes, and the journal as a file."""

import json
import sqlite3
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.tidegate.project import Project
from tidegate.scheduler.model.event import Delivery, Event, EventKind, partition_event_key

pytestmark = pytest.mark.slow  # whole commands

LONG_AGO = timedelta(days=200)


@pytest.fixture
def used(project: Project) -> Project:
    """A deployed project with a waiting job, whose store has an old event that nothing needs."""
    project.run("deploy")
    old = datetime.now(UTC) - LONG_AGO
    store = project.store()
    with store.transaction() as transaction:
        transaction.add_events(
            [
                Event(
                    id="old",
                    kind=EventKind.PARTITION,
                    key=partition_event_key("sales", "orders"),
                    time=old,
                    arrived=old,
                    partition="2026-03-09",
                )
            ]
        )
    store.close()
    project.arrive("2026-03-09")
    return project


def test_size_shows_every_table_and_what_retention_would_remove(used: Project) -> None:
    sizes = used.json("store", "size")
    tables = {line["table"]: line for line in sizes["tables"]}

    assert tables["events"]["rows"] == 2
    assert tables["events"]["prunable"] == 1
    assert tables["journal"]["oldest"] is not None
    assert sizes["bytes"] > sum(line["rows"] for line in sizes["tables"])
    assert sizes["journal_pruned_until"] is None
    text = used.run("store", "size", "--all")
    assert "launches" in text
    assert "in all" in text


def test_prune_removes_it_once_and_the_ledger_stays_the_same(used: Project) -> None:
    before = used.json("ledger")

    assert "would be removed: 1 events" in used.run("store", "prune", "--dry-run")
    assert "removed: 1 events" in used.run("store", "prune")
    assert "nothing is old enough" in used.run("store", "prune")
    assert used.json("store", "prune")["events"] == 0
    assert used.json("ledger") == before


def test_export_writes_the_journal_as_json_lines_and_as_parquet(used: Project, tmp_path: Path) -> None:
    lines, table = tmp_path / "journal.jsonl", tmp_path / "journal.parquet"

    used.run("store", "export", "--to", str(lines))
    used.run("store", "export", "--to", str(table), "--format", "parquet")

    rows = [json.loads(line) for line in lines.read_text().splitlines()]
    assert [row["number"] for row in rows] == sorted(row["number"] for row in rows)
    assert {"deploy", "job-opened"} <= {row["kind"] for row in rows}
    parquet = pq.read_table(table).to_pylist()
    assert [(row["kind"], json.loads(row["data"])) for row in parquet] == [
        (row["kind"], row["data"]) for row in rows
    ]
    assert sorted(path.name for path in tmp_path.glob("*journal*")) == ["journal.jsonl", "journal.parquet"]


def test_export_takes_a_span_of_time(used: Project, tmp_path: Path) -> None:
    assert "0 entries" in used.run("store", "export", "--to", "a.jsonl", "--since", "2999-01-01T00:00:00Z")
    assert "0 entries" in used.run("store", "export", "--to", "b.jsonl", "--until", "2000-01-01T00:00:00Z")


def test_a_store_of_an_unreleased_version_is_refused_and_only_its_journal_can_be_exported(
    used: Project, tmp_path: Path
) -> None:
    with sqlite3.connect(used.folder / ".tidegate/store.db") as connection:
        connection.execute("UPDATE alembic_version SET version_num = '0043'")
        connection.execute("DROP TABLE totals")

    for command in (["jobs", "list"], ["plan"], ["deploy"]):
        refused = used.refused(*command)
        assert "store.db has schema 0043 of an unreleased tidegate" in refused.message
        assert "export what you need and deploy again" in refused.hint

    used.run("store", "export", "--to", str(tmp_path / "journal.jsonl"))
    kinds = {json.loads(line)["kind"] for line in (tmp_path / "journal.jsonl").read_text().splitlines()}
    assert {"deploy", "job-opened"} <= kinds
    with sqlite3.connect(used.folder / ".tidegate/store.db") as connection:
        assert connection.execute("SELECT version_num FROM alembic_version").fetchone() == ("0043",)


def test_a_wrong_export_says_what_to_write(used: Project, tmp_path: Path) -> None:
    (tmp_path / "there").write_text("x")

    assert "exists" in used.refused("store", "export", "--to", "there").message
    assert "have a zone" in used.refused("store", "export", "--to", "f", "--since", "2026-03-10").message
    assert "cannot be written" in used.refused("store", "export", "--to", "none/f").message


def test_an_event_is_kept_longer_than_the_job_that_received_it(used: Project) -> None:
    store = used.store()
    with store.transaction() as transaction:
        (event,) = transaction.events(ids=["old"])
        delivery = Delivery(event=event, schedule="sales/s", leaf="0", job="pruned", at=event.arrived)
        transaction.add_deliveries([delivery])
    store.close()

    (listed,) = [each for each in used.json("events", "list") if each["id"] == "old"]

    assert ("pruned", "PRUNED", None) in [
        (each["job"], each["state"], each["reason"]) for each in listed["deliveries"]
    ]
