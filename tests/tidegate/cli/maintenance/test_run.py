"""`tidegate maintenance run`: operations by hand, and what a dry run says of them."""

import pytest

from tests.tidegate.tables import EVENTS, ORDERS, REPORT, TableProject
from tests.worlds.by import ME
from tidegate.scheduler.model.job import JobState

pytestmark = pytest.mark.slow  # whole commands


def test_it_starts_all_operations_one_after_the_other(tables: TableProject) -> None:
    printed = tables.project.run("maintenance", "run", ORDERS, "--reason", "before the audit")
    (job,) = tables.jobs()
    assert printed == (
        f"rewrite_data_files of {ORDERS} by policy shop/hot starts as job {job.id}\nthen: expire_snapshots\n"
    )
    assert job.state is JobState.PENDING_LAUNCH
    assert job.work.by_hand
    with tables.store.reading() as reader:
        noted = [entry.data for entry in reader.journal(job=job.id) if entry.kind == "status"]
    assert noted == [{"action": "maintain", "by": ME, "why": "before the audit"}]
    tables.ended(tables.launched(), changed=True)
    assert [each.work.operation for each in tables.jobs()] == ["rewrite_data_files", "expire_snapshots"]


def test_one_operation_by_a_named_policy(tables: TableProject) -> None:
    found = tables.project.json(
        "maintenance", "run", "orders", "--operation", "rewrite_data_files", "--policy", "nightly"
    )
    assert found["table"] == ORDERS
    (job,) = found["jobs"]
    assert job["maintenance"]["policy"] == "shop/nightly"
    assert job["maintenance"]["then"] == []


def test_without_a_free_slot_it_waits(tables: TableProject) -> None:
    tables.project.run("maintenance", "run", ORDERS)
    printed = tables.project.run("maintenance", "run", EVENTS, "--operation", "expire_snapshots")
    _, job = tables.jobs()
    assert printed == (
        f"expire_snapshots of {EVENTS} by policy shop/nightly waits as job {job.id}, "
        "W-CONCURRENCY: all slots of the program or group are taken\n"
    )


def test_a_dry_run_shows_options_and_left_out_partitions_and_changes_nothing(tables: TableProject) -> None:
    tables.written(REPORT, "2026-03-08", "2026-03-09")
    tables.arrive("2026-03-09")
    with tables.store.reading() as reader:
        before = reader.jobs(), reader.journal(), reader.operation_runs()
    printed = tables.project.run("maintenance", "run", REPORT, "--dry-run")
    assert printed.startswith(f"Nothing is changed. A run by hand would start on {REPORT}:\n")
    assert "rewrite_data_files by policy shop/nightly, now, timeout 4h" in printed
    assert "expire_snapshots by policy shop/nightly, after the one before, timeout 4h" in printed
    assert "without the partitions that pipelines write: 2026-03-09" in printed
    assert ["target_file_size", "512MB"] in [line.split() for line in printed.splitlines()]
    assert ["older_than", "7d"] in [line.split() for line in printed.splitlines()]
    found = tables.project.json("maintenance", "run", REPORT, "--dry-run")
    assert [each["operation"] for each in found["operations"]] == ["rewrite_data_files", "expire_snapshots"]
    assert found["operations"][0]["excluded"] == ["2026-03-09"]
    assert found["operations"][1]["options"]["retain_last"] == 5
    with tables.store.reading() as reader:
        assert (reader.jobs(), reader.journal(), reader.operation_runs()) == before


def test_a_dry_run_says_that_it_would_wait_for_a_slot(tables: TableProject) -> None:
    tables.project.run("maintenance", "run", ORDERS)
    printed = tables.project.run("maintenance", "run", EVENTS, "--dry-run")
    assert "when it may: W-CONCURRENCY, all slots of the program or group are taken" in printed


def test_a_policy_without_operations_starts_nothing_and_says_so(tables: TableProject) -> None:
    tables.project.write(
        "shop",
        tables.yaml.replace("maintenance:", "  empty: {tables: shop/raw, operations: {}}\nmaintenance:"),
    )
    tables.project.run("deploy")
    for arguments in (("shop/raw",), ("shop/raw", "--policy", "empty"), ("shop/raw", "--dry-run")):
        assert tables.project.run("maintenance", "run", *arguments) == (
            "The policies of shop/raw configure no operation: nothing to run.\n"
        )
    assert tables.project.json("maintenance", "run", "shop/raw")["jobs"] == []
    assert tables.jobs() == []


def test_what_cannot_be_run_is_refused_with_its_code(tables: TableProject) -> None:
    def refused(*arguments: str) -> str:
        messages = {
            tables.project.refused("maintenance", "run", *arguments, *more).message
            for more in ((), ("--dry-run",))
        }
        assert len(messages) == 1, "a dry run refuses what a run refuses"
        return messages.pop()

    assert refused("warehouse.nowhere").startswith("E-TABLE: ")
    assert refused("shop/raw") == "E-POLICY: no enabled policy matches table shop/raw"
    assert refused(ORDERS, "--policy", "weekly") == "E-POLICY: no policy weekly is deployed"
    assert refused(ORDERS, "--policy", "idle") == "E-POLICY: policy idle is disabled"
    assert refused(EVENTS, "--policy", "hot") == f"E-POLICY: policy hot does not match table {EVENTS}"
    assert "does not configure" in refused(ORDERS, "--policy", "hot", "--operation", "rewrite_manifests")
    tables.project.run("maintenance", "run", ORDERS)
    assert refused(ORDERS).startswith("E-ACTIVE: rewrite_data_files of policy shop/hot runs on table")


def test_an_unknown_operation_is_wrong_use(tables: TableProject) -> None:
    tables.project.run("maintenance", "run", ORDERS, "--operation", "vacuum", exit_code=64)
    tables.project.run("maintenance", "run", exit_code=64)
