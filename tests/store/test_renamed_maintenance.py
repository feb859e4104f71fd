"""A rename moves what every store knows of maintenance and of late data, and what operations hold."""

from typing import Any

from tests.doubles.dump import dump
from tests.worlds.samples import at, job, operation_job, operation_run, record, table
from tidegate.compiler.plan.renames import Renames
from tidegate.domain.model import Operation
from tidegate.scheduler.model.job import JobState, LaunchPlan
from tidegate.scheduler.model.maintenance import MAINTAINED_TABLES, MAINTENANCE_RECORDS, Ending, Work
from tidegate.scheduler.model.records.expected import LATE_TOTALS, LateTotal
from tidegate.scheduler.store.protocol import EngineTransaction, Store

DATASET = Renames(datasets={"a/d": "a/new"})
APP = Renames(apps={"a": "b"}, datasets={"a/d": "b/d", "a/dd": "b/dd"}, programs={"a/p": "b/p"})
EXPIRE = Operation.EXPIRE_SNAPSHOTS


def launch(table: str, dataset: str | None) -> LaunchPlan:
    args: dict[str, Any] = {"table": table, "catalog_name": "c.n.d", "dataset": dataset, "timeout": 60}
    return LaunchPlan(program="maintain:expire_snapshots", args=args)


def fill(transaction: EngineTransaction) -> None:
    """Two datasets of app a and a table beside them, each with a policy of app a and one of app ab."""
    names = ("a/d", "a/dd", "c.n.t")
    transaction.put_records(MAINTAINED_TABLES, [table(name, health_policy="a/nightly") for name in names])
    policies = ("a/nightly", "ab/nightly")
    transaction.put_records(
        MAINTENANCE_RECORDS, [record(name, policy=policy) for name in names for policy in policies]
    )
    runs = [operation_run(f"r {name}", name, ending=Ending.SUCCEEDED, ended_at=at(1)) for name in names]
    transaction.put_operation_runs([*runs, operation_run("j", "a/d", policy="ab/nightly")])
    transaction.put_jobs(
        [
            operation_job(
                "j",
                "a/d",
                "ab/nightly",
                state=JobState.LAUNCHED,
                launch=launch("a/d", "a/d"),
                resources=("runs", "table:a/d"),
                blocked_on="table:a/d",
                maintenance=Work(
                    table="a/d", operation=EXPIRE, policy="ab/nightly", then=((EXPIRE, "a/nightly"),)
                ),
            ),
            operation_job("k", "c.n.t", state=JobState.SUCCEEDED, launch=launch("c.n.t", None)),
            job("l", launch=LaunchPlan(program="p", args={"table": "a/d"}), blocked_on="group:g"),
        ]
    )
    transaction.take_slots({"j": ["runs", "table:a/d", "group:spark"]})


def names_in(store: Store) -> tuple[list[Any], ...]:
    """The names of tables and policies: in tables, records and runs."""
    with store.reading() as reader:
        return (
            [(each.name, each.dataset, each.health_policy) for each in reader.records(MAINTAINED_TABLES)],
            [(each.table, each.policy) for each in reader.records(MAINTENANCE_RECORDS)],
            [(each.job, each.table, each.policy) for each in reader.operation_runs()],
        )


def test_the_table_of_a_renamed_dataset_goes_on_under_the_new_name(store: Store) -> None:
    with store.transaction() as transaction:
        fill(transaction)
        transaction.rename(DATASET)
    tables, records, runs = names_in(store)
    nightly = "a/nightly"
    assert tables == [("a/dd", "a/dd", nightly), ("a/new", "a/new", nightly), ("c.n.t", None, nightly)]
    assert [each for each in records if each[0] == "a/new"] == [
        ("a/new", "a/nightly"),
        ("a/new", "ab/nightly"),
    ]
    assert len(records) == 6
    assert runs == [
        ("j", "a/new", "ab/nightly"),
        ("r a/d", "a/new", nightly),
        ("r a/dd", "a/dd", nightly),
        ("r c.n.t", "c.n.t", nightly),
    ]


