"""`tidegate maintenance plan`: what the next polls would start, and what holds the rest back."""

from datetime import timedelta

import pytest

from tests.tidegate.project import Project
from tests.tidegate.tables import EVENTS, ORDERS, REPORT, TableProject
from tidegate.scheduler.model.maintenance import MAINTAINED_TABLES, MAINTENANCE_RECORDS

pytestmark = pytest.mark.slow  # whole commands


def test_the_next_poll_in_order_and_the_rest_by_reason(tables: TableProject) -> None:
    tables.measured(EVENTS, small_file_percent=30)
    tables.measured(ORDERS, small_files=150, small_file_percent=60)
    first, second = tables.project.json("maintenance", "plan")
    (start,) = first["starts"]
    assert (start["table"], start["operation"], start["policy"]) == (ORDERS, "rewrite_data_files", "shop/hot")
    assert start["debt"] == 100
    assert first["held_back"] == {"M-BUDGET": 1, "M-HEALTH": 1, "M-WINDOW": 3}
    assert second["starts"] == []
    assert second["held_back"]["W-CONCURRENCY"] == 1, "the only slot is taken by the first poll"
    printed = tables.project.run("maintenance", "plan", "--polls", "1")
    assert ": 1 operation to start, 5 held back" in printed
    assert "1 held back by M-BUDGET: the budget of the poll or of the hour is spent" in printed


def test_what_has_to_be_measured_first_is_planned_by_what_was_measured_last(tables: TableProject) -> None:
    tables.measured(ORDERS, small_files=150, ago=timedelta(hours=3))
    first, second = tables.project.json("maintenance", "plan")
    assert first["starts"] == []
    assert first["held_back"]["M-HEALTH"] == 3
    assert [start["table"] for start in second["starts"]] == [ORDERS]
    assert "3h ago" in tables.project.run("maintenance", "plan")


def test_a_plan_changes_nothing(tables: TableProject) -> None:
    tables.measured(ORDERS, small_files=150)
    with tables.store.reading() as reader:
        before = (
            reader.records(MAINTENANCE_RECORDS),
            reader.records(MAINTAINED_TABLES),
            reader.jobs(),
            reader.journal(),
        )
    tables.project.run("maintenance", "plan", "--polls", "5")
    with tables.store.reading() as reader:
        assert (
            reader.records(MAINTENANCE_RECORDS),
            reader.records(MAINTAINED_TABLES),
            reader.jobs(),
            reader.journal(),
        ) == before


def test_partitions_that_pipelines_write_are_counted(tables: TableProject) -> None:
    tables.written(REPORT, "2026-03-08", "2026-03-09", "2026-03-10")
    tables.arrive("2026-03-10")
    tables.measured(REPORT, small_files=150)
    (first,) = tables.project.json("maintenance", "plan", "--polls", "1")
    (start,) = first["starts"]
    assert (start["table"], start["excluded"]) == (REPORT, ["2026-03-10"])
    assert "without 1 partition that pipelines write" in tables.project.run("maintenance", "plan")


def test_nothing_due_no_policies_and_wrong_use(deployed: Project) -> None:
    assert deployed.run("maintenance", "plan") == "No policies are deployed.\n"
    assert [poll["starts"] for poll in deployed.json("maintenance", "plan", "--polls", "3")] == [[], [], []]
    deployed.run("maintenance", "plan", "--polls", "0", exit_code=64)


def test_a_poll_at_which_nothing_is_due_says_so(tables: TableProject) -> None:
    tables.gone(ORDERS)
    tables.gone(EVENTS)
    tables.gone(REPORT)
    assert "nothing is due." in tables.project.run("maintenance", "plan")
