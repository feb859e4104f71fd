"""Reads of a full store: 10,000 schedules and 100,000 jobs, over REST and by the commands.

    REST      the whole answer of the server's application, without a socket
    command   the command in a process that has loaded it already

The aim is the median of each read. Beside them, without an aim: `/healthz` and `tidegate --version`, which
read nothing, and `tidegate store size`, which measures: it counts the rows and the pages of all tables.
"""

import contextlib
import io
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from fastapi.testclient import TestClient
from sqlalchemy import text

from benchmarks.deployed import Databases, databases, deployed, opened
from benchmarks.history import SPAN, fill
from tidegate.cli.main import application
from tidegate.project.settings.settings import load_settings
from tidegate.scheduler.store.sql.store import SqlStore
from tidegate.server.application import create_application
from tidegate.server.service import Service

SCHEDULES = 10_000
JOBS = 100_000
ROUNDS = 21
AIM_SECONDS = 0.050
PER_JOB = 10
SCHEDULE = "app_1/by_data_1"

NO_AIM = float("inf")

Read = tuple[str, Callable[[], object], float]
"""A name, what reads, and the aim in seconds."""

NS = "/v3/namespaces/default"
OTHERS = (
    "/metrics",
    "/api/v1/maintenance/plan",
    "/api/v1/maintenance/tables",
    f"{NS}/alerts",
    f"{NS}/commits",
    f"{NS}/backfills",
    f"{NS}/deployments",
    f"{NS}/gauges",
    f"{NS}/instances",
    f"{NS}/late",
    f"{NS}/ledger",
    f"{NS}/overrides",
    f"{NS}/tasks",
    f"{NS}/watermarks",
    f"{NS}/schedules/trigger-type/program-status?trigger-app-name=app_1&trigger-program-name=program_1",
)
"""Reads of the server beside those of apps, schedules and jobs."""

COMMANDS = (
    ("apps", "list"),
    ("schedules", "list"),
    ("schedules", "list", "--app", "app_1"),
    ("schedules", "show", SCHEDULE),
    ("jobs", "list"),
    ("jobs", "list", "--schedule", SCHEDULE),
    ("jobs", "list", "--dead-letters"),
    ("events", "list"),
    ("events", "list", "--schedule", SCHEDULE, "--outcome", "discarded"),
    ("deployments", "log"),
    ("instances", "list"),
    ("late",),
    ("ledger",),
    ("ledger", "--app", "app_1"),
    ("status",),
    ("doctor",),
    ("why", SCHEDULE),
)
"""Commands that read, beside those about one job."""


def main() -> int:
    """Measure and print.

    Returns:
        The number of missed aims.
    """
    missed = 0
    with databases() as places:
        for kind in ("sqlite", "postgres"):
            print(f"\n{kind}: {SCHEDULES:,} schedules, {JOBS:,} jobs")
            missed += _measured(places, kind)
    return missed


def _measured(places: Databases, kind: str) -> int:
    with (
        full_store(places, kind) as full,
        TestClient(
            create_application(full.service), base_url="http://127.0.0.1", client=("127.0.0.1", 50_000)
        ) as client,
        contextlib.chdir(full.folder),
    ):
        # Within its context the client keeps one event loop, as a server does.
        return sum(_print(*read) for read in _reads(client, full.waiting))


class Full(NamedTuple):
    """A project whose store is full.

    Attributes:
        waiting: the id of a job that waits.
    """

    service: Service
    folder: Path
    waiting: str


@contextlib.contextmanager
def full_store(places: Databases, kind: str) -> Iterator[Full]:
    """Fill a new store with `SCHEDULES` and `JOBS`; `kind` is sqlite or postgres."""
    with filled_store(places.new(kind), SCHEDULES, JOBS) as full:
        yield full


@contextlib.contextmanager
def filled_store(url: str, schedules: int, jobs: int, span: timedelta = SPAN) -> Iterator[Full]:
    """Fill a new store with schedules, at least a thousand, and with jobs of some time."""
    with opened(url) as store, TemporaryDirectory() as folder:
        deployed(store, schedules, count=PER_JOB)
        waiting = fill(store, schedules, jobs, span)
        if isinstance(store, SqlStore) and store.engine.dialect.name == "postgresql":
            # A server does so by itself, within a minute.
            with store.engine.execution_options(isolation_level="AUTOCOMMIT").connect() as connection:
                connection.execute(text("VACUUM ANALYZE"))
        (Path(folder) / "tidegate.toml").write_text(f'[store]\nurl = "{url}"\n')
        settings = load_settings(Path(folder))
        yield Full(Service(settings=settings, store=store), Path(folder), waiting)


def _reads(client: TestClient, job: str) -> Iterator[Read]:
    def rest(path: str, aim: float = AIM_SECONDS) -> Read:
        def read() -> None:
            answer = client.get(path)
            assert answer.status_code == 200, answer.text

        return f"GET {path.removeprefix(NS)}", read, aim

    def cli(*arguments: str, aim: float = AIM_SECONDS) -> Read:
        def read() -> None:
            with contextlib.redirect_stdout(io.StringIO()):
                application(list(arguments), standalone_mode=False)

        return f"tidegate {' '.join(arguments)}", read, aim

    yield rest("/healthz", NO_AIM)
    for path in OTHERS:
        yield rest(path)
    yield rest(f"{NS}/apps")
    yield rest(f"{NS}/apps/app_1/schedules")
    yield rest(f"{NS}/apps/app_1/schedules?trigger-type=cron")
    yield rest(f"{NS}/apps/app_1/schedules/by_data_1")
    yield rest(f"{NS}/apps/app_1/schedules/by_data_1/why")
    yield rest(f"{NS}/jobs")
    yield rest(f"{NS}/jobs?state=failed")
    yield rest(f"{NS}/jobs?state=pending_trigger")
    yield rest(f"{NS}/jobs?schedule=app_1/by_data_1")
    yield rest(f"{NS}/jobs?reason=W-TRIGGER")
    yield rest(f"{NS}/events?dataset=app_1/raw_1")
    yield rest(f"{NS}/events?schedule=app_1/by_data_1&outcome=failed")
    yield rest(f"{NS}/events?reason=D-TIMEOUT")
    yield rest(f"{NS}/events?job={job}")
    yield rest(f"{NS}/jobs/{job}")
    yield rest(f"{NS}/jobs/{job}/why")
    yield cli("--version", aim=NO_AIM)
    for command in COMMANDS:
        yield cli(*command)
    yield cli("jobs", "show", job)
    yield cli("why", job)
    yield cli("store", "size", aim=NO_AIM)


def _print(name: str, read: Callable[[], object], aim: float) -> int:
    times: list[float] = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        read()
        times.append(time.perf_counter() - began)
    median = statistics.median(times)
    missed = median > aim
    verdict = "" if aim == NO_AIM else f", aim {aim * 1e3:.0f} {'MISSED' if missed else 'met'}"
    print(f"  {name:62} {median * 1e3:6.1f} ms (longest {max(times) * 1e3:.0f}){verdict}", flush=True)
    return int(missed)


if __name__ == "__main__":
    sys.exit(min(main(), 1))
