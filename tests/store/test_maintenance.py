"""Every store keeps what is known of maintenance: tables, when operations are due, and their runs."""

from typing import Any

import pytest

from tests.doubles.reference.store import ReferenceStore
from tests.worlds.samples import (
    NOON,
    at,
    ended,
    event,
    job,
    operation_job,
    operation_run,
    record,
    table,
)
from tidegate.domain.model import Operation
from tidegate.scheduler.model.job import WRITING, JobState
from tidegate.scheduler.model.maintenance import (
    MAINTAINED_TABLES,
    MAINTENANCE_RECORDS,
    Ending,
    Health,
    OperationHistory,
    OperationRun,
    TableHistory,
    TableState,
    Work,
)
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.store.protocol import Store

EXPIRE, REWRITE = Operation.EXPIRE_SNAPSHOTS, Operation.REWRITE_DATA_FILES
ORPHANS, MANIFESTS = Operation.REMOVE_ORPHAN_FILES, Operation.REWRITE_MANIFESTS

RICH_TABLE = TableState(
    name="a/d",
    catalog_name="warehouse.sales.d",
    dataset="a/d",
    health_policy="a/nightly",
    gone=True,
    health=Health(
        measured_at=at(1.000001),
        values={"small_file_percent": 60.5, "files": 10, "total_size": 2.0**53},
        failure="ü: no such file",
        note="at most 5 % off",
    ),
    wanted_at=at(2),
    history=TableHistory(
        recent=(True, False),
        failures=2,
        operations={
            REWRITE: OperationHistory(
                failures=3, failed_start=at(3), zero_changes=4, zero_start=at(4), succeeded_at=at(5)
            ),
            EXPIRE: OperationHistory(),
        },
    ),
)
RICH_RUN = OperationRun(
    job="j",
    table="a/d",
    operation=REWRITE,
    policy="a/nightly",
    by_hand=True,
    probe=True,
    forced=True,
    excluded=("2026-03-09", ""),
    started_at=at(1),
    closes_at=at(241),
    ended_at=at(2),
    ending=Ending.STOPPED,
    changed=True,
    bytes=2**62,
    before={"files": 10.5},
    after={"files": 1e300},
    results={"kept": [{"snapshot": 2**53, "why": "ü"}], "none": None},
    detail="text",
)


def test_a_table_a_record_and_a_run_come_back_as_they_were_put(store: Store) -> None:
    rich = record(
        "a/d",
        MANIFESTS,
        "b/weekly",
        seen_at=at(1),
        counts=False,
        next_run=at(2),
        due_since=at(3),
        last_start=at(4),
        next_look=at(5.000001),
        job="j",
        reason=Reason.M_BUDGET,
    )
    with store.transaction() as transaction:
        transaction.put_records(
            MAINTAINED_TABLES, [RICH_TABLE, TableState(name="c.n.t", catalog_name="c.n.t")]
        )
        transaction.put_records(MAINTENANCE_RECORDS, [rich, record()])
        transaction.put_operation_runs([RICH_RUN, operation_run("k", minutes=5)])
    with store.reading() as reader:
        assert reader.records(MAINTAINED_TABLES) == (
            RICH_TABLE,
            TableState(name="c.n.t", catalog_name="c.n.t"),
        )
        assert reader.records(MAINTENANCE_RECORDS) == (record(), rich)
        assert reader.operation_runs() == (RICH_RUN, operation_run("k", minutes=5))
        assert reader.records(MAINTAINED_TABLES)[0].history.of(REWRITE).failures == 3
        assert reader.records(MAINTENANCE_RECORDS)[1].operation is MANIFESTS
        assert reader.operation_runs()[0].ending is Ending.STOPPED


