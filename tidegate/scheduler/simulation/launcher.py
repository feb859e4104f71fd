"""The launcher of a simulation: it takes the place of Dagster and Spark, with runs from a table.

It accepts launch requests, claims each job like a real run, and knows when and how the run ends and
which partitions it has written. It refuses a launch like the dispatcher, with the same message. A
request can be made to fail.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime

from tidegate.compiler.scenarios.model.scenario import Behaviour
from tidegate.domain.model import App
from tidegate.domain.partition_key import validate_key
from tidegate.domain.value import Value
from tidegate.scheduler.decision.fold.run_events import heard_by
from tidegate.scheduler.decision.launch.check import check_launch
from tidegate.scheduler.intake.observe import RunObservation
from tidegate.scheduler.launch.outbox import LaunchRequest, reject
from tidegate.scheduler.launch.run_report import claim
from tidegate.scheduler.model.event import Event, EventKind, partition_event_key
from tidegate.scheduler.model.instance import Instance
from tidegate.scheduler.model.job import LaunchPlan
from tidegate.scheduler.model.run import RunStatus
from tidegate.scheduler.store.protocol import Store
from tidegate.scheduler.tick.load import load_app

WITHHELD = "withheld"


class SimulatedRun(Value, kw_only=True):
    """One launched run, and how it ends.

    Attributes:
        withheld: its publish is withheld, so it fails.
        number: larger than that of every run before it.
    """

    run_id: str
    app: str
    job: str
    attempt: int
    launch: LaunchPlan
    ends_at: datetime
    ends: RunStatus
    died: bool = False
    withheld: bool = False
    number: int = 0
    instance: Instance | None = None

    @property
    def succeeded(self) -> bool:
        return self.ends is RunStatus.SUCCEEDED

    @property
    def ends_as(self) -> str:
        """How it ends, for people."""
        return WITHHELD if self.withheld else str(self.ends)

    @property
    def program(self) -> str:
        return f"{self.app}/{self.launch.program}"

    def seen(self, status: RunStatus, at: datetime) -> RunObservation:
        """Return an observation of this run."""
        return RunObservation(
            run_id=self.run_id,
            program=self.program,
            job=self.job,
            attempt=self.attempt,
            status=status,
            at=at,
            died=self.died,
        )


class Launcher:
    """Accepts launch requests, and lets the next ones of a schedule fail on request."""

    def __init__(self, store: Store, behaviours: Mapping[str, Behaviour]) -> None:
        self._store = store
        self._behaviours = behaviours
        self._failures: dict[str, int] = {}
        self._runs = 0
        self._runs_of = Counter[str]()

    def fail_next(self, schedule: str, times: int) -> None:
        """Let the next launches of a schedule ("app/name") fail."""
        self._failures[schedule] = self._failures.get(schedule, 0) + times

    def launch(self, requests: Sequence[LaunchRequest], now: datetime) -> list[SimulatedRun]:
        """Create runs for requests; a failing request is rejected, as the dispatcher does."""
        made = [self._launch(request, now) for request in requests]
        return [run for run in made if run is not None]

    def _launch(self, request: LaunchRequest, now: datetime) -> SimulatedRun | None:
        if self._failures.get(request.schedule, 0):
            self._failures[request.schedule] -= 1
            with self._store.transaction() as transaction:
                reject(transaction, request.job, request.attempt, "the launch failed", now)
            return None
        ref = f"{request.app}/{request.launch.program}"
        with self._store.transaction() as transaction:
            app = load_app(transaction, request.app)
            wrong = check_launch(app, ref, request.launch.partitions, now)
            if wrong is not None:
                reject(transaction, request.job, request.attempt, wrong.message, now, final=wrong.final)
                return None
        self._runs += 1
        run_id = f"simulated-{self._runs}"
        if not claim(self._store, request.job, request.attempt, run_id, now).won:
            return None
        program = request.launch.program
        named = f"{program}@{request.launch.key}"
        behaves = named if named in self._behaviours else program
        behaviour = self._behaviours.get(behaves, Behaviour())
        end = behaviour.end_of(self._runs_of[behaves])
        self._runs_of[behaves] += 1
        limit = None if app is None or program not in app.programs else app.programs[program].timeout
        takes = behaviour.takes
        if limit is not None and limit < takes:
            takes, end = limit, "failed"
        return SimulatedRun(
            run_id=run_id,
            app=request.app,
            job=request.job,
            attempt=request.attempt,
            launch=request.launch,
            ends_at=now + takes,
            ends=RunStatus.FAILED if end in ("died", WITHHELD) else RunStatus(end),
            died=end == "died",
            withheld=end == WITHHELD,
            number=self._runs,
            instance=request.instance,
        )


def written(run: SimulatedRun, app: App, released: datetime | None = None) -> list[Event]:
    """Return the events of the partitions that a successful run has written.

    Args:
        released: when a person released what was withheld of it; None for its end.
    """
    if (released is None and not run.succeeded) or run.launch.program not in app.programs:
        return []
    at = released or run.ends_at
    found: list[Event] = []
    for name in app.programs[run.launch.program].writes:
        scheme = app.datasets[name].partitions
        keys = ("",) if scheme is None else run.launch.partitions
        for key in keys:
            if scheme is None or validate_key(scheme, key) is None:
                found.append(
                    Event(
                        id=f"written:{run.run_id}:{name}:{key}",
                        kind=EventKind.PARTITION,
                        key=partition_event_key(app.name, name),
                        time=at,
                        arrived=at,
                        partition=key,
                        run_id=run.run_id,
                        repairs=run.launch.repairs,
                        provisional=bool(run.launch.provisional),
                        only_for=heard_by(run.instance),
                    )
                )
    return found
