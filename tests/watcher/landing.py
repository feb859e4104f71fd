"""A landing folder with a watcher, whose clocks a test moves."""

import os
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from tests.doubles.clock import Clock
from tests.doubles.reference.store import ReferenceStore
from tests.scheduler.commands.test_deploy import NOW
from tests.worlds.by import CLI
from tests.worlds.world import compiled_app
from tidegate.domain.model import App
from tidegate.scheduler.commands.deployment.deploy import deploy
from tidegate.scheduler.model.event import Event
from tidegate.scheduler.store.protocol import Store
from tidegate.spark_jobs.datasets.dataset_ref import Warehouse
from tidegate.watcher.look import Look, Place
from tidegate.watcher.watching import Site, watched_of

APP = """
app: shop
datasets:
  orders:
    path: landing/orders
    partitions: {{day: {{cycle: day, start: 2026-01-01}}, region: [north, south]}}
    watch: {watch}
  flags: {{path: landing/flags, watch: {watch}}}
programs:
  copy: {{run: programs.copy, reads: [orders, flags]}}
schedules:
  copy_a_day:
    program: copy
    for_each: day
    trigger: {{partitions: {{dataset: orders}}}}
    status: active
"""
NORTH, SOUTH = "2026-03-09|north", "2026-03-09|south"


def app(watch: str = "true") -> App:
    """The app, whose datasets are watched so."""
    return compiled_app(APP.format(watch=watch))


@dataclass
class Landing:
    """A project's folder, and looks at one of its datasets.

    Attributes:
        said: what the looks have logged.
    """

    path: Path
    watch: str = "true"
    dataset: str = "shop/orders"
    store: Store = field(default_factory=ReferenceStore)
    clock: Clock = field(default_factory=Clock)
    said: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.root.mkdir(parents=True, exist_ok=True)
        self.deploy()
        self.look = self.restarted()

    @property
    def root(self) -> Path:
        return self.path / "landing" / self.dataset.removeprefix("shop/")

    @property
    def site(self) -> Site:
        warehouse = Warehouse(path=self.path / "warehouse", project=self.path)
        return Site("", warehouse, Place({}, {}), 10, lambda: NOW + timedelta(seconds=self.clock.now))

    def deploy(self, watch: str | None = None) -> None:
        with self.store.transaction() as transaction:
            deploy(transaction, {"shop": app(watch or self.watch)}, NOW, by=CLI)

    def restarted(self) -> Look:
        """A look of a process that remembers nothing."""
        found = {each.id: each for each in watched_of(self.site, [app(self.watch)])}
        site = self.site
        self.look = Look(found[self.dataset], site.place, self.said.append, site.clock, self.clock)
        return self.look

    def land(
        self,
        name: str,
        content: str = "12345",
        folder: str = "day=2026-03-09/region=north",
        *,
        whole: bool = True,
    ) -> Path:
        """Write a file, at a time of its own; what is not empty ends as a Parquet file does."""
        file = self.root / folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{content}PAR1"[-max(len(content), 4) :] if whole and content else content)
        self.clock.let_pass(0.25)
        stamp = int(1_000_000_000 + self.clock.now * 1000) * 1_000_000
        os.utime(file, ns=(stamp, stamp))
        return file

    def after(self, seconds: float = 10) -> tuple[str, ...]:
        """What a look after some seconds reports."""
        self.clock.let_pass(seconds)
        return self.look.run(self.store)

    def settled(self) -> tuple[str, ...]:
        """What two looks report, between which the files settle."""
        first = self.after(10)
        return (*first, *self.after(10))

    def events(self) -> list[tuple[str, int | None]]:
        """Partition and bytes of each event, in the order of arrival."""
        with self.store.reading() as reader:
            found: list[Event] = sorted(
                reader.events(key_prefix="partition:"), key=lambda e: (e.arrived, e.id)
            )
        return [(each.partition or "", each.bytes) for each in found]
