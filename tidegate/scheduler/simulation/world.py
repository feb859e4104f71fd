"""The world of a simulation: what is behind its clock.

A simulation decides when something happens, and what its timeline shows. Its world does what happens: it
takes reports in, lets the scheduler work, and makes the runs. `SimulatedWorld` is the world of
`tidegate test` and `tidegate simulate`, where every run is simulated. The tests have another one, behind
which a real Dagster works: both are played and judged by the same code.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

from tidegate.compiler.scenarios.model.scenario import Behaviour
from tidegate.domain.value import Value
from tidegate.scheduler.intake.asset_checks import fold_checks
from tidegate.scheduler.intake.observe import RunObservation, observe_runs
from tidegate.scheduler.launch.outbox import LaunchRequest, offer_launches
from tidegate.scheduler.model.deployed import APPS
from tidegate.scheduler.model.event import Event
from tidegate.scheduler.model.records.expected import EXPECTED_DATA
from tidegate.scheduler.model.run import RunStatus
from tidegate.scheduler.simulation.arrivals import Report, check_facts
from tidegate.scheduler.simulation.launcher import Launcher, SimulatedRun
from tidegate.scheduler.simulation.tables import SimulatedOperation, SimulatedTables
from tidegate.scheduler.simulation.withheld import SimulatedPublishes
from tidegate.scheduler.store.protocol import Store
from tidegate.scheduler.tick.clock import AWAY_AFTER, CLOCK, engine_clock
from tidegate.scheduler.tick.deadlines import sweep_deadlines
from tidegate.scheduler.tick.due import MICROSECOND
from tidegate.scheduler.tick.load import load_whole_app
from tidegate.scheduler.tick.tick import tick


class Launches(Value, kw_only=True):
    """The launches of one round.

    Attributes:
        runs: the runs that began.
        operations: the runs of operations on tables that began.
        tried: a launch was tried, whether or not a run began.
    """

    runs: tuple[SimulatedRun, ...] = ()
    operations: tuple[SimulatedOperation, ...] = ()
    tried: bool = False


class World(Protocol):
    """What is behind the clock of a simulation.

    Attributes:
        tables: the tables, with what is measured of them and how operations on them go.
        publishes: what runs have published, and what is withheld of them.
    """

    tables: SimulatedTables
    publishes: SimulatedPublishes

    def tick(self, reports: Sequence[Report], now: datetime) -> bool:
        """Take reports in, and let the scheduler work once; return whether anything changed."""
        ...

    def launch(self, now: datetime) -> Launches:
        """Launch what the last tick decided."""
        ...

    def start(self, run: SimulatedRun, now: datetime) -> Sequence[Report]:
        """Return what is reported when a run begins."""
        ...

    def end(self, run: SimulatedRun) -> Sequence[Report]:
        """Let a run end, and return what is reported then."""
        ...

    def fail_next(self, schedule: str, times: int) -> None:
        """Let the next launches of a schedule ("app/name") fail."""
        ...

    def restart(self) -> None:
        """Let the scheduler crash before its next launches."""
        ...


class SimulatedWorld:
    """A world in which the engine is real and every run is simulated."""

    def __init__(self, store: Store, behaviours: Mapping[str, Behaviour]) -> None:
        self._store = store
        self.tables = SimulatedTables(store)
        self.publishes = SimulatedPublishes(store)
        self._launcher = Launcher(store, behaviours)
        self._requests_are_lost = False

    def tick(self, reports: Sequence[Report], now: datetime) -> bool:
        with self._store.transaction() as transaction:
            transaction.add_events([each for each in reports if isinstance(each, Event)])
            observe_runs(transaction, [each for each in reports if isinstance(each, RunObservation)], now)
            fold_checks(transaction, check_facts(transaction, reports), now)
        self._stay_awake(now)
        report = tick(self._store, now)
        late = sweep_deadlines(self._store, now)
        return bool(reports or report.fired or report.routed or report.decided or late)

    def _stay_awake(self, now: datetime) -> None:
        """Move the engine's clock to a deadline as idle ticks do, which a simulation leaves out.

        Else the deadline would be judged as one that passed while the scheduler was away.
        """
        with self._store.transaction() as transaction:
            clock, due = engine_clock(transaction), transaction.due_records(EXPECTED_DATA, now, 1)
            if clock is not None and clock + AWAY_AFTER < now and due:
                transaction.set_cursor(CLOCK, (now - MICROSECOND).isoformat())

    def launch(self, now: datetime) -> Launches:
        requests = self._requests(now)
        if self._requests_are_lost:
            self._requests_are_lost = False
            return Launches(tried=bool(requests))
        return Launches(
            runs=tuple(self._launcher.launch([each for each in requests if each.maintenance is None], now)),
            operations=self.tables.launch(requests, now),
            tried=bool(requests),
        )

    def start(self, run: SimulatedRun, now: datetime) -> Sequence[Report]:
        return (run.seen(RunStatus.STARTED, now),)

    def end(self, run: SimulatedRun) -> Sequence[Report]:
        with self._store.reading() as reader:
            app = load_whole_app(reader, run.app)
        return (*([] if app is None else self.publishes.end(run, app)), run.seen(run.ends, run.ends_at))

    def fail_next(self, schedule: str, times: int) -> None:
        self._launcher.fail_next(schedule, times)

    def restart(self) -> None:
        self._requests_are_lost = True

    def _requests(self, now: datetime) -> list[LaunchRequest]:
        with self._store.transaction() as transaction:
            return [
                request
                for deployed in transaction.records(APPS)
                for request in offer_launches(transaction, now, deployed.name)
            ]
