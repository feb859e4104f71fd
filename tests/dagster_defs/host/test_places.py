"""The first policy does not take the machine: a real host, Dagster's queue, and its daemon of the queue.

No process is started for a run: the test ends it. Which runs there are is seen, and in which order.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

import pytest
from dagster import DagsterRun, DagsterRunStatus

from tests.dagster_defs.host.world import HostWorld, loaded_here
from tests.dagster_defs.instance import report
from tests.dagster_defs.live.live import Live
from tidegate.dagster_defs.deployed.names import ALL_ASSETS_JOB, MAINTENANCE, MEASURING
from tidegate.dagster_defs.deployed.tags import REASON
from tidegate.dagster_defs.dispatch import steps
from tidegate.dagster_defs.host import host
from tidegate.dagster_defs.host.host import Host
from tidegate.dagster_defs.internals.queue_daemon import QueuedRunCoordinatorDaemon
from tidegate.dagster_defs.maintenance.due import note_listing
from tidegate.processes.home import DEVELOPMENT
from tidegate.scheduler.explain.operations.why import explain_operations
from tidegate.scheduler.intake.tables import report_health
from tidegate.scheduler.model.deployed import APPS
from tidegate.scheduler.model.maintenance import MAINTENANCE_RECORDS, Health
from tidegate.scheduler.model.reason import Reason

pytestmark = pytest.mark.dagster

TABLES, OPERATIONS = 6, 2

ENERGY = """
app: energy
datasets:
  raw_temps:
    partitions: {hour: {cycle: hour, start: 2026-11-20-00:00}, city: [seattle, sf]}
    path: landing/temps
  temps: {format: iceberg, partitions: {cycle: hour, start: 2026-11-20-00:00}}
  DATASETS
programs:
  clean_temps: {run: live_programs.clean, reads: [raw_temps], writes: [temps]}
schedules:
  each_hour:
    program: clean_temps
    for_each: hour
    trigger: {partitions: {dataset: raw_temps, complete: hour}}
    status: active
policies:
  nightly:
    tables: "tidegate.energy.*"
    operations:
      rewrite_data_files: {interval: 1d, when: {any: [{small_file_percent: 20}], at_latest: 7d}}
      expire_snapshots: {interval: 1d, options: {older_than: 7d, retain_last: 5}}
maintenance: {poll: 1s}
""".replace("DATASETS", "\n  ".join(f"t{number}: {{format: iceberg}}" for number in range(TABLES)))
"""What matters here of a first user's project, with more tables."""

NO_PROCESSES = DEVELOPMENT.replace(
    """  module: tidegate.launcher
  class: TidegateRunLauncher
  config:
    mode: fork
""",
    """  module: dagster._core.test_utils
  class: MockedRunLauncher
""",
)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HostWorld]:
    assert "MockedRunLauncher" in NO_PROCESSES and "max_concurrent_runs: 4" in NO_PROCESSES

    def energy(live: Live) -> None:
        live.deploy_beside("energy.yaml", ENERGY, assume_published=False)

    with loaded_here(tmp_path_factory.mktemp("places"), NO_PROCESSES, energy) as world:
        yield world


