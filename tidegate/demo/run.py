"""The run of the demo: lint and deploy, start the daemon, land files, and wait for completion.

It ends when all jobs are finished, or at a deadline with an error that names the missing step.
Its manual steps are those of a user: it lands files, and at the end triggers the weekly report as
if it were Monday, so that the report takes the remaining days.
"""

import dataclasses
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from types import TracebackType

from dagster import DagsterInstance

from tidegate.cli.develop.plan import compiled_apps
from tidegate.cli.printing import Format
from tidegate.demo.class_archive import archive_file, java_options
from tidegate.demo.feed import Chunk
from tidegate.demo.landing import Landing
from tidegate.demo.project import WINDOW_WAIT_MAX
from tidegate.domain.error import UserError
from tidegate.domain.model import Operation
from tidegate.processes.dagster import DagsterProcesses
from tidegate.processes.home import site_of
from tidegate.project.settings.settings import Settings
from tidegate.scheduler.commands.backfills.request import Wanted
from tidegate.scheduler.commands.backfills.start import start_backfill
from tidegate.scheduler.commands.by_hand.manual import trigger
from tidegate.scheduler.commands.deployment.deploy import deploy
from tidegate.scheduler.commands.maintain import run_by_hand
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.job import FINISHED, Job, JobState
from tidegate.scheduler.model.journal import By
from tidegate.scheduler.model.maintenance import Ending, OperationRun
from tidegate.scheduler.store.open import open_store

SETTLE_SECONDS = 1200
"""A run takes about 10 s of a core, the default demo has about 25 runs, and the machine may be slow."""

POLL_SECONDS = 0.5

BUSY_SECONDS = 300
"""Dagster's timeout for its code server; with its default, a minute, runs fail on a slow machine."""

BACKFILLED_DAYS = 3

TOTALS, GATE = "daily_totals", "flights_complete"
WEEKLY = "flights/carrier_report_weekly"
REFERENCE = "flights/refresh_reference_nightly"
LOG = "flights/weather_log"

BY = By(actor="demo")
"""The actor of its changes in the journal."""


