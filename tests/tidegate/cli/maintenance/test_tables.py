"""`tidegate maintenance tables`: all tables, in a chosen order."""

import subprocess
import sys
from datetime import timedelta

import pytest

from tests.tidegate.project import Project
from tests.tidegate.tables import EVENTS, ORDERS, REPORT, TableProject

pytestmark = pytest.mark.slow  # whole commands


@pytest.fixture
def measured(tables: TableProject) -> TableProject:
    """The three tables that policies match are measured; `shop/raw` is not."""
    tables.measured(ORDERS, small_file_percent=60, files=12_000, total_size=5e12, snapshots=4)
    tables.measured(EVENTS, snapshots=600, files=20, ago=timedelta(days=2))
    tables.measured(REPORT, failure="it has no snapshot")
    return tables


def test_the_largest_debt_comes_first(measured: TableProject) -> None:
    printed = measured.project.run("maintenance", "tables")
    rows = [line for line in printed.splitlines() if line.startswith(("warehouse", "shop"))]
    assert [row.split()[:2] for row in rows] == [
        [ORDERS, "150"],
        [EVENTS, "100"],
        ["shop/raw", "0"],
        [REPORT, "0"],
    ]
    assert "1 critical, 1 warning" in rows[0]
    assert "12,000" in rows[0]
    assert "5TB" in rows[0]
    assert "2d ago" in rows[1]
    assert rows[2].split()[-1] == "unknown"
    assert "it has no snapshot" in rows[3]
    assert "Of 2 tables nothing is known" in printed


@pytest.mark.parametrize(
    ("sort", "first", "last"),
    [
        ("name", REPORT.replace("report", "raw"), ORDERS),
        ("files", ORDERS, REPORT),
        ("snapshots", EVENTS, REPORT),
        ("total_size", ORDERS, REPORT),
        ("age", "shop/raw", REPORT),
        ("failures", "shop/raw", ORDERS),
    ],
)
def test_other_orders(measured: TableProject, sort: str, first: str, last: str) -> None:
    found = measured.project.json("maintenance", "tables", "--sort", sort)
    assert (found[0]["table"], found[-1]["table"]) == (first, last)


def test_as_json_it_has_health_and_debt(measured: TableProject) -> None:
    first, *_ = measured.project.json("maintenance", "tables", "--limit", "2")
    assert first["table"] == ORDERS
    assert first["debt"]["score"] == 150
    assert first["health"]["values"]["files"] == 12_000
    assert first["age_seconds"] < 60
    assert "The first 2; --limit shows more." in measured.project.run("maintenance", "tables", "--limit", "2")


def test_without_tables_it_says_so_and_a_wrong_order_is_wrong_use(project: Project) -> None:
    project.run("deploy")
    assert "sales/orders" in project.run("maintenance", "tables")
    assert "colour" in project.refused("maintenance", "tables", "--sort", "colour").message


def test_a_command_that_looks_up_other_names_loads_nothing_of_tables() -> None:
    parts = ("domain.maintenance.pattern", "scheduler.decision.maintenance", "scheduler.explain.operations")
    code = (
        "import sys, tidegate.scheduler.explain.names;"
        f" print([each for each in {parts} if f'tidegate.{{each}}' in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
