"""`tidegate maintenance history`: the runs of operations."""

import pytest

from tests.tidegate.tables import EVENTS, ORDERS, TableProject
from tidegate.scheduler.model.maintenance import Ending

pytestmark = pytest.mark.slow  # whole commands


def run(
    tables: TableProject, table: str, operation: str, ending: Ending = Ending.SUCCEEDED, **result: object
) -> None:
    """An operation runs by hand, and ends."""
    tables.project.run("maintenance", "run", table, "--operation", operation)
    tables.ended(tables.launched(), ending, **result)


def test_runs_have_their_end_and_the_numbers_before_and_after(tables: TableProject) -> None:
    run(
        tables,
        ORDERS,
        "rewrite_data_files",
        changed=True,
        bytes=1_234_000_000,
        before={"files": 120, "snapshots": 10, "total_size": 5e9},
        after={"files": 12, "snapshots": 11, "total_size": 5e9},
    )
    run(tables, EVENTS, "expire_snapshots", Ending.FAILED, detail="the catalog does not answer")
    tables.project.run("maintenance", "run", ORDERS, "--operation", "expire_snapshots")
    printed = tables.project.run("maintenance", "history")
    first, second, third = [line for line in printed.splitlines() if " shop/" in line]
    assert "files 120 -> 12, snapshots 10 -> 11" in first
    assert "total_size" not in first
    assert "1.2GB" in first
    assert first.split()[6:9] == ["succeeded", "yes", "1.2GB"]
    assert first.rstrip().endswith("by hand")
    assert "by hand, the catalog does not answer" in second
    assert third.split()[6] == "runs"


def test_of_one_table_as_json_and_the_newest_only(tables: TableProject) -> None:
    for operation in ("rewrite_data_files", "expire_snapshots"):
        run(tables, ORDERS, operation)
    run(tables, EVENTS, "expire_snapshots", Ending.CONFLICT)
    found = tables.project.json("maintenance", "history", "orders")
    assert [(each["operation"], each["ending"]) for each in found] == [
        ("rewrite_data_files", "succeeded"),
        ("expire_snapshots", "succeeded"),
    ]
    (newest,) = tables.project.json("maintenance", "history", "--limit", "1")
    assert (newest["table"], newest["ending"]) == (EVENTS, "conflict")


def test_a_table_that_is_gone_keeps_its_history(tables: TableProject) -> None:
    run(tables, EVENTS, "expire_snapshots")
    tables.gone(EVENTS)
    assert len(tables.project.json("maintenance", "history", EVENTS)) == 1


def test_without_runs_and_of_an_unknown_table(tables: TableProject) -> None:
    assert tables.project.run("maintenance", "history") == "No operation has run yet.\n"
    assert tables.project.json("maintenance", "history") == []
    assert tables.project.refused("maintenance", "history", "nowhere").message.startswith("E-TABLE")
    tables.project.run("maintenance", "history", "--limit", "0", exit_code=64)