class Demo:
    """The running example project. Leaving the context stops every process."""

    def __init__(self, settings: Settings, watch: Callable[["Demo"], None] = lambda demo: None) -> None:
        """`watch` is called at every poll; it prints progress, or injects faults in a test."""
        self.settings = settings
        self.store = open_store(settings.store_url)
        site = site_of(settings)
        environment = {
            "JDK_JAVA_OPTIONS": java_options(archive_file()),
            "DAGSTER_GRPC_TIMEOUT_SECONDS": str(BUSY_SECONDS),
        }
        self.site = dataclasses.replace(site, environment={**site.environment, **environment})
        self.processes = DagsterProcesses(self.site)
        self._watch = watch
        self._landed_at = datetime.now(UTC)

    def __enter__(self) -> "Demo":
        self.processes.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.processes.__exit__(kind, error, trace)
        self.store.close()

    def deploy(self) -> None:
        """Lint the YAML and deploy it.

        Raises:
            typer.Exit: the YAML has errors, which are printed.
        """
        wanted = compiled_apps(self.settings, Format.TEXT)
        with self.store.transaction() as transaction:
            deploy(transaction, wanted, datetime.now(UTC), by=BY, assume_published=False)

    def start(self) -> None:
        """Start the code server, the host and the daemon.

        Raises:
            ProcessFailed: a process does not start.
        """
        self.code_server = self.processes.start_code_server()
        self.host = self.processes.start_host()
        self.daemon = self.processes.start_daemon()

    def land(self, chunks: Sequence[Chunk]) -> None:
        """Land deliveries, one after the other."""
        with DagsterInstance.from_config(str(self.site.home)) as instance:
            landing = Landing(self.settings, instance)
            for chunk in chunks:
                landing.deliver(chunk)
                if chunk.kind == "reference":
                    self._landed_at = datetime.now(UTC)
                self._watch(self)

    def settle(self, days: Sequence[str]) -> None:
        """Wait until every day is joined and no job runs, and trigger the report of the remaining days.

        The reference tables are triggered at once, unless a job of theirs reads what has landed.

        Raises:
            UserError: a job failed, a process has ended, or the deadline is over.
        """
        with self.store.transaction() as transaction:
            now = datetime.now(UTC)
            (reference,) = transaction.schedules(refs=[REFERENCE])
            jobs = transaction.jobs(schedules=[REFERENCE])
            if not _fires_soon(reference, now) and not reads_what_landed(jobs, self._landed_at):
                trigger(transaction, REFERENCE, now, by=BY)
        self._until("every day is joined and the reference is loaded", lambda jobs: self._joined(jobs, days))
        with self.store.transaction() as transaction:
            waiting = transaction.jobs(schedules=[WEEKLY], states=(JobState.PENDING_TRIGGER,))
            if waiting:
                trigger(transaction, WEEKLY, datetime.now(UTC), by=BY)

    def backfill(self, days: Sequence[str]) -> None:
        """Total the first days in a backfill, for which their flights count as complete."""
        wanted = Wanted(
            app="flights",
            task=TOTALS,
            from_=days[0],
            to=days[min(len(days), BACKFILLED_DAYS) - 1],
            lot=2,
            upstream=True,
            only=(TOTALS, GATE),
        )
        with self.store.transaction() as transaction:
            start_backfill(transaction, wanted, datetime.now(UTC), BY)

    def maintain(self) -> OperationRun:
        """Compact the log of readings by hand, whatever the hour; return what became of it once all is done.

        Raises:
            UserError: the compaction failed; see `settle` too.
        """
        with self.store.transaction() as transaction:
            (job,) = run_by_hand(
                transaction,
                LOG,
                datetime.now(UTC),
                operation=Operation.REWRITE_DATA_FILES,
                by=BY,
            )
        self._until(
            "the report has taken the remaining days, the backfill is done and the log of readings compacted",
            lambda jobs: _all_finished(jobs) and self._run_of(job).ending is not None,
        )
        run = self._run_of(job)
        if run.ending is Ending.FAILED:
            raise UserError(f"the compaction of {LOG} failed: {run.detail}", self._logs)
        return run

    def _run_of(self, job: Job) -> OperationRun:
        with self.store.reading() as reader:
            (run,) = reader.operation_runs(jobs=(job.id,))
        return run

    def jobs(self) -> tuple[Job, ...]:
        """Return all jobs of schedules and tasks, in the order of their opening."""
        with self.store.reading() as reader:
            return tuple(job for job in reader.jobs() if job.maintenance is None)

    def _joined(self, jobs: Sequence[Job], days: Sequence[str]) -> bool:
        done = {(job.schedule, job.key) for job in jobs if job.state is JobState.SUCCEEDED}
        joins = {("flights/delays_by_weather_nightly", day) for day in days}
        waiting_for_monday = [job for job in jobs if job.schedule == WEEKLY and job.waiting]
        return (
            joins <= done
            and (REFERENCE, "") in done
            and self._all_read(days)
            and all(job.state in FINISHED or job in waiting_for_monday for job in jobs)
        )

    def _all_read(self, days: Sequence[str]) -> bool:
        """Return whether the events of all published days have reached the weekly report."""
        with self.store.reading() as reader:
            found = reader.events(key_prefix="partition:flights/delays_by_weather")
            unrouted = reader.unrouted_events(1)
        return set(days) <= {event.partition for event in found} and not unrouted

    @property
    def _logs(self) -> str:
        return f"the logs are in {self.site.logs}; tidegate demo --keep FOLDER keeps them"

    def _until(self, what: str, reached: Callable[[Sequence[Job]], bool]) -> None:
        deadline = time.monotonic() + SETTLE_SECONDS
        while True:
            # The watcher runs once more, so that it observes the final state.
            if reached(self.jobs()):
                self._watch(self)
                return
            self._watch(self)
            dead = self.processes.dead()
            if dead is not None:
                raise UserError(str(dead.failed("has ended")), "read the log for the cause")
            failed = [job for job in self.jobs() if job.state is JobState.FAILED]
            if failed:
                raise UserError(
                    f"job {failed[0].id} failed ({failed[0].reason}), run {failed[0].run_id}",
                    self._logs,
                )
            if time.monotonic() > deadline:
                raise UserError(
                    f"timeout after {SETTLE_SECONDS} s; still waiting until {what}",
                    self._logs,
                )
            time.sleep(POLL_SECONDS)


def reads_what_landed(jobs: Sequence[Job], landed_at: datetime) -> bool:
    """Return whether one of the jobs begins, or has begun, after the files of the reference tables landed.

    Their cron may fire between two of the files, and the run of that minute finds only the first.
    """
    return any(
        job.state not in FINISHED if job.launched_at is None else job.launched_at > landed_at for job in jobs
    )


def _fires_soon(schedule: ScheduleState, now: datetime) -> bool:
    return schedule.next_fire_at is not None and schedule.next_fire_at - now <= WINDOW_WAIT_MAX


def _all_finished(jobs: Sequence[Job]) -> bool:
    return all(job.state in FINISHED for job in jobs)
