"""One real Dagster for all cases: a daemon, a code server and an instance on disk."""

import shutil
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import TypeVar

import msgspec
from dagster import DagsterInstance
from dagster._core.scheduler.instigation import InstigatorTick, TickData, TickStatus
from dagster_shared.serdes import deserialize_value

from tests import tally
from tests.real_daemon.gate import CLOSED, Gate, Order
from tests.real_daemon.location import CASES, FOLDER_VARIABLE, Place
from tidegate.processes.dagster import DagsterProcesses
from tidegate.processes.site import Site
from tidegate.scheduler.store.open import open_store
from tidegate.scheduler.store.sql.open import open_sql_store
from tidegate.scheduler.store.sql.store import SqlStore

WAIT_SECONDS = 240
POLL_SECONDS = 0.1
SEEN_SECONDS = 2

SETTINGS = """
telemetry: {enabled: false}
instance_class: {module: tidegate.dagster_defs.sqlite, class: SqliteInstance}
sensors: {use_threads: true, num_workers: WORKERS}
run_coordinator: {module: dagster._core.run_coordinator, class: DefaultRunCoordinator}
run_launcher: {module: tests.real_daemon.launcher, class: NoProcessLauncher}
run_monitoring: {enabled: false}
compute_logs: {module: dagster._core.storage.noop_compute_log_manager, class: NoOpComputeLogManager}
"""

T = TypeVar("T")


class RealDagster:
    """Dagster's processes on a folder, which start once every case has deployed its app."""

    def __init__(self, folder: Path, names: Sequence[str]) -> None:
        self._folder = folder
        self._ticks = folder / "dagster" / "schedules" / "schedules.db"
        home = folder / "dagster"
        home.mkdir(parents=True)
        workers = len(names) + 4
        (home / "dagster.yaml").write_text(SETTINGS.replace("WORKERS", str(workers)))
        self._processes = DagsterProcesses(
            Site(
                project=folder,
                home=home,
                logs=folder / "logs",
                environment={
                    FOLDER_VARIABLE: str(folder),
                    "DAGSTER_SENSOR_GRPC_TIMEOUT_SECONDS": str(WAIT_SECONDS),
                    "DAGSTER_GRPC_MAX_WORKERS": str(workers + 8),
                    "DAGSTER_CODE_SERVER_MAX_WORKERS": str(workers + 8),
                },
                module="tests.real_daemon.location",
            )
        )
        self.instance = DagsterInstance.from_config(str(home))
        self._deployed = threading.Barrier(len(names) + 1)
        self._ready = threading.Event()
        self._stopped = False
        self._reloads = threading.Condition()
        self._ticking = 0
        places = [Place(name=name, root=str(folder / name)) for name in names]
        self._places = {place.name: place for place in places}
        (folder / CASES).write_bytes(msgspec.json.encode(places))
        self._make_stores(places)
        self._gates = {place.name: Gate(place.folder) for place in places}

    def _make_stores(self, places: Sequence[Place]) -> None:
        """An empty store for each case; its tables are created once and copied."""
        empty = self._folder / "empty.db"
        open_store(f"sqlite:///{empty}").close()
        for place in places:
            place.folder.mkdir()
            shutil.copy(empty, place.folder / "store.db")

    def store(self, name: str) -> SqlStore:
        """Open the store of a case."""
        return open_sql_store(self._places[name].store_url, create=False)

    def place(self, name: str) -> Place:
        return self._places[name]

    def start(self) -> None:
        """Start the processes as soon as every case has deployed its app."""
        self._deployed.wait(WAIT_SECONDS)
        self._processes.__enter__()
        self._processes.start_code_server()
        self._processes.start_daemon()
        tally.take_part("Dagster")
        self._ready.set()

    def deployed(self) -> None:
        """Wait until the processes run with what the caller has deployed."""
        self._deployed.wait(WAIT_SECONDS)
        self.until("Dagster", lambda: self._ready.is_set() or None)

    def stop(self) -> None:
        """Stop the processes."""
        self._deployed.abort()
        self._stopped = True
        self._close_gates()
        self._processes.__exit__(None, None, None)
        self.instance.dispose()
        for gate in self._gates.values():
            gate.dispose()

    def _close_gates(self) -> None:
        (self._folder / CLOSED).touch()
        for gate in self._gates.values():
            gate.wake()

    def tick(self, name: str, order: Order) -> InstigatorTick:
        """Let the dispatcher of a case tick once, and return the tick when the daemon has done with it."""
        with self._reloads:
            self._ticking += 1
        try:
            return self._tick(name, order)
        finally:
            with self._reloads:
                self._ticking -= 1
                self._reloads.notify_all()

    def reload(self) -> None:
        """Load what is deployed now, as a person does after a deployment, while no ordered tick works."""
        with self._reloads:
            assert self._reloads.wait_for(lambda: not self._ticking, WAIT_SECONDS), "the ticks do not end"
            # No evaluation of the old server may be left to take an order.
            self._close_gates()
            time.sleep(SEEN_SECONDS)
            self._processes.reload()
            # The daemon asks the code server each second whether it is another one.
            time.sleep(SEEN_SECONDS)
            (self._folder / CLOSED).unlink()

    def _tick(self, name: str, order: Order) -> InstigatorTick:
        gate = self._gates[name]
        gate.order(order)
        receipt = self.until(f"tick {order.serial} of {name}", lambda: gate.receipt(order.serial))
        return self.until(f"the end of tick {order.serial} of {name}", lambda: self._ended(receipt.tick))

    def _ended(self, tick: int) -> InstigatorTick | None:
        # Dagster's storage makes an engine for each question, too costly for one that is repeated.
        with closing(sqlite3.connect(f"file:{self._ticks}?mode=ro", uri=True, timeout=30)) as connection:
            row = connection.execute("SELECT tick_body FROM job_ticks WHERE id = ?", (tick,)).fetchone()
        found = None if row is None else InstigatorTick(tick, deserialize_value(row[0], TickData))
        return None if found is None or found.status is TickStatus.STARTED else found

    def until(self, what: str, look: Callable[[], T | None]) -> T:
        """Look again and again until there is something to see."""
        deadline = time.monotonic() + WAIT_SECONDS
        while (found := look()) is None:
            assert not self._stopped, f"{what}: Dagster was stopped"
            dead = self._processes.dead()
            assert dead is None, dead and dead.failed("has ended")
            assert time.monotonic() < deadline, f"{what}: not within {WAIT_SECONDS} s"
            time.sleep(POLL_SECONDS)
        return found
