"""The ledger and the summary of `simulate` with tasks: instances are not events, what they write is."""

from collections.abc import Generator

import pytest

from tests.tidegate.project import Project
from tests.tidegate.tasks import DAY, EIGHT, NINE, SHOP, TaskProject, at
from tidegate.scheduler.model.event import Event, EventKind, partition_event_key
from tidegate.scheduler.model.run import RunStatus
from tidegate.scheduler.tick.tick import tick

TEXT = f"""{SHOP}
schedules:
  on_orders:
    program: close
    trigger: {{partitions: {{dataset: orders, count: 2}}}}
    status: active
"""

MORNING = f"""\
start: {DAY}T07:30:00Z
given:
  - {{at: +0s, partitions: {{dataset: orders, keys: ["{DAY}-06:00"]}}}}
until: +160m
"""


@pytest.fixture
def shop(project: Project) -> Generator[TaskProject, None, None]:
    """A schedule that reads what a task writes."""
    found = TaskProject(project, TEXT)
    yield found
    found.store.close()


def written(shop: TaskProject, clock: str, *hours: str) -> None:
    """Runs of `clean` have written some hours of orders."""
    now = at(clock)
    with shop.store.transaction() as transaction:
        transaction.add_events(
            [
                Event(
                    id=f"orders:{hour}",
                    kind=EventKind.PARTITION,
                    key=partition_event_key("shop", "orders"),
                    time=now,
                    arrived=now,
                    partition=f"{DAY}-{hour}",
                )
                for hour in hours
            ]
        )
    tick(shop.store, now)


def test_instances_are_no_events_whatever_becomes_of_them(tasks: TaskProject) -> None:
    tasks.reported("08:01", EIGHT)
    tasks.run_all("08:10")
    tasks.reported("09:01", NINE)
    tasks.run_all("09:10", RunStatus.FAILED)
    tasks.project.run("instances", "mark", "clean", NINE)
    tasks.project.run("backfill", "start", "revenue", "--from", "2026-03-01", "--to", "2026-03-02")
    tasks.project.run("backfill", "cancel", "1")
    tasks.project.run("schedules", "delete", "revenue", "--force")
    assert tasks.project.run("ledger") == "No event has been delivered to a schedule yet.\n"


def test_what_a_task_writes_balances_at_the_schedule_that_reads_it(shop: TaskProject) -> None:
    counts = ("landed", "pending", "running", "succeeded", "discarded")
    written(shop, "08:12", "07:00")
    (row,) = shop.project.json("ledger")
    assert row["schedule"] == "shop/on_orders"
    assert [row[name] for name in counts] == [1, 1, 0, 0, 0]
    written(shop, "09:12", "08:00")
    shop.run_all("09:13")
    (row,) = shop.project.json("ledger", "--app", "shop")
    assert [row[name] for name in counts] == [2, 0, 0, 2, 0]


def test_a_simulation_says_what_became_of_tasks_in_the_order_of_their_times(project: Project) -> None:
    project.write("shop", TEXT)
    (project.folder / "morning.yaml").write_text(MORNING)
    printed = project.run("simulate", "morning.yaml", "--app", "schedules/shop.yaml")
    assert printed.partition("\n\n")[2] == (
        f"shop at Tue {DAY} 10:10:00 UTC\n"
        "  clean: 0 launched\n"
        f"    waiting for {DAY}-08:00: W-UPSTREAM, 0 collected\n"
        f"    waiting for {DAY}-09:00: W-UPSTREAM, 0 collected\n"
        f"    waiting for {DAY}-10:00: W-UPSTREAM, 0 collected\n"
        "  feed: 0 launched\n"
        f"    waiting for {DAY}-08:00: W-REPORT, 0 collected\n"
        f"    waiting for {DAY}-09:00: W-REPORT, 0 collected\n"
        f"    waiting for {DAY}-10:00: W-REPORT, 0 collected\n"
        "  month_end: 0 launched\n"
        f"    waiting for {DAY}: W-TIME, 0 collected, looked at Tue 12:00:00\n"
        "  on_orders: 0 launched\n"
        "    events: 1 pending\n"
        "    waiting: W-TRIGGER, 1 collected\n"
        "  revenue: 0 launched\n"
        f"    waiting for {DAY}: W-TIME, 0 collected, looked at Tue 11:00:00\n"
    )
