"""`tidegate maintenance status`: one table, its health and debt, and each of its operations."""

from datetime import timedelta

import pytest

from tests.tidegate.project import Project
from tests.tidegate.tables import EVENTS, ORDERS, REPORT, TableProject, instant_of
from tidegate.spark_jobs.maintenance.file_counts import FileCounts, extrapolated

pytestmark = pytest.mark.slow  # whole commands

DAYS = 86_400


def test_a_table_with_its_issues_its_debt_and_its_operations(tables: TableProject) -> None:
    tables.measured(ORDERS, small_files=150, small_file_percent=60, snapshots=120, newest_snapshot_age=DAYS)
    printed = tables.project.run("maintenance", "status", ORDERS)
    assert "small_file_percent is 60%, and from 50% on it is critical" in printed
    assert "snapshots is 120, and from 100 on it is warning" in printed
    assert "150.5 (issues 150, stale 0.5)" in printed
    rewrite, expire = (line for line in printed.splitlines() if " shop/" in line)
    assert rewrite.split()[:3] == ["rewrite_data_files", "shop/hot", "starts"]
    assert expire.split()[:3] == ["expire_snapshots", "shop/nightly", "waits"]
    assert "M-WINDOW: the window of the operation is closed" in expire
    (condition,) = (line for line in printed.splitlines() if " small_files " in line)
    assert condition.split() == ["rewrite_data_files", "small_files", "100", "150", "met"]


def test_of_two_operations_that_may_start_the_second_is_said_to_come_after_the_first(
    tables: TableProject,
) -> None:
    tables.project.write("shop", tables.yaml.replace("{enabled: false}", "{interval: 1d}"))
    tables.project.run("deploy")
    tables.measured(ORDERS, small_files=150)
    printed = tables.project.run("maintenance", "status", ORDERS)
    rewrite, manifests, _ = (line for line in printed.splitlines() if " shop/" in line)
    assert "  starts at the next poll  " in rewrite
    assert "  after rewrite_data_files  " in manifests
    found = tables.project.json("maintenance", "status", ORDERS)["operations"]
    assert [(each["would_run"], each["behind"]) for each in found] == [
        (True, None),
        (False, "rewrite_data_files"),
        (False, None),
    ]


def test_what_was_measured_of_a_sample_has_its_bound(tables: TableProject) -> None:
    counts, note = extrapolated(FileCounts(files=100, small=30, partitions=7), 10_000)
    tables.measured(ORDERS, small_files=counts.small, small_file_percent=30, note=note)
    bound = (
        "from 100 of 10000 files: percentages are within 9.8 points, if these files are like the others;"
        " there are at least 7 partitions"
    )
    printed = tables.project.run("maintenance", "status", ORDERS)
    (row,) = (line for line in printed.splitlines() if line.startswith("note "))
    assert row.split(maxsplit=1)[1] == bound
    assert tables.project.json("maintenance", "status", ORDERS)["health"]["note"] == bound
    assert f" ago, {bound}" in tables.project.run("why", ORDERS, "rewrite_data_files")


def test_as_json_it_has_every_value(tables: TableProject) -> None:
    tables.measured(ORDERS, small_files=99, snapshots=500)
    found = tables.project.json("maintenance", "status", ORDERS)
    assert found["health"]["values"]["small_files"] == 99
    assert found["usable"] is True
    assert found["debt"]["parts"] == {"issues": 100}
    assert [issue["measure"] for issue in found["debt"]["issues"]] == ["snapshots"]
    rewrite, expire = found["operations"]
    assert (rewrite["due"], rewrite["would_run"], rewrite["reason"]) == (True, False, "M-CONDITION")
    (threshold,) = rewrite["conditions"]["thresholds"]
    assert (threshold["value"], threshold["met"]) == (99, False)
    assert (expire["operation"], expire["reason"]) == ("expire_snapshots", "M-WINDOW")
    assert expire["next"] is not None
    assert found["running"] == []


def test_what_is_old_or_unknown_is_said_so(tables: TableProject) -> None:
    printed = tables.project.run("maintenance", "status", EVENTS)
    assert "unknown: never measured, or written since" in printed
    assert "M-HEALTH" in printed
    tables.measured(EVENTS, ago=timedelta(hours=3), small_files=150)
    printed = tables.project.run("maintenance", "status", EVENTS)
    assert "3h ago: measured again before a poll decides by it" in printed
    (condition,) = (line for line in printed.splitlines() if " small_files " in line)
    assert condition.split() == [
        "rewrite_data_files",
        "small_files",
        "100",
        "150",
        *["measured", "too", "long", "ago"],
    ]
    assert tables.project.json("maintenance", "status", EVENTS)["usable"] is False
    tables.measured(EVENTS, failure="the catalog does not answer")
    printed = tables.project.run("maintenance", "status", EVENTS)
    assert "could not be measured at" in printed
    assert "the catalog does not answer" in printed


