"""`tidegate why` on a table, on one of its operations, and on the job of one."""

from datetime import UTC, datetime

import pytest

from tests.tidegate.tables import EVENTS, ORDERS, REPORT, TableProject, instant_of

pytestmark = pytest.mark.slow  # whole commands


def test_a_table_has_one_tree_for_each_operation_with_every_check(tables: TableProject) -> None:
    tables.measured(ORDERS, small_files=99)
    printed = tables.project.run("why", ORDERS)
    assert f"shop/policy:hot[{ORDERS} rewrite_data_files] (enabled): M-CONDITION" in printed
    assert f"shop/policy:nightly[{ORDERS} expire_snapshots] (enabled): M-WINDOW" in printed
    assert "unmet small_files: 99 measured, at least 100 needed" in printed
    assert "when: small_files of at least 100" in printed
    assert "met   backoff: 0 failures in a row, of 3" in printed
    assert "schedules/shop.yaml:" in printed
    rewrite, expire = tables.project.json("why", ORDERS)
    assert rewrite["work"]["operation"] == "rewrite_data_files"
    assert [each["kind"] for each in rewrite["constraints"]] == [
        "table",
        "backoff",
        "throttle",
        "health",
        "when",
        "budget",
        "concurrency",
    ]
    assert [each["kind"] for each in rewrite["missing"]] == ["when"]
    assert rewrite["can_run_at"] is None
    opens = instant_of(expire["constraints"][1]["next_check"])
    assert instant_of(expire["can_run_at"]) >= opens, "the first poll in the window"


def test_one_operation_and_the_ends_of_names(tables: TableProject) -> None:
    (found,) = tables.project.json("why", "analytics.orders", "expire_snapshots")
    assert found["constraints"][1]["reason"] == "M-WINDOW"
    assert tables.project.json("why", ORDERS, "remove_orphan_files") == []
    assert tables.project.refused("why", "nowhere", "expire_snapshots").message.startswith("E-TABLE")
    assert "is not deployed" in tables.project.refused("why", "nowhere").message
    assert "is a policy for tables" in tables.project.refused("why", "shop/policy:hot").message


def test_a_running_operation_and_what_waits_for_it(tables: TableProject) -> None:
    tables.measured(ORDERS, small_files=150)
    tables.poll()
    job = tables.launched()
    (found,) = tables.project.json("why", job)
    assert found["headline"].startswith(f"LAUNCHED, run run-of-{job}; its timeout ends at ")
    (waiting,) = tables.project.json("why", ORDERS, "expire_snapshots")
    table = waiting["constraints"][0]
    assert (table["reason"], table["blocked_on"]) == ("M-TABLE", f"table:{ORDERS}")
    assert f"as job {job}, until" in table["summary"]
    (other,) = tables.project.json("why", EVENTS, "expire_snapshots")
    slots = other["constraints"][-1]
    assert slots["reason"] == "W-CONCURRENCY"
    assert [part["summary"] for part in slots["parts"]] == [
        f"job {job} of shop/policy:hot[{ORDERS} rewrite_data_files], LAUNCHED"
    ]


def test_the_jobs_that_write_every_partition_are_named(tables: TableProject) -> None:
    tables.written(REPORT, "2026-03-09")
    tables.arrive("2026-03-09")
    tables.measured(REPORT, small_files=150)
    tables.poll()
    (job,) = [job for job in tables.jobs() if job.reason == "M-BUSY"]
    (found,) = tables.project.json("why", job.id)
    assert found["headline"] == "M-BUSY: pipelines write every partition of the table"
    (busy,) = [each for each in found["constraints"] if each["kind"] == "busy"]
    (writer,) = busy["parts"]
    assert "of shop/report_daily[2026-03-09], PENDING_CONSTRAINT" in writer["summary"]
    assert "the end of the jobs that write its partitions" in tables.project.run("why", job.id)


def test_an_operation_that_a_person_asked_for_and_that_waits(tables: TableProject) -> None:
    tables.project.run("maintenance", "run", ORDERS)
    tables.project.run("maintenance", "run", EVENTS, "--operation", "expire_snapshots")
    _, job = tables.jobs()
    (found,) = tables.project.json("why", job.id)
    assert (found["status"], found["headline"][:13]) == ("by hand", "W-CONCURRENCY")
    assert [each["kind"] for each in found["constraints"]] == ["table", "concurrency"]
    by_policy, by_hand = tables.project.json("why", EVENTS, "expire_snapshots")
    assert (by_policy["status"], by_hand["status"]) == ("enabled", "by hand")


def test_a_past_moment_shows_the_jobs_of_operations_as_they_were(tables: TableProject) -> None:
    before = datetime.now(UTC).isoformat()
    tables.project.run("maintenance", "run", ORDERS)
    started = datetime.now(UTC).isoformat()
    job = tables.launched()
    tables.ended(job)
    ended = datetime.now(UTC).isoformat()
    (then,) = tables.project.json("why", job, "--at", started)
    assert then["job"]["state"] == "PENDING_LAUNCH"
    assert then["work"]["table"] == ORDERS
    (now,) = tables.project.json("why", job, "--at", ended)
    assert now["job"]["state"] == "SUCCEEDED"
    found = tables.project.json("why", ORDERS, "--at", started)
    assert [each["job"]["id"] for each in found] == [job]
    assert tables.project.json("why", ORDERS, "--at", before) == []
    assert "no waiting job" in tables.project.run("why", "report_daily", "--at", ended)