@dataclass
class Contest:
    """The host and the daemon's queue, each of which does its work only when it is asked."""

    world: HostWorld
    host: Host

    def loop(self, times: int = 3) -> None:
        """Let the host work for some seconds."""
        for _ in range(times):
            self.host.loop()
            self.world.after += timedelta(seconds=1)

    def dequeue(self) -> None:
        """One look of Dagster's daemon into the queue."""
        list(QueuedRunCoordinatorDaemon(1).run_iteration(self.world.workspace))

    def publish(self) -> None:
        """Each table was written."""
        for number in range(TABLES):
            report(self.world.instance, f"t{number}", app="energy", rows=1)

    def land(self, *hours: int) -> None:
        """Hours of both cities."""
        for hour in hours:
            for city in ("seattle", "sf"):
                report(self.world.instance, "raw_temps", f"{city}|2026-11-20-{hour:02}:00", "energy", rows=10)

    def measure(self) -> None:
        """The measuring run ends: it has found no other tables, and half of the files are small."""
        now = self.world.location.clock()
        found = Health(measured_at=now, values={"files": 40.0, "small_file_percent": 50.0, "snapshots": 9.0})
        with self.world.live.store.transaction() as transaction:
            report_health(transaction, {f"energy/t{number}": found for number in range(TABLES)}, now)
            apps = [each.app for each in transaction.records(APPS)]
            note_listing(transaction, apps, self.world.location.project, now)
        self.end(MEASURING)

    def end(self, *jobs: str) -> None:
        """End the runs of some jobs of Dagster that have begun, so that none is tried again."""
        for run in self.runs(DagsterRunStatus.STARTING):
            if run.job_name in jobs:
                self.world.instance.report_run_canceled(run)

    def runs(self, *statuses: DagsterRunStatus) -> list[DagsterRun]:
        """The runs of these states, the oldest first."""
        records = sorted(self.world.instance.get_run_records(), key=lambda each: each.storage_id)
        return [each.dagster_run for each in records if each.dagster_run.status in statuses]

    def seen(self) -> tuple[list[str], list[str]]:
        """The jobs of the runs that have a place, and of those in the queue."""
        begun, queued = self.runs(DagsterRunStatus.STARTING), self.runs(DagsterRunStatus.QUEUED)
        return [run.job_name for run in begun], [run.job_name for run in queued]

    def expect(self, begun: list[str], queued: list[str]) -> None:
        """Let the host work until these runs are there."""
        for _ in range(10):
            self.loop(1)
            if self.seen() == (begun, queued):
                return
        assert self.seen() == (begun, queued)

    def waiting(self) -> set[str]:
        """The tables with an operation that waits for a place."""
        with self.world.live.store.reading() as reader:
            found = reader.records(MAINTENANCE_RECORDS)
        return {each.table for each in found if each.reason is Reason.M_PLACES}

    def expect_all_begun(self) -> None:
        """Let each run end once it has begun, until no operation waits for a place.

        The end of an operation makes the store forget what was measured, and where not all have a place a
        table waits to be measured again: so the measuring runs have to end too.
        """
        for _ in range(2 * OPERATIONS * TABLES):
            self.end(MAINTENANCE)
            if MEASURING in self.seen()[0]:
                self.measure()
            self.loop()
            if not self.waiting():
                return
        assert self.waiting() == set()

    def why(self, table: str) -> set[str]:
        """What `why` of a table begins with."""
        with self.world.live.store.reading() as reader:
            found = explain_operations(reader, table, self.world.location.clock())
        return {each.headline for each in found}


@pytest.fixture
def contest(shared: HostWorld, monkeypatch: pytest.MonkeyPatch) -> Contest:
    """The clock begins at this time: no run is taken for one that has not begun for too long.

    A loop is a second, however long it takes: it always counts the runs, and always may measure.
    """
    monkeypatch.setattr(steps, "PLACES_SECONDS", 0)
    monkeypatch.setattr(host, "MEASURING_SECONDS", 0)
    return Contest(shared, shared.host())


def test_the_first_pipeline_run_starts_at_once_and_operations_wait_for_the_queue(contest: Contest) -> None:
    contest.loop()
    (listing,) = contest.runs(DagsterRunStatus.STARTING)
    assert listing.tags[REASON] == "list the tables of catalogs", "nothing else: no table was published"
    contest.publish()
    contest.expect([MEASURING], [])

    contest.measure()
    contest.land(0)
    contest.expect([ALL_ASSETS_JOB, MAINTENANCE, MAINTENANCE], [])
    contest.loop()  # the pipeline was created first, and half of the places stay free
    assert len(contest.waiting()) == TABLES - 2
    (idle, *_) = sorted(contest.waiting())
    assert contest.why(idle) == {
        "M-PLACES: 3 of 4 places (`max_concurrent_runs` of dagster.yaml) taken; an operation needs 2 free"
    }

    contest.land(1, 2, 3)
    begun = [ALL_ASSETS_JOB, MAINTENANCE, MAINTENANCE, ALL_ASSETS_JOB]
    contest.expect(begun, [ALL_ASSETS_JOB] * 2)
    contest.end(MAINTENANCE)
    contest.loop()
    assert contest.seen() == ([ALL_ASSETS_JOB] * 2, [ALL_ASSETS_JOB] * 2), "half is free, and two are queued"
    assert contest.why(idle) == {
        "M-PLACES: 2 runs of pipelines are queued for one of 4 places (`max_concurrent_runs` of dagster.yaml)"
    }

    contest.dequeue()
    contest.expect([ALL_ASSETS_JOB] * 4, [])
    contest.end(ALL_ASSETS_JOB)
    contest.expect([MAINTENANCE] * 3, [])
    contest.expect_all_begun()
