"""One round of ingestion: read what is new in Dagster's event log, and put it into the store.

    position in the store ──► same row still there? ──no──► go back by time
                                     │yes
                 rows in holes, next rows ──► events and observations ──┐ one
                                                    new position        ┘ transaction

Reading is outside of the transaction, so it blocks nobody. A crash before the commit reads the
same again; two readers at once put the same events, of which the store keeps one, and only one
of them moves the position on. The position is kept here and never in a sensor's cursor, which
Dagster keeps back or forgets for reasons of its own.
"""

from collections.abc import Callable, Sequence
from datetime import datetime

from dagster import DagsterInstance, DagsterRun, RunsFilter

from tidegate.dagster_defs.definitions.asset_plan import AssetPlan
from tidegate.dagster_defs.ingest.event_log import PAGE_ROWS, EventLog, entry_of, instant_of
from tidegate.dagster_defs.ingest.partition_events import Unusable, partition_event
from tidegate.dagster_defs.ingest.position import (
    REWIND,
    Position,
    Row,
    decode_position,
    encode_position,
)
from tidegate.dagster_defs.ingest.run_observations import STATUS_OF_EVENT, observations
from tidegate.domain.value import Value
from tidegate.scheduler.intake.observe import RunObservation, observe_runs
from tidegate.scheduler.model.event import Event
from tidegate.scheduler.store.protocol import Reader, Store

PAGES_PER_ROUND = 10
"""Bounds one round to seconds, far below a sensor's 60 s; the next tick goes on."""

RUNS_PER_QUERY = 100

Say = Callable[[str], None]
"""Where problems are told: the log of the tick."""


class Intake(Value, frozen=True, kw_only=True):
    """What one round has read.

    Attributes:
        rows: how many rows of the log, of any kind.
        behind: the round ended at its limit, and there is more.
    """

    rows: int = 0
    events: int = 0
    observations: int = 0
    behind: bool = False


def cursor_name(epoch: str) -> str:
    """Where the position in one event log is kept in the store."""
    return f"dagster-events:{epoch}"


def ingest(instance: DagsterInstance, store: Store, plan: AssetPlan, now: datetime, say: Say) -> Intake:
    """Read the event log from where the last round ended.

    Args:
        plan: the assets that are ours; events of others are passed over.
    """
    log = EventLog(instance)
    name = cursor_name(log.epoch)
    with store.reading() as reader:
        saved = reader.cursor(name)
        position = _beginning(log, reader) if saved is None else decode_position(saved)
    position = settled(log, position, say)
    total = Intake()
    for page in range(PAGES_PER_ROUND):
        appeared = log.in_holes(position.holes) if page == 0 else ()
        rows = log.after(position.id)
        moved = position.advanced(rows, appeared, now)
        value = encode_position(moved)
        if value == saved:
            break
        events, seen = translate(instance, (*appeared, *rows), plan, now, say)
        with store.transaction() as transaction:
            transaction.add_events(events)
            observe_runs(transaction, seen, now)
            if transaction.cursor(name) != saved:
                break
            transaction.set_cursor(name, value)
        saved, position = value, moved
        total = Intake(
            rows=total.rows + len(rows) + len(appeared),
            events=total.events + len(events),
            observations=total.observations + len(seen),
            behind=len(rows) == PAGE_ROWS,
        )
        if not total.behind:
            break
    return total


def settled(log: EventLog, position: Position, say: Say) -> Position:
    """The position itself, or an earlier one if the log has changed under it."""
    if position.at is None or position.holds(log.row(position.id)):
        return position
    say(
        f"row {position.id} of Dagster's event log is gone or replaced (a wipe);"
        f" reading again from {REWIND} before it"
    )
    return log.before(position.at - REWIND)


def translate(
    instance: DagsterInstance,
    rows: Sequence[Row],
    plan: AssetPlan,
    now: datetime,
    say: Say,
) -> tuple[list[Event], list[RunObservation]]:
    """The events and observations that are in some rows, in the order of the rows."""
    events: list[Event] = []
    seen: list[RunObservation] = []
    wanted = {row.run_id for row in rows if row.kind in STATUS_OF_EVENT}
    runs = runs_by_id(instance, wanted) if wanted else {}
    for row in rows:
        try:
            entry = entry_of(row)
            if entry is None or row.body is None:
                continue
            if row.kind in STATUS_OF_EVENT:
                run = runs.get(row.run_id)
                if run is not None:
                    seen += observations(run, STATUS_OF_EVENT[row.kind], instant_of(entry, now), plan)
                continue
            event = partition_event(entry, row.body, plan, now)
            if event is not None:
                events.append(event)
        except Unusable as error:
            say(f"a report was ignored: {error}")
        except Exception as error:  # noqa: BLE001 -- one bad row may not hold up all others
            say(f"row {row.id} of Dagster's event log cannot be read: {type(error).__name__}: {error}")
    return events, seen


def runs_by_id(instance: DagsterInstance, ids: set[str]) -> dict[str, DagsterRun]:
    """The runs that exist among these ids."""
    found: dict[str, DagsterRun] = {}
    ordered = sorted(ids)
    for start in range(0, len(ordered), RUNS_PER_QUERY):
        chunk = ordered[start : start + RUNS_PER_QUERY]
        found |= {run.run_id: run for run in instance.get_runs(filters=RunsFilter(run_ids=chunk))}
    return found


def _beginning(log: EventLog, reader: Reader) -> Position:
    """Where a store that has never read this log begins: at its first deployment.

    What was materialised before anything was deployed is history; what was reported between
    the deployment and the first tick is not.
    """
    since = [state.deployed_at for state in reader.schedules()] + [app.deployed_at for app in reader.apps()]
    return log.before(min(since)) if since else Position()
