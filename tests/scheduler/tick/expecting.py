"""A world with a dataset that has a deadline."""

from datetime import UTC, datetime, timedelta

from tests.worlds.world import World, app_of, at
from tidegate.scheduler.model.event import Event, EventKind, partition_event_key
from tidegate.scheduler.model.journal import Entry
from tidegate.scheduler.model.records.expected import ExpectedPeriod
from tidegate.scheduler.store.protocol import Store
from tidegate.scheduler.store.wanted import LateWanted
from tidegate.scheduler.tick.instant import TickReport
from tidegate.scheduler.tick.tick import tick

SCHEDULES = """
s:
  program: p
  trigger: {partitions: {dataset: raw}}
  status: active
"""
HEAD = """app: a
timezone: {zone}
datasets:
  raw: {raw}
programs:
  p: {{run: programs.p, reads: [raw]}}
schedules:
"""
DAILY = "{partitions: {cycle: day, start: 2026-01-01}, deadline: '08:00'}"
BY_SHOP = "{partitions: {day: {cycle: day, start: 2026-01-01}, shop: [north, south]}, deadline: '08:00'}"


class Expecting(World):
    """A world with a dataset that has a deadline."""

    def __init__(self, raw: str, zone: str = "UTC", store: Store | None = None) -> None:
        self.compiled = lambda text: app_of(text, HEAD.format(raw=raw, zone=zone))
        super().__init__(SCHEDULES, store=store)

    def tick(self, clock: str) -> TickReport:
        """The scheduler has worked for some minutes when it ticks; `return_at` lets it return."""
        tick(self.store, at(clock) - timedelta(minutes=5))
        return self.return_at(clock)

    def return_at(self, clock: str) -> TickReport:
        return super().tick(clock)

    def late(self) -> list[tuple[str, str]]:
        """When each period was late."""
        return [(shown(each.at), each.data["key"]) for each in self.entries("late")]

    def entries(self, kind: str) -> list[Entry]:
        return [entry for entry in self.journal() if entry.kind == kind]

    def change(self, clock: str, raw: str) -> None:
        """The dataset is deployed in another way."""
        self.compiled = lambda text: app_of(text, HEAD.format(raw=raw, zone="UTC"))
        self.redeploy(clock, SCHEDULES)

    def land(self, happened: str, arrived: str, key: str) -> None:
        """A partition that has landed is reported later."""
        event = Event(
            id=f"{happened} {key}",
            kind=EventKind.PARTITION,
            key=partition_event_key("a", "raw"),
            time=at(happened),
            arrived=at(arrived),
            partition=key,
        )
        with self.store.transaction() as transaction:
            transaction.add_events([event])


def shown(instant: datetime) -> str:
    return f"{instant.astimezone(UTC):%m-%d %H:%M}"


def late_now(world: World) -> tuple[ExpectedPeriod, ...]:
    with world.store.reading() as reader:
        return reader.late_periods(LateWanted(now=True), 100)
