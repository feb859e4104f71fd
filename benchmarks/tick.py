"""The cost of an idle tick with ten thousand schedules, compared with a hundred.

Two SQLite stores have schedules of which half wait for partitions and half for a cron that is
months away. Ticks alternate between the stores, so that other load affects both; the medians are
compared. The same is done with ticks that process one event. Deployments are measured too,
without a promise.
"""

import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

from benchmarks.alternate import medians
from tidegate.compiler.compile import compile_files
from tidegate.domain.model import App
from tidegate.scheduler.commands.deployment.deploy import deploy
from tidegate.scheduler.model.event import Event, EventKind, partition_event_key
from tidegate.scheduler.model.journal import By
from tidegate.scheduler.store.open import open_store
from tidegate.scheduler.store.protocol import Store
from tidegate.scheduler.tick.instant import TickReport
from tidegate.scheduler.tick.tick import tick

SCHEDULES_PER_APP = 100
FEW_APPS = 1
MANY_APPS = 100
IDLE_ROUNDS = 400
EVENT_ROUNDS = 100
TICK_STEP = timedelta(seconds=5)
RATIO_LIMIT = 2.0

START = datetime(2026, 3, 10, tzinfo=UTC)
"""All crons below are due in January or February: none within the benchmark."""

_HEAD = """\
app: {app}
datasets:
"""
_DATASET = "  raw_{n}: {{partitions: {{cycle: day, start: 2013-01-01}}}}\n"
_PROGRAM = "programs:\n  clean: {run: jobs.feeds.clean}\nschedules:\n"
_BY_DATA = """\
  by_data_{n}:
    program: clean
    trigger: {{partitions: {{dataset: raw_{n}, count: 100000}}}}
    constraints: [{{concurrency: {{max: 2}}}}, {{window: {{from: "22:00", to: "06:00"}}}}]
    status: active
"""
_BY_CRON = """\
  by_cron_{n}:
    program: clean
    trigger: {{cron: "{minute} {hour} {day} {month} *"}}
    status: active
"""


def main() -> int:
    """Measure and print.

    Returns:
        The number of broken promises.
    """
    with tempfile.TemporaryDirectory() as folder:
        few = Bench(Path(folder) / "few.db", FEW_APPS)
        many = Bench(Path(folder) / "many.db", MANY_APPS)
        _print("first deployment", few.deploy(), many.deploy())
        _print("deployment without a change", few.deploy(), many.deploy())
        few.fill()
        many.fill()
        idle = medians(few.idle_tick, many.idle_tick, IDLE_ROUNDS)
        ratio = _print("idle tick", *idle, promise=f"   (promise: at most {RATIO_LIMIT:.0f})")
        _print("tick with one event", *medians(few.event_tick, many.event_tick, EVENT_ROUNDS))
        few.store.close()
        many.store.close()
    return int(ratio > RATIO_LIMIT)


class Bench:
    """A store with its schedules, with deployments and ticks that return their seconds."""

    def __init__(self, file: Path, apps: int) -> None:
        self.apps = _apps(apps)
        self.store: Store = open_store(f"sqlite:///{file}", create=True)
        self._now = START
        self._events = 0

    def deploy(self) -> float:
        """Deploy all apps and return the seconds."""
        begun = time.perf_counter()
        with self.store.transaction() as transaction:
            deploy(transaction, self.apps, START, by=By(actor="bench"))
        return time.perf_counter() - begun

    def fill(self) -> None:
        """Add one event for each dataset, so that each schedule on data has a waiting job."""
        for app in self.apps.values():
            for dataset in app.datasets:
                self._add_event(app.name, dataset)
        report = self._tick()
        assert report.routed == report.decided == self._events, report

    def idle_tick(self) -> float:
        """Run an idle tick and return the seconds."""
        seconds, report = self._timed()
        assert report == TickReport(), report
        return seconds

    def event_tick(self) -> float:
        """Run a tick with one event, which one waiting job collects, and return the seconds."""
        apps = tuple(self.apps.values())
        app = apps[self._events % len(apps)]
        datasets = tuple(app.datasets)
        self._add_event(app.name, datasets[self._events % len(datasets)])
        seconds, report = self._timed()
        assert report == TickReport(routed=1, decided=1), report
        return seconds

    def _timed(self) -> tuple[float, TickReport]:
        begun = time.perf_counter()
        report = self._tick()
        return time.perf_counter() - begun, report

    def _tick(self) -> TickReport:
        self._now += TICK_STEP
        return tick(self.store, self._now)

    def _add_event(self, app: str, dataset: str) -> None:
        self._events += 1
        day = START.date() - timedelta(days=self._events % 1000)
        event = Event(
            id=f"e{self._events}",
            kind=EventKind.PARTITION,
            key=partition_event_key(app, dataset),
            time=self._now,
            arrived=self._now,
            partition=day.isoformat(),
        )
        with self.store.transaction() as transaction:
            transaction.add_events([event])


def _apps(count: int) -> dict[str, App]:
    files = {f"app_{n}.yaml": _text(f"app_{n}").encode() for n in range(count)}
    compilation = compile_files(files)
    assert compilation.diagnostics == (), compilation.diagnostics[:3]
    apps = [compiled.app for compiled in compilation.apps.values()]
    return {app.name: app for app in apps}


def _text(app: str) -> str:
    numbers = range(SCHEDULES_PER_APP // 2)
    return "".join(
        [
            _HEAD.format(app=app),
            *(_DATASET.format(n=n) for n in numbers),
            _PROGRAM,
            *(_BY_DATA.format(n=n) for n in numbers),
            *(
                _BY_CRON.format(n=n, minute=n % 60, hour=n % 24, day=1 + n % 28, month=1 + n % 2)
                for n in numbers
            ),
        ]
    )


def _print(what: str, few: float, many: float, promise: str = "") -> float:
    ratio = many / few
    sizes = [f"{apps * SCHEDULES_PER_APP:,}" for apps in (FEW_APPS, MANY_APPS)]
    times = f"{sizes[0]} schedules {few * 1000:8.2f} ms, {sizes[1]} schedules {many * 1000:8.2f} ms"
    print(f"{what:<28} {times}, ratio {ratio:6.2f}{promise}", flush=True)
    return ratio


if __name__ == "__main__":
    sys.exit(main())
