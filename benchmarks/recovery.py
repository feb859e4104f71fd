"""How long rows are late when something dies: a run before or after its commit is put, or all at once.

A real daemon and code server run a program that publishes one row for each landed day into a Parquet dataset.
Each case is measured from the kill to the moment at which a reader of the folder sees the rows, beside an
undisturbed day, which is measured from its report. After everything has died, daemon and code server are
started again, a new day is landed, and its rows are waited for.
"""

import os
import signal
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import tidegate.read
from tests.environments import having
from tidegate.cli.develop.plan import compiled_apps
from tidegate.cli.printing import Format
from tidegate.processes.dagster import DagsterProcesses
from tidegate.processes.home import site_of
from tidegate.project.settings.settings import load_settings
from tidegate.scheduler.commands.deployment.deploy import deploy
from tidegate.scheduler.model.journal import By
from tidegate.scheduler.store.open import open_store

ROUNDS = 3
LIMIT_SECONDS = 120.0
"""After any crash the system works again within two minutes without a person."""

GIVE_UP_SECONDS = 180.0
LOOK_SECONDS = 0.05
FIRST_DAY = date(2026, 1, 1)

SETTINGS = '[spark]\nmaster = "local[1]"\n[warehouse]\ndefault_format = "parquet"\n'
SCHEDULES = """
app: bench
datasets:
  raw: {path: landing/raw, partitions: {cycle: day, start: 2026-01-01}}
  copied: {partitions: {cycle: day, start: 2026-01-01}}
programs:
  copy: {run: programs.copy, reads: [raw], writes: [copied]}
schedules:
  each_day: {program: copy, trigger: {partitions: {dataset: raw}}, for_each: day, status: active}
"""
PROGRAM = '''
import os
import signal
import time
from pathlib import Path

from tidegate.spark_jobs.commit import publish


def die(*_):
    Path("died").write_text(str(time.time()))
    os.kill(os.getpid(), signal.SIGKILL)


def run(spark, inputs, params):
    """Copies a day, or does what the file named `fate` says, once."""
    fate = Path("fate").read_text() if Path("fate").exists() else ""
    Path("fate").unlink(missing_ok=True)
    if fate == "before the put":
        die()
    if fate == "after the put":
        publish.finish = die
    if fate == "everything":
        Path("died").write_text(str(time.time()))
        time.sleep(3600)
    return inputs["raw"]
'''


class Bench:
    """A project with Dagster running on it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "tidegate.toml").write_text(SETTINGS)
        for name, text in (("schedules/bench.yaml", SCHEDULES), ("programs/copy.py", PROGRAM)):
            (folder / name).parent.mkdir()
            (folder / name).write_text(text)
        self._settings = load_settings(folder)
        self.site = site_of(self._settings)
        self.processes = DagsterProcesses(self.site)
        self._days = 0

    def start(self) -> None:
        """Deploy the schedule, and start the code server and the daemon."""
        store = open_store(self._settings.store_url)
        with store.transaction() as transaction:
            apps = compiled_apps(self._settings, Format.TEXT)
            deploy(transaction, apps, datetime.now(UTC), by=By(actor="bench"))
        store.close()
        self.start_processes()

    def start_processes(self) -> None:
        """Start the code server and the daemon."""
        self._code_server = self.processes.start_code_server()
        self._daemon = self.processes.start_daemon()

    def kill_everything(self) -> None:
        """End the daemon, the code server, the runs and their JVMs, as a power cut does."""
        for process in (self._daemon, self._code_server):
            process.signal_group(signal.SIGKILL)
        for pid in having("DAGSTER_HOME", self.site.home):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self._daemon.wait(10)
        self._code_server.wait(10)

    def land(self, fate: str = "") -> str:
        """Land and report the next day, whose first run meets a fate; return its partition key."""
        import pyarrow as pa
        import pyarrow.parquet as pq
        from dagster import AssetMaterialization, DagsterInstance

        day = (FIRST_DAY + timedelta(days=self._days)).isoformat()
        self._days += 1
        if fate:
            (self.folder / "fate").write_text(fate)
        (self.folder / "died").unlink(missing_ok=True)
        place = self.folder / "landing" / "raw" / f"day={day}"
        place.mkdir(parents=True)
        pq.write_table(pa.table({"number": [1]}), place / "rows.parquet")
        with DagsterInstance.from_config(str(self.site.home)) as instance:
            instance.report_runless_asset_event(AssetMaterialization(["bench", "raw"], partition=day))
        return day

    def visible(self, day: str) -> bool:
        """Return whether a reader of the folder sees the rows of a day."""
        with suppress(FileNotFoundError):
            return bool(tidegate.read.files(str(self.folder / "warehouse/bench/copied"), [day]))
        return False

    def died_at(self) -> float:
        """Wait until the run has met its fate; return when that was."""
        self._until(lambda: (self.folder / "died").exists() and (self.folder / "died").read_text() != "")
        return float((self.folder / "died").read_text())

    def seen_after(self, began: float, day: str) -> float:
        """Wait until the rows of a day are visible; return the seconds since a moment."""
        self._until(lambda: self.visible(day))
        return time.time() - began

    def _until(self, reached: Callable[[], bool]) -> None:
        deadline = time.monotonic() + GIVE_UP_SECONDS
        while not reached():
            if time.monotonic() > deadline:
                raise TimeoutError(f"nothing for {GIVE_UP_SECONDS:.0f} s; the logs are in {self.site.logs}")
            time.sleep(LOOK_SECONDS)


def undisturbed(bench: Bench) -> float:
    """Return the seconds from the report of a day to its rows."""
    began = time.time()
    return bench.seen_after(began, bench.land())


def run_killed(bench: Bench, fate: str) -> float:
    """Return the seconds from the death of a run to its rows."""
    day = bench.land(fate)
    died = bench.died_at()
    if bench.visible(day):
        raise AssertionError(f"the rows of {day} were published before the run died")
    return bench.seen_after(died, day)


def everything_killed(bench: Bench) -> float:
    """Return the seconds from the death of everything to the rows of a day that is landed after it."""
    bench.land("everything")
    bench.died_at()
    bench.kill_everything()
    began = time.time()
    bench.start_processes()
    return bench.seen_after(began, bench.land())


CASES: dict[str, Callable[[Bench], float]] = {
    "undisturbed, from the report": undisturbed,
    "run killed before the put": lambda bench: run_killed(bench, "before the put"),
    "run killed after the put": lambda bench: run_killed(bench, "after the put"),
    "everything killed, until the next new day": everything_killed,
}


def main() -> int:
    """Print the latencies; return 1 if one is longer than two minutes."""
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        bench = Bench(Path(folder))
        with bench.processes:
            bench.start()
            undisturbed(bench)  # the first run waits for the daemon's first tick
            seconds = {name: [case(bench) for _ in range(ROUNDS)] for name, case in CASES.items()}
    usual = statistics.median(next(iter(seconds.values())))
    print(f"{'until the rows are visible':45s} {'median':>8s} {'longest':>8s} {'ratio':>6s}")
    for name, found in seconds.items():
        median = statistics.median(found)
        print(f"{name:45s} {median:6.1f} s {max(found):6.1f} s {median / usual:6.2f}")
    return int(max(map(max, seconds.values())) > LIMIT_SECONDS)


if __name__ == "__main__":
    sys.exit(main())