def test_the_job_of_an_operation_comes_back_as_it_was_put(store: Store) -> None:
    work = Work(
        table="a/d",
        operation=REWRITE,
        policy="a/nightly",
        by_hand=True,
        probe=True,
        forced=True,
        excluded=("k", ""),
        then=((MANIFESTS, "a/nightly"), (EXPIRE, "b/weekly")),
    )
    given = operation_job("j", maintenance=work, state=JobState.PENDING_CONSTRAINT, reason=Reason.M_BUSY)
    with store.transaction() as transaction:
        transaction.put_jobs([given])
    with store.reading() as reader:
        (found,) = reader.jobs()
        assert found == given
        assert found.work.then[0][0] is MANIFESTS


def test_what_is_put_again_replaces_what_was_there_and_of_two_the_last_one_counts(store: Store) -> None:
    with store.transaction() as transaction:
        transaction.put_records(MAINTAINED_TABLES, [table("t", gone=True), table("t", wanted_at=NOON)])
        transaction.put_records(MAINTENANCE_RECORDS, [record(next_look=at(1)), record(next_look=at(2))])
        transaction.put_operation_runs([operation_run("j"), operation_run("j", bytes=1)])
    with store.transaction() as transaction:
        assert transaction.records(MAINTAINED_TABLES) == (table("t", wanted_at=NOON),)
        assert transaction.records(MAINTENANCE_RECORDS) == (record(next_look=at(2)),)
        assert transaction.operation_runs() == (operation_run("j", bytes=1),)
        transaction.put_records(MAINTAINED_TABLES, [table("t")])
        transaction.put_records(MAINTENANCE_RECORDS, [record()])
        transaction.put_operation_runs([operation_run("j", ending=Ending.SUCCEEDED, ended_at=at(9))])
        transaction.put_records(MAINTAINED_TABLES, [])
        transaction.put_records(MAINTENANCE_RECORDS, [])
        transaction.put_operation_runs([])
    with store.reading() as reader:
        assert (reader.due_records(MAINTAINED_TABLES, None, 9), reader.next_maintenance()) == ((), None)
        assert (
            len(reader.records(MAINTAINED_TABLES)),
            len(reader.records(MAINTENANCE_RECORDS)),
            len(reader.operation_runs()),
        ) == (1, 1, 1)


def test_tables_come_by_name_and_those_that_nothing_knows_are_left_out(store: Store) -> None:
    with store.transaction() as transaction:
        transaction.put_records(
            MAINTAINED_TABLES, [table(name) for name in ("b/d", "ä.n.t", "a/d", "B/d", "c.n.t_1")]
        )
        cases: list[tuple[Any, list[str]]] = [
            (None, ["B/d", "a/d", "b/d", "c.n.t_1", "ä.n.t"]),
            (["b/d", "a/d", "a/d", "none"], ["a/d", "b/d"]),
            ([], []),
        ]
        for names, expected in cases:
            assert [found.name for found in transaction.records(MAINTAINED_TABLES, name=names)] == expected, (
                names
            )


def test_tables_to_measure_come_the_longest_wanted_first(store: Store) -> None:
    wanted = {"d": 3, "b": 1, "c": 1, "a": 2}
    with store.transaction() as transaction:
        transaction.put_records(
            MAINTAINED_TABLES, [table(name, wanted_at=at(minutes)) for name, minutes in wanted.items()]
        )
        transaction.put_records(MAINTAINED_TABLES, [table("known")])
        assert [found.name for found in transaction.due_records(MAINTAINED_TABLES, None, 9)] == [
            "b",
            "c",
            "a",
            "d",
        ]
        assert [found.name for found in transaction.due_records(MAINTAINED_TABLES, None, 3)] == [
            "b",
            "c",
            "a",
        ]
        transaction.put_records(MAINTAINED_TABLES, [table("b")])
        assert [found.name for found in transaction.due_records(MAINTAINED_TABLES, None, 1)] == ["c"]


