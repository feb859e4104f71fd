"""The tables of a simulation: what is measured of them, and how the runs of operations on them go.

They take the place of Iceberg and Spark. A table is healthy until the scenario says otherwise, and what is
measured does not change with the clock. A run ends as the scenario says, or never reports its end.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime

from tidegate.compiler.scenarios.model.maintenance import OperationEnd, OperationEnds
from tidegate.domain.maintenance.measures import HEALTHY
from tidegate.domain.model import Operation
from tidegate.domain.value import Value
from tidegate.scheduler.decision.maintenance.health import fresh
from tidegate.scheduler.intake.tables import report_health
from tidegate.scheduler.launch.outbox import LaunchRequest
from tidegate.scheduler.launch.run_report import claim, end_operation
from tidegate.scheduler.model.maintenance import MAINTAINED_TABLES, Ended, Ending, Health, TableState, Work
from tidegate.scheduler.store.protocol import Store
from tidegate.scheduler.tick.maintenance.end import close_overdue
from tidegate.scheduler.tick.maintenance.tables import table_named
from tidegate.scheduler.tick.tick import advance_before

CANNOT_BE_MEASURED = "cannot be measured"

_ENDINGS: dict[OperationEnd, Ending | None] = {
    "succeeded": Ending.SUCCEEDED,
    "failed": Ending.FAILED,
    "conflict": Ending.CONFLICT,
    "died": None,
}


class SimulatedOperation(Value, kw_only=True):
    """One run of an operation on a table.

    Attributes:
        ended: what it reports; None if it died, or its timeout comes before: then the engine ends it.
    """

    job: str
    attempt: int
    ends_at: datetime
    ended: Ended | None


class SimulatedTables:
    """The tables, by their one name: "app/dataset" or "catalog.namespace.table"."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._health: dict[str, dict[str, float] | None] = {}
        self._plans: dict[tuple[str, Operation], OperationEnds] = {}
        self._runs_of: dict[tuple[str, Operation], int] = {}
        self._runs = 0

    # --- what the scenario says ---

    def set_health(self, table: str, health: Mapping[str, float] | None) -> None:
        """Set what is measured of a table; what is not named is healthy, None cannot be measured."""
        self._health[table] = None if health is None else {**HEALTHY, **health}

    def plan(self, table: str, plan: OperationEnds) -> None:
        """Set how the coming runs of an operation on a table go."""
        self._plans[table, plan.operation] = plan
        self._runs_of[table, plan.operation] = 0

    # --- what the world does ---

    def close_overdue(self, now: datetime) -> None:
        """End the runs whose timeout is at this instant: for a poll of the instant they have ended."""
        with self._store.reading() as reader:
            overdue = any(run.closes_at <= now for run in reader.operation_runs(running=True))
        if overdue:
            with self._store.transaction() as transaction:
                advance_before(transaction, now)
                close_overdue(transaction, now)

    def measure(self, now: datetime, *named: str, written: bool = False) -> None:
        """Measure every table of which nothing recent is known.

        Args:
            named: tables that are measured even if nothing is known of them yet: those of datasets.
            written: datasets may be written at this instant, so what was measured before is not recent.
        """
        with self._store.reading() as reader:
            known = {table.name: table for table in reader.records(MAINTAINED_TABLES) if not table.gone}
            for text in named:
                table = table_named(reader, text)
                known |= {} if table is None else {table.name: table}
        wanted = [
            name
            for name, table in known.items()
            if not _is_recent(table, now, written=written and table.dataset is not None)
        ]
        if wanted:
            with self._store.transaction() as transaction:
                report_health(transaction, {name: self._measured(name, now) for name in wanted}, now)

    def _measured(self, table: str, now: datetime) -> Health:
        values = self._health.get(table, HEALTHY)
        if values is None:
            return Health(measured_at=now, failure=CANNOT_BE_MEASURED)
        return Health(measured_at=now, values=dict(values))

    def launch(self, requests: Sequence[LaunchRequest], now: datetime) -> tuple[SimulatedOperation, ...]:
        """Begin a run for each request for an operation."""
        begun = [
            self._launch(request, request.maintenance, now)
            for request in requests
            if request.maintenance is not None
        ]
        return tuple(run for run in begun if run is not None)

    def _launch(self, request: LaunchRequest, work: Work, now: datetime) -> SimulatedOperation | None:
        self._runs += 1
        run_id = f"simulated-operation-{self._runs}"
        if not claim(self._store, request.job, request.attempt, run_id, now).won:
            return None
        key = work.table, work.operation
        plan = self._plans.get(key, OperationEnds(table=work.table, operation=work.operation))
        number = self._runs_of.get(key, 0)
        self._runs_of[key] = number + 1
        ending = _ENDINGS[plan.ends[number] if number < len(plan.ends) else "succeeded"]
        ends_at = now + plan.takes
        closes_at = datetime.fromisoformat(request.launch.args["closes_at"])
        return SimulatedOperation(
            job=request.job,
            attempt=request.attempt,
            ends_at=ends_at,
            ended=_ended(ending, plan) if ending is not None and ends_at <= closes_at else None,
        )

    def end(self, run: SimulatedOperation) -> None:
        """Let a run report its end, if it does."""
        if run.ended is not None:
            with self._store.transaction() as transaction:
                end_operation(transaction, run.job, run.attempt, run.ended, run.ends_at)


def _is_recent(table: TableState, now: datetime, *, written: bool) -> bool:
    health = fresh(table.health, now)
    return health is not None and (not written or health.measured_at == now)


def _ended(ending: Ending, plan: OperationEnds) -> Ended:
    changed = plan.changed and ending is Ending.SUCCEEDED
    return Ended(ending=ending, changed=changed, bytes=plan.bytes)