def test_a_measurement_may_be_asked_for(tables: TableProject) -> None:
    assert "a measurement is asked for" not in tables.project.run("maintenance", "status", REPORT)
    printed = tables.project.run("maintenance", "status", REPORT, "--measure")
    assert "a measurement is asked for" in printed
    asked = tables.project.json("maintenance", "status", REPORT)["measurement_asked_for"]
    assert tables.project.json("maintenance", "status", REPORT, "--measure")["measurement_asked_for"] == asked
    tables.measured(REPORT)
    assert "asked for" not in tables.project.run("maintenance", "status", REPORT)
    refused = tables.project.refused("maintenance", "status", "shop/raw", "--measure")
    assert refused.message.startswith(
        "E-POLICY: no enabled policy configures an operation for table shop/raw"
    )


def test_a_running_operation_is_shown_with_the_end_of_its_timeout(tables: TableProject) -> None:
    tables.measured(ORDERS, small_files=150)
    tables.poll()
    job = tables.launched()
    printed = tables.project.run("maintenance", "status", ORDERS)
    assert f"runs, job {job}" in printed
    assert "its timeout ends at" in printed
    assert "M-TABLE: another operation of the table runs" in printed
    (running,) = tables.project.json("maintenance", "status", ORDERS)["running"]
    assert (running["job"], running["operation"]) == (job, "rewrite_data_files")


def test_an_operation_that_is_not_due_has_its_next_run_and_its_conditions(tables: TableProject) -> None:
    tables.measured(EVENTS, small_files=150)
    tables.poll()
    tables.ended(tables.launched(), changed=True)
    tables.measured(EVENTS, small_files=7)
    rewrite, _ = tables.project.json("maintenance", "status", EVENTS)["operations"]
    assert (rewrite["due"], rewrite["would_run"], rewrite["reason"]) == (False, False, None)
    assert instant_of(rewrite["next"]) >= instant_of(rewrite["conditions"]["interval_until"])
    assert [each["value"] for each in rewrite["conditions"]["thresholds"]] == [0, 7]
    printed = tables.project.run("maintenance", "status", EVENTS)
    assert "not due" in printed
    assert "min_interval" in printed
    assert "unmet until" in printed


def test_a_table_is_found_by_any_of_its_names_and_by_an_end_that_only_one_has(tables: TableProject) -> None:
    for name in (REPORT, "tidegate.shop.report", "report"):
        assert tables.project.json("maintenance", "status", name)["table"] == REPORT
    assert tables.project.json("maintenance", "status", "analytics.orders")["table"] == ORDERS
    tables.found("lake.sales.orders")
    refused = tables.project.refused("maintenance", "status", "orders")
    assert refused.message == '2 tables have the name "orders"'
    assert refused.hint == f"write one of lake.sales.orders, {ORDERS}"


def test_a_table_that_no_policy_matches_is_shown_and_one_that_is_unknown_or_gone_refused(
    tables: TableProject,
) -> None:
    assert "No enabled policy configures an operation for it." in tables.project.run(
        "maintenance", "status", "shop/raw"
    )
    refused = tables.project.refused("maintenance", "status", "warehouse.analytics.order")
    assert refused.message == 'E-TABLE: no table "warehouse.analytics.order" is known'
    assert refused.hint == f'did you mean "{ORDERS}"?'
    tables.gone(EVENTS)
    assert tables.project.refused("maintenance", "status", EVENTS).message.startswith("E-TABLE")


def test_a_store_without_tables_says_where_they_come_from(project: Project) -> None:
    project.edit(project_datasets(project), "")
    project.run("deploy")
    refused = project.refused("maintenance", "status", "orders")
    assert refused.message == 'E-TABLE: no table "orders" is known; the store knows no tables'
    assert "tidegate deploy" in refused.hint


def project_datasets(project: Project) -> str:
    """The app without anything in it: what is between its time zone and the end of the file."""
    text = (project.folder / "schedules/sales.yaml").read_text()
    return text.partition("timezone: Europe/Berlin\n")[2]


def test_it_needs_a_table(tables: TableProject) -> None:
    tables.project.run("maintenance", "status", exit_code=64)
    tables.project.run("maintenance", "measure", "orders", exit_code=64)