def test_records_come_by_table_operation_and_policy(store: Store) -> None:
    one, two = record("t", REWRITE, "b/p"), record("t", EXPIRE, "b/p")
    three, four = record("T", MANIFESTS, "a/p"), record("t", REWRITE, "a/p")
    with store.transaction() as transaction:
        transaction.put_records(MAINTENANCE_RECORDS, [one, two, three, four])
        cases: list[tuple[dict[str, Any], tuple[object, ...]]] = [
            ({}, (three, two, four, one)),
            ({"table": ["t", "x"]}, (two, four, one)),
            ({"table": ["T"]}, (three,)),
            ({"table": []}, ()),
        ]
        for filters, expected in cases:
            assert transaction.records(MAINTENANCE_RECORDS, **filters) == expected, filters


def test_due_records_come_earliest_first_then_by_table_operation_and_policy(store: Store) -> None:
    expected = [
        record("b", REWRITE, "a/p", next_look=at(0)),
        record("a", EXPIRE, "b/p", next_look=at(1)),
        record("a", REWRITE, "a/p", next_look=at(1)),
        record("a", REWRITE, "b/p", next_look=at(1)),
        record("b", ORPHANS, "a/p", next_look=at(1)),
        record("a", MANIFESTS, "a/p", next_look=at(2)),
    ]
    with store.transaction() as transaction:
        transaction.put_records(
            MAINTENANCE_RECORDS, [*expected[::-1], record("later", next_look=at(2.000001)), record("never")]
        )
        assert transaction.due_records(MAINTENANCE_RECORDS, at(2), 9) == tuple(expected)
        assert transaction.due_records(MAINTENANCE_RECORDS, at(2), 4) == tuple(expected[:4])
        assert transaction.due_records(MAINTENANCE_RECORDS, at(0), 4) == tuple(expected[:1])
        assert transaction.due_records(MAINTENANCE_RECORDS, at(-1), 4) == ()


def test_records_are_deleted_by_their_key(store: Store) -> None:
    kept = [record("t", EXPIRE, "b/p"), record("u", EXPIRE, "a/p"), record("t", REWRITE, "a/p")]
    with store.transaction() as transaction:
        transaction.put_records(MAINTENANCE_RECORDS, [*kept, record("t", EXPIRE, "a/p", next_look=at(1))])
        transaction.drop_records(
            MAINTENANCE_RECORDS, [record.key for record in [record("t", EXPIRE, "a/p"), record("none")]]
        )
        transaction.drop_records(MAINTENANCE_RECORDS, [record.key for record in []])
        assert set(transaction.records(MAINTENANCE_RECORDS)) == set(kept)
        assert transaction.next_maintenance() is None


def test_maintenance_is_next_at_the_first_look_or_the_first_timeout_of_a_run(store: Store) -> None:
    with store.transaction() as transaction:
        assert transaction.next_maintenance() is None
        transaction.put_records(
            MAINTENANCE_RECORDS, [record("a", next_look=at(50)), record("b", next_look=at(40)), record("c")]
        )
        assert transaction.next_maintenance() == at(40)
        runs = [operation_run("j", minutes=-25), operation_run("k", minutes=-30)]
        transaction.put_operation_runs(runs)
        assert transaction.next_maintenance() == at(30)
        transaction.put_operation_runs([ended(run) for run in runs])
        assert transaction.next_maintenance() == at(40)
        transaction.drop_records(MAINTENANCE_RECORDS, [record.key for record in [record("b")]])
        assert transaction.next_maintenance() == at(50)


def test_the_keys_of_a_dataset_are_those_that_came_or_were_written(store: Store) -> None:
    keys = ["b", "a", "ä", "B", "a", "b"]
    with store.transaction() as transaction:
        transaction.add_events([event(f"e{n}", n, partition=key) for n, key in enumerate(keys)])
        transaction.add_events(
            [
                event("other", key="partition:a/dd", partition="x"),
                event("run", key="run:a/d:succeeded"),
                event("none"),
                event("whole", key="partition:a/whole", partition=""),
                event("again", key="partition:a/whole", partition=""),
            ]
        )
    with store.reading() as reader:
        assert reader.keys_written("a/d") == ("B", "a", "b", "ä")
        assert reader.keys_written("a/whole") == ("",)
        assert reader.keys_written("a/none") == ()


