"""Two apps in one store: a deploy of one leaves the other alone, groups and gauges are shared."""

from datetime import datetime

import pytest

from tests.worlds.by import CLI
from tests.worlds.world import app_of, at
from tidegate.domain.model import App
from tidegate.scheduler.commands.by_hand.manual import suspend
from tidegate.scheduler.commands.deployment.deploy import deploy
from tidegate.scheduler.commands.gauge import report_gauges
from tidegate.scheduler.model.event import Event, EventKind, partition_event_key
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.store.memory.store import MemoryStore
from tidegate.scheduler.tick.tick import tick

HEAD = """
app: {name}
datasets: {{raw: {{partitions: {{cycle: day, start: 2013-01-01}}}}}}
groups: {{cluster: shared by all}}
programs: {{p: {{run: programs.p}}}}
schedules:
"""

PLAIN = "s: {program: p, status: active, trigger: {partitions: {dataset: raw}}"


def app(name: str, schedules: str) -> App:
    return app_of(schedules, HEAD.format(name=name))


class Apps:
    """Apps of one store."""

    def __init__(self, **schedules: str) -> None:
        self.store = MemoryStore()
        self.deploy("00:00", **schedules)

    def deploy(self, clock: str, **schedules: str) -> None:
        """Deploy these apps, all others being removed."""
        with self.store.transaction() as transaction:
            deploy(
                transaction, {name: app(name, text) for name, text in schedules.items()}, at(clock), by=CLI
            )

    def arrive(self, clock: str, name: str, key: str = "2026-03-09") -> None:
        """A partition of an app's dataset arrives."""
        now: datetime = at(clock)
        event = Event(
            id=f"{name}:{key}",
            kind=EventKind.PARTITION,
            key=partition_event_key(name, "raw"),
            time=now,
            arrived=now,
            partition=key,
        )
        with self.store.transaction() as transaction:
            transaction.add_events([event])

    def jobs(self) -> list[Job]:
        with self.store.reading() as reader:
            return sorted(reader.jobs(), key=lambda job: job.schedule)

    def outcomes(self) -> list[tuple[str, str, str | None]]:
        return [(job.schedule, str(job.state), job.reason and str(job.reason)) for job in self.jobs()]


TWO = PLAIN.replace("raw}", "raw, count: 2}") + "}"


@pytest.mark.parametrize(
    ("sentence", "after", "state"),
    [
        ("changed", {"a": TWO, "b": TWO.replace("count: 2", "count: 3")}, ("DISCARDED", "D-UPDATED")),
        ("without its schedule", {"a": TWO, "b": "{}"}, ("DISCARDED", "D-DELETED")),
        ("removed", {"a": TWO}, ("DISCARDED", "D-DELETED")),
    ],
)
def test_one_app_is_deployed_and_the_other_goes_on(sentence, after, state):
    apps = Apps(a=TWO, b=TWO)
    for name in "ab":
        apps.arrive("10:00", name)
    tick(apps.store, at("10:00"))
    apps.deploy("11:00", **after)
    apps.arrive("12:00", "a", "2026-03-08")
    apps.arrive("12:00", "b", "2026-03-08")
    tick(apps.store, at("12:00"))
    found = apps.outcomes()
    assert found[0] == ("a/s", "PENDING_LAUNCH", None)
    assert found[1] == ("b/s", *state)


def test_an_event_of_one_app_is_none_of_the_other():
    apps = Apps(a=PLAIN + "}", b=PLAIN + "}")
    apps.arrive("10:00", "a")
    tick(apps.store, at("10:00"))
    assert apps.outcomes() == [("a/s", "PENDING_LAUNCH", None)]


def test_suspending_one_suspends_no_namesake():
    apps = Apps(a=PLAIN + "}", b=PLAIN + "}")
    with apps.store.transaction() as transaction:
        suspend(transaction, "a/s", at("09:00"), by=CLI)
    apps.arrive("10:00", "a")
    apps.arrive("10:00", "b")
    tick(apps.store, at("10:00"))
    assert apps.outcomes() == [("b/s", "PENDING_LAUNCH", None)]


def test_a_group_is_shared_and_a_discarded_launch_of_one_app_lets_the_other_run():
    grouped = PLAIN + ", constraints: [{concurrency: {max: 1, group: cluster}}]}"
    apps = Apps(a=grouped, b=grouped)
    apps.arrive("10:00", "a")
    tick(apps.store, at("10:00"))
    apps.arrive("10:01", "b")
    tick(apps.store, at("10:01"))
    assert apps.outcomes()[1] == ("b/s", "PENDING_CONSTRAINT", "W-CONCURRENCY")
    apps.deploy("11:00", b=grouped)
    tick(apps.store, at("11:00"))
    assert apps.outcomes() == [("a/s", "DISCARDED", "D-DELETED"), ("b/s", "PENDING_LAUNCH", None)]


def test_a_gauge_is_shared():
    loaded = PLAIN + ", constraints: [{load: {gauge: cpu, max: 80}}]}"
    apps = Apps(a=loaded, b=loaded)
    with apps.store.transaction() as transaction:
        report_gauges(transaction, {"cpu": 90}, at("09:00"), by=CLI)
    apps.arrive("10:00", "a")
    apps.arrive("10:00", "b")
    tick(apps.store, at("10:00"))
    assert [reason for _, _, reason in apps.outcomes()] == ["W-LOAD", "W-LOAD"]
    with apps.store.transaction() as transaction:
        report_gauges(transaction, {"cpu": 10}, at("10:05"), by=CLI)
    tick(apps.store, at("10:05"))
    assert [state for _, state, _ in apps.outcomes()] == ["PENDING_LAUNCH", "PENDING_LAUNCH"]


def test_an_app_that_comes_back_begins_anew():
    apps = Apps(a=TWO, b=TWO)
    apps.arrive("10:00", "a")
    tick(apps.store, at("10:00"))
    apps.deploy("11:00", b=TWO)
    apps.arrive("11:30", "a", "2026-03-08")
    tick(apps.store, at("11:30"))
    apps.deploy("12:00", a=TWO, b=TWO)
    apps.arrive("12:30", "a", "2026-03-07")
    tick(apps.store, at("12:30"))
    assert [outcome[1:] for outcome in apps.outcomes()] == [
        ("DISCARDED", "D-DELETED"),
        ("PENDING_TRIGGER", "W-TRIGGER"),
    ]
