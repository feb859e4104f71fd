"""An app with policies for tables, for the tests of the server, and what happens to its tables."""

from typing import Any

from tests.server.sales import deployed
from tests.server.serving import Served
from tidegate.domain.maintenance.measures import HEALTHY
from tidegate.scheduler.intake.tables import TableFound, report_gone, report_health, report_tables
from tidegate.scheduler.launch.outbox import offer_launches
from tidegate.scheduler.launch.run_report import claim, end_operation
from tidegate.scheduler.model.maintenance import Ended, Ending, Health

API = "/api/v1"
TRIGGER, HISTORY, PLAN = (f"{API}/maintenance/{name}" for name in ("trigger", "history", "plan"))

ORDERS, EVENTS, REPORT = "warehouse.analytics.orders", "warehouse.analytics.events", "yard/report"

YARD: dict[str, Any] = {
    "app": "yard",
    "datasets": {"raw": {}, "report": {}},
    "policies": {
        "nightly": {
            "tables": ["warehouse.analytics.*", REPORT],
            "operations": {
                "rewrite_data_files": {
                    "interval": "1d",
                    "when": {
                        "all": [{"small_file_percent": 20}, {"small_files": 100}],
                        "min_interval": "1h",
                        "at_latest": "2d",
                    },
                },
                "expire_snapshots": {
                    "interval": "1d",
                    "window": {"from": "20:00", "to": "22:00"},
                    "options": {"older_than": "7d", "retain_last": 5},
                },
            },
        },
        "idle": {"tables": ORDERS, "enabled": False, "operations": {"rewrite_manifests": {}}},
        "empty": {"tables": "yard/raw", "operations": {}},
    },
    "maintenance": {"auto_pools": {"spark": 1}},
}


def yard(server: Served) -> None:
    """Deploy the app; the catalog has two tables."""
    deployed(server, YARD)
    with server.store.transaction() as transaction:
        report_tables(transaction, [TableFound(catalog_name=each) for each in (ORDERS, EVENTS)], server.now)


def found(server: Served, table: str) -> None:
    """A table of a catalog is listed."""
    with server.store.transaction() as transaction:
        report_tables(transaction, [TableFound(catalog_name=table)], server.now)


def gone(server: Served, table: str) -> None:
    """A table is dropped."""
    with server.store.transaction() as transaction:
        report_gone(transaction, [table], server.now)


def measured(server: Served, table: str, **values: float) -> None:
    """A table is measured; what is not named is healthy."""
    with server.store.transaction() as transaction:
        health = Health(measured_at=server.now, values={**HEALTHY, **values})
        report_health(transaction, {table: health}, server.now)


def run_ends(server: Served, ending: Ending = Ending.SUCCEEDED) -> str:
    """The only decided launch of an operation gets its run, which ends; return the job."""
    with server.store.transaction() as transaction:
        offered = offer_launches(transaction, server.now, YARD["app"])
    (request,) = [each for each in offered if each.maintenance]
    assert claim(server.store, request.job, request.attempt, f"run-of-{request.job}", server.now).won
    with server.store.transaction() as transaction:
        assert end_operation(transaction, request.job, 1, Ended(ending=ending), server.now)
    return request.job
