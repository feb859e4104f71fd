"""A project with cycle tasks, deployed on a day that is long over, so that no test depends on the hour.

The tasks were deployed at 2026-03-10 00:00 UTC. Commands act at the present instant: they first decide what
has been due since then. So instances of that day are those that waited for a report, or for one another.
"""

from datetime import UTC, datetime
from functools import cache

from tests.tidegate.project import Project
from tests.worlds.by import CLI
from tidegate.compiler.compile import compile_files
from tidegate.domain.model import App
from tidegate.project.settings.settings import load_settings
from tidegate.scheduler.commands.deployment.deploy import deploy
from tidegate.scheduler.commands.tasks.reports import Times, report
from tidegate.scheduler.intake.observe import RunObservation, observe_runs
from tidegate.scheduler.launch.outbox import offer_launches
from tidegate.scheduler.launch.run_report import claim
from tidegate.scheduler.model.run import RunStatus
from tidegate.scheduler.store.open import open_store
from tidegate.scheduler.tick.tick import tick

SHOP = """\
app: shop

datasets:
  raw: {partitions: {cycle: hour, start: 2026-01-01-00:00}, path: landing/raw}
  orders: {partitions: {cycle: hour, start: 2026-01-01-00:00}}
  revenue: {partitions: {cycle: day, start: 2026-01-01}}

programs:
  clean: {run: programs.clean, reads: [raw], writes: [orders]}
  revenue: {run: programs.revenue, reads: [orders], writes: [revenue]}
  close: {run: programs.close}

tasks:
  feed:
    type: source
    dataset: raw
    cycle: hour
    at: {from: "08:00", to: "10:00"}
    update: outside
    status: active
  clean: {program: clean, cycle: hour, at: {minute: 10, from: "08:00", to: "10:00"}, status: active}
  revenue:
    program: revenue
    cycle: day
    at: {time: "11:00"}
    depends_on: {detected: true, add: [self]}
    status: active
  month_end:
    program: close
    cycle: month
    at: {time: "12:00", days: [last]}
    depends_on: [{task: revenue, period: previous}]
    status: suspended
"""

DAY = "2026-03-10"
EIGHT, NINE, TEN = (f"{DAY}-{hour}:00" for hour in ("08", "09", "10"))


def at(clock: str) -> datetime:
    """An instant of the day, in UTC."""
    return datetime.fromisoformat(f"{DAY}T{clock}:00").replace(tzinfo=UTC)


class TaskProject:
    """A project with tasks, and what happens to its store on the day."""

    def __init__(self, project: Project, text: str = SHOP) -> None:
        self.project = project
        (project.folder / "schedules/sales.yaml").unlink()
        project.write("shop", text)
        self.store = open_store(load_settings().store_url, create=True)
        with self.store.transaction() as transaction:
            deploy(transaction, {"shop": app_of(text)}, at("00:00"), by=CLI)
        tick(self.store, at("00:00"))

    def reported(self, clock: str, *keys: str, status: str = "successful") -> None:
        """The feed of some hours is reported, and the engine goes on."""
        with self.store.transaction() as transaction:
            report(transaction, "shop/feed", Times(scheduled=keys), status, at(clock), CLI)
        tick(self.store, at(clock))

    def run_all(self, clock: str, status: RunStatus = RunStatus.SUCCEEDED) -> None:
        """All runs that may start at an instant do, and end at it."""
        now = at(clock)
        tick(self.store, now)
        with self.store.transaction() as transaction:
            requests = offer_launches(transaction, now, "shop")
        for request in requests:
            run = f"run-{request.job[-4:]}-{request.attempt}"
            assert claim(self.store, request.job, request.attempt, run, now).won
            with self.store.transaction() as transaction:
                (job,) = transaction.jobs(ids=[request.job])
                seen = RunObservation(
                    run_id=run,
                    program=job.program,
                    job=job.id,
                    attempt=request.attempt,
                    status=status,
                    at=now,
                )
                observe_runs(transaction, [seen], now)
        tick(self.store, now)


@cache
def app_of(text: str) -> App:
    compilation = compile_files({"shop.yaml": text.encode()})
    assert compilation.ok, [each.summary for each in compilation.diagnostics]
    return next(iter(compilation.apps.values())).app