def test_the_jobs_that_write_are_those_of_schedules_that_wait_for_constraints_or_run(store: Store) -> None:
    states = [*JobState]
    with store.transaction() as transaction:
        transaction.put_jobs([job(f"{state}", state=state) for state in states])
        transaction.put_jobs([job("other", "b/s", state=JobState.LAUNCHED)])
        transaction.put_jobs([operation_job("mine", state=JobState.LAUNCHED)])
    with store.reading() as reader:
        writing = reader.jobs(apps=["a"], states=WRITING)
        found = sorted(each.id for each in writing if each.maintenance is None)
    assert found == [
        "LAUNCHED",
        "PENDING_CONSTRAINT",
        "PENDING_LAUNCH",
    ]


def test_a_table_takes_thousands_of_records_and_runs_at_once(store: Store) -> None:
    many = [record(f"{n:05}", next_look=at(n)) for n in range(2500)]
    runs = [operation_run(f"{n:05}", minutes=n) for n in range(2500)]
    with store.transaction() as transaction:
        transaction.put_records(MAINTENANCE_RECORDS, many)
        transaction.put_operation_runs(runs)
        assert transaction.records(MAINTENANCE_RECORDS) == tuple(many)
        assert transaction.records(MAINTENANCE_RECORDS, table=[each.table for each in many]) == tuple(many)
        assert transaction.due_records(MAINTENANCE_RECORDS, at(9999), 3) == tuple(many[:3])
        assert transaction.operation_runs(jobs=[run.job for run in runs], limit=3) == tuple(runs[-3:])
        transaction.drop_records(MAINTENANCE_RECORDS, [record.key for record in many[1:]])
        assert transaction.records(MAINTENANCE_RECORDS) == tuple(many[:1])


@pytest.mark.parametrize("text", ['"', "'", "\\", "%", "$1", "{}", "\n", "ü\U0001f30a", "null"])
def test_a_name_is_kept_whatever_it_holds(store: Store, text: str) -> None:
    given = operation_run(text, text, policy=f"a/{text}", results={text: text}, detail=text)
    with store.transaction() as transaction:
        transaction.put_records(MAINTAINED_TABLES, [table(text, catalog_name=text)])
        transaction.put_records(MAINTENANCE_RECORDS, [record(text, policy=f"a/{text}", job=text)])
        transaction.put_operation_runs([given])
    with store.reading() as reader:
        assert reader.records(MAINTAINED_TABLES, name=[text]) == (table(text, catalog_name=text),)
        assert [(each.policy, each.job) for each in reader.records(MAINTENANCE_RECORDS, table=[text])] == [
            (f"a/{text}", text)
        ]
        assert reader.operation_runs(tables=[text], jobs=[text]) == (given,)


def test_a_reader_in_memory_goes_on_seeing_what_it_saw_while_a_transaction_writes() -> None:
    store = ReferenceStore()
    with store.transaction() as transaction:
        transaction.put_records(MAINTAINED_TABLES, [table("a/d")])
        transaction.put_records(MAINTENANCE_RECORDS, [record(next_look=at(1))])
        transaction.put_operation_runs([operation_run("j")])
    with store.reading() as reader, store.transaction() as transaction:
        transaction.put_records(MAINTAINED_TABLES, [table("a/d", gone=True), table("c.n.t")])
        transaction.drop_records(MAINTENANCE_RECORDS, [record.key for record in [record()]])
        transaction.put_operation_runs([ended(operation_run("j"))])
        assert (reader.records(MAINTAINED_TABLES), reader.records(MAINTENANCE_RECORDS)) == (
            (table("a/d"),),
            (record(next_look=at(1)),),
        )
        assert reader.operation_runs(running=True) == (operation_run("j"),)
        assert reader.next_maintenance() == at(1)
        assert transaction.operation_runs(running=True) == ()
        assert transaction.next_maintenance() is None