def test_a_running_operation_keeps_its_table_under_the_new_name(store: Store) -> None:
    with store.transaction() as transaction:
        fill(transaction)
        transaction.rename(DATASET)
    with store.reading() as reader:
        (found,) = reader.jobs(ids=["j"])
        assert (found.key, found.work.table) == ("a/new expire_snapshots", "a/new")
        assert (found.resources, found.blocked_on) == (("runs", "table:a/new"), "table:a/new")
        assert found.launch == launch("a/new", "a/new")
        assert reader.slots(["table:a/d", "table:a/new"]) == {"table:a/d": 0, "table:a/new": 1}
        (other,) = reader.jobs(ids=["l"])
        assert other.launch is not None and other.launch.args == {"table": "a/d"}
    with store.transaction() as transaction:
        assert transaction.release_slots("j") == ("group:spark", "runs", "table:a/new")


def test_policies_and_tables_of_a_renamed_app_go_on_under_its_new_name(store: Store) -> None:
    with store.transaction() as transaction:
        fill(transaction)
        transaction.rename(APP)
    tables, records, runs = names_in(store)
    assert tables == [(name, name, "b/nightly") for name in ("b/d", "b/dd")] + [("c.n.t", None, "b/nightly")]
    assert records == [
        (name, policy) for name in ("b/d", "b/dd", "c.n.t") for policy in ("ab/nightly", "b/nightly")
    ]
    assert runs == [
        ("j", "b/d", "ab/nightly"),
        ("r a/d", "b/d", "b/nightly"),
        ("r a/dd", "b/dd", "b/nightly"),
        ("r c.n.t", "c.n.t", "b/nightly"),
    ]
    with store.reading() as reader:
        (k,) = reader.jobs(ids=["k"])
        assert (k.schedule, k.app, k.work.policy) == ("b/policy:nightly", "b", "b/nightly")
        assert (k.key, k.launch) == ("c.n.t expire_snapshots", launch("c.n.t", None))
        (j,) = reader.jobs(ids=["j"])
        assert (j.schedule, j.work.table) == ("ab/policy:nightly", "b/d")
        assert j.work.then == ((EXPIRE, "b/nightly"),)


def test_what_was_left_behind_under_the_new_name_is_replaced(store: Store) -> None:
    with store.transaction() as transaction:
        fill(transaction)
        transaction.put_records(MAINTAINED_TABLES, [table("a/new", gone=True)])
        transaction.put_records(
            MAINTENANCE_RECORDS, [record("a/new", counts=False), record("a/new", policy="x/old")]
        )
        transaction.rename(DATASET)
        (found,) = transaction.records(MAINTAINED_TABLES, name=["a/new"])
        assert not found.gone
        left = transaction.records(MAINTENANCE_RECORDS, table=["a/new"])
        assert [(each.policy, each.counts) for each in left] == [
            ("a/nightly", True),
            ("ab/nightly", True),
            ("x/old", True),
        ]


def test_a_rename_of_something_else_changes_nothing(store: Store) -> None:
    with store.transaction() as transaction:
        fill(transaction)
    before = dump(store)
    with store.transaction() as transaction:
        transaction.rename(Renames(datasets={"a/ddd": "a/n"}, programs={"a/d": "a/n"}, apps={"c": "d"}))
    assert dump(store) == before


def test_late_totals_move_when_an_app_and_its_schedule_are_renamed_at_once(store: Store) -> None:
    names = Renames(apps={"a": "b"}, schedules={"a/s": "b/t"}, datasets={"a/d": "b/e"})
    before = [
        ("schedule", "a/s", 3),
        ("schedule", "a/x", 2),
        ("task", "a/k", 5),
        ("dataset", "a/d", 4),
        ("schedule", "ab/s", 1),
        ("schedule", "b/t", 9),  # of an earlier app b
        ("dataset", "b/e", 8),
    ]
    with store.transaction() as transaction:
        transaction.put_records(
            LATE_TOTALS, [LateTotal(kind=kind, name=name, number=number) for kind, name, number in before]
        )
        transaction.rename(names)
    with store.reading() as reader:
        after = {(each.kind, each.name, each.number) for each in reader.records(LATE_TOTALS)}
    assert after == {
        ("schedule", "b/t", 3),
        ("schedule", "b/x", 2),
        ("task", "b/k", 5),
        ("dataset", "b/e", 4),
        ("schedule", "ab/s", 1),
    }
