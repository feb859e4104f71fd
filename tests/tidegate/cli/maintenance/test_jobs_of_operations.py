"""`tidegate jobs` and the other lists, with operations on tables among the jobs."""

import pytest

from tests.tidegate.tables import EVENTS, ORDERS, TableProject
from tidegate.scheduler.launch.outbox import reject
from tidegate.scheduler.model.maintenance import Ending

pytestmark = pytest.mark.slow  # whole commands


def test_the_queue_lists_operations_under_their_policy(tables: TableProject) -> None:
    tables.measured(ORDERS, small_files=150)
    tables.poll()
    printed = tables.project.run("jobs", "list", "--maintenance")
    assert f"shop/policy:hot {ORDERS} rewrite_data_files" in printed
    assert "M-WINDOW" in printed
    for asked in (("--schedule", "shop/policy:hot"), ("--reason", "m-window")):
        assert "policy:" in tables.project.run("jobs", "list", *asked)
    found = tables.project.json("jobs", "list", "--schedule", "shop/policy:hot")
    assert [each["key"] for each in found] == [f"{ORDERS} rewrite_data_files"]
    assert tables.project.run("schedules", "list").count("policy") == 0
    assert tables.project.run("ledger") == "No event has been delivered to a schedule yet.\n"
    refused = tables.project.refused("jobs", "list", "--schedule", "shop/policy:hat")
    assert refused.message == 'policy "shop/policy:hat" is not deployed'
    assert refused.hint == 'did you mean "shop/policy:hot"?'


def test_the_queue_has_pipelines_and_counts_operations(tables: TableProject) -> None:
    tables.measured(ORDERS, small_files=150)
    tables.poll()
    every = tables.project.json("jobs", "list")
    printed = tables.project.run("jobs", "list")
    assert printed == (
        "No jobs in the queue; --all shows the finished ones.\n\n"
        f"{len(every)} operations on tables: --maintenance\n"
    )
    assert {each["operation"] for each in every} == {"rewrite_data_files", "expire_snapshots"}
    head, *lines = tables.project.run("jobs", "list", "--format", "tsv").splitlines()
    rows = [dict(zip(head.split("\t"), line.split("\t"), strict=True)) for line in lines]
    assert [(row["id"], row["operation"]) for row in rows] == [(e["id"], e["operation"]) for e in every]
    assert tables.project.json("jobs", "list", "--no-maintenance") == []


def test_show_has_the_table_the_policy_the_options_and_what_the_run_has_come_to(tables: TableProject) -> None:
    tables.project.run("maintenance", "run", ORDERS)
    job = tables.launched()
    printed = tables.project.run("jobs", "show", job)
    rows = [line.split() for line in printed.splitlines()]
    for row in (
        ["table", ORDERS],
        ["operation", "rewrite_data_files"],
        ["policy", "shop/hot"],
        ["started", "as", "by", "hand"],
        ["then", "expire_snapshots"],
        ["option", "target_file_size", "=", "512MB"],
    ):
        assert row in rows
    assert "timeout ends" in printed
    tables.ended(
        job,
        changed=True,
        bytes=7_000_000,
        before={"files": 9},
        after={"files": 2},
        results={
            "kept": {"911": "the tag audit", **{f"{n}": "a watermark" for n in range(29)}},
            "rounds": 3,
            "left": ["a"],
        },
    )
    printed = tables.project.run("jobs", "show", job)
    rows = [line.split() for line in printed.splitlines()]
    for row in (
        ["files", "9", "->", "2"],
        ["rewritten", "7MB"],
        ["rounds", "3"],
        ["kept", "and", "10", "more"],
    ):
        assert row in rows
    assert "kept              911: the tag audit" in printed
    found = tables.project.json("jobs", "show", job)
    assert found["operation_run"]["after"] == {"files": 2}
    assert found["work"]["by_hand"] is True


def test_what_a_policy_asks_for_is_not_cancelled_retried_or_requeued(tables: TableProject) -> None:
    tables.measured(ORDERS, small_files=150)
    tables.poll()
    waiting = next(job.id for job in tables.jobs() if job.waiting)
    running = tables.launched()
    for verb, job in (("cancel", waiting), ("cancel", running), ("retry", running), ("requeue", running)):
        refused = tables.project.refused("jobs", verb, job)
        assert f"job {job} is " in refused.message
        assert "tidegate maintenance run" in refused.hint
        assert "`enabled: false`" in refused.hint
    tables.ended(running, Ending.FAILED, detail="no memory")
    assert "no memory" in tables.project.run("jobs", "list", "--maintenance")
    assert "maintenance run" in tables.project.refused("jobs", "retry", running).hint


def test_what_a_person_asked_for_is_cancelled_while_it_waits(tables: TableProject) -> None:
    tables.project.run("maintenance", "run", ORDERS)
    tables.project.run("maintenance", "run", EVENTS)
    running, waiting = tables.jobs()
    printed = tables.project.run("jobs", "cancel", waiting.id)
    assert printed == f"job {waiting.id} of shop/policy:nightly is discarded: D-CANCELLED\n"
    assert "tidegate maintenance run" in tables.project.refused("jobs", "cancel", running.id).hint
    tables.ended(tables.launched())
    assert [job.id for job in tables.jobs() if job.work.table == EVENTS] == [waiting.id]


def test_an_operation_whose_run_could_not_be_made_is_not_a_dead_letter(tables: TableProject) -> None:
    tables.project.run("maintenance", "run", ORDERS)
    (job,) = tables.jobs()
    with tables.store.transaction() as transaction:
        reject(transaction, job.id, 1, "no such job in Dagster", job.opened_at, final=True)
    assert tables.project.run("jobs", "list", "--dead-letters") == "No dead letters.\n"
    assert tables.project.run("jobs", "requeue", "--all-dead-letters") == "No dead letters to queue again.\n"
    assert "F-LAUNCH" in tables.project.run("jobs", "list", "--failed", "--maintenance")
