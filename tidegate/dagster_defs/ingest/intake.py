"""One round of ingestion: read the new rows of Dagster's event log and write them to the store.

    position in the store ──► same row still there? ──no──► go back by time
                                     │yes
                 rows in holes, next rows ──► events and observations ──┐ one
                                                    new position        ┘ transaction

Rows are read outside of the transaction, so reading does not block other processes. After a crash
before the commit the same rows are read again; two concurrent readers write the same events, of
which the store keeps one, and only one of them advances the position. The position is in the
schedule store and not in the sensor's cursor, which Dagster may not save or may reset.

The conversion of a materialisation in Dagster's log to a partition event of the engine. External reports
(`raw_flights` has landed) and outputs of runs are handled alike: an asset of the project was materialised,
so its partition has new data. The engine may already have the event of a publish
(`scheduler.intake.published`): then both have the same id. A report for a partition that the dataset cannot
have is refused and logged in the tick, since Dagster's report API does not validate partitions.
"""

from collections.abc import Callable, Mapping, MutableSet, Sequence
from datetime import datetime

from dagster import (
    AssetMaterialization,
    DagsterEventType,
    DagsterInstance,
    DagsterRun,
    DagsterRunStatus,
    EventLogEntry,
    RunsFilter,
    TextMetadataValue,
)

from tidegate.dagster_defs.deployed.asset_plan import AssetPlan
from tidegate.dagster_defs.deployed.names import asset_key
from tidegate.dagster_defs.deployed.sizes import BYTES_KEYS, ROWS_KEYS, first_number
from tidegate.dagster_defs.deployed.tags import COMMIT, EVENT
from tidegate.dagster_defs.ingest.asset_checks import check_facts
from tidegate.dagster_defs.ingest.event_log import PAGE_ROWS, EventLog, entry_of, instant_of
from tidegate.dagster_defs.ingest.position import (
    REWIND,
    Position,
    Row,
    content_id,
    decode_position,
    encode_position,
    take_known,
)
from tidegate.dagster_defs.ingest.run_observations import STATUS_OF_EVENT, observations, with_failures
from tidegate.domain.model import Dataset
from tidegate.domain.nearest_key import read_key
from tidegate.domain.value import Value
from tidegate.scheduler.commands.deployment.rename import record_of
from tidegate.scheduler.decision.asset_checks import CheckFact
from tidegate.scheduler.intake.asset_checks import fold_checks
from tidegate.scheduler.intake.observe import RunObservation, heard_of_runs, observe_runs
from tidegate.scheduler.intake.report import RefusedReport, note_refused
from tidegate.scheduler.model.deployed import APPS
from tidegate.scheduler.model.event import Event, EventKind, partition_event_key, publish_event_id
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.protocol import Store
from tidegate.scheduler.tick.tick import GoesOn, always

NO_FORMER_NAMES: Mapping[str, str] = {}


class Unusable(Exception):
    """A report whose partition is not valid for its dataset.

    Args:
        dataset: "app/name".
    """

    def __init__(self, dataset: str, reason: str) -> None:
        super().__init__(f"{dataset}{reason}")
        self.dataset = dataset


def partition_event(
    entry: EventLogEntry,
    body: str,
    plan: AssetPlan,
    now: datetime,
    former: Mapping[str, str] = NO_FORMER_NAMES,
) -> Event | RefusedReport | None:
    """Return the event of a materialisation, or the refused report; None for an asset of others.

    Args:
        former: the present name of each former name of a dataset, "app/name".
    """
    materialization = entry.asset_materialization
    if materialization is None:
        return None
    try:
        return _event(entry, materialization, body, plan, now, former)
    except Unusable as error:
        return RefusedReport(
            id=content_id(body),
            at=instant_of(entry, now),
            key=partition_event_key("", error.dataset),
            partition=str(materialization.partition or ""),
            reason=str(error),
        )


def _event(
    entry: EventLogEntry,
    materialization: AssetMaterialization,
    body: str,
    plan: AssetPlan,
    now: datetime,
    former: Mapping[str, str],
) -> Event | None:
    key, reported = materialization.asset_key, materialization.asset_key.to_escaped_user_string()
    if key not in plan.datasets and reported in former:
        key = asset_key(*former[reported].split("/"))
    if key not in plan.datasets:
        return None
    app, dataset = plan.datasets[key]
    partition = _partition(materialization, app, dataset)
    at = instant_of(entry, now)
    # A log time ahead of this clock must not delay the event.
    arrived = min(at, now)
    return Event(
        id=_id(materialization, body, reported, partition),
        kind=EventKind.PARTITION,
        key=partition_event_key(app, dataset.name),
        time=at,
        arrived=arrived,
        partition=partition,
        bytes=first_number(materialization, BYTES_KEYS),
        rows=first_number(materialization, ROWS_KEYS),
        run_id=entry.run_id or None,
        detail=materialization.description or "",
    )


def _id(materialization: AssetMaterialization, body: str, dataset: str, partition: str) -> str:
    """Return the id of the event: that which the engine has given it, if it knows of it already."""
    known, commit = materialization.metadata.get(EVENT), materialization.metadata.get(COMMIT)
    if isinstance(known, TextMetadataValue) and known.text:
        return known.text
    if isinstance(commit, TextMetadataValue):
        return publish_event_id(commit.text or "", dataset, partition)
    return content_id(body)


def _partition(materialization: AssetMaterialization, app: str, dataset: Dataset) -> str:
    key = materialization.partition
    name = f"{app}/{dataset.name}"
    if dataset.partitions is None:
        if key is not None:
            raise Unusable(name, f" has no partitions, but the report has partition {key}")
        return ""
    if key is None:
        raise Unusable(name, " has partitions, but the report has none")
    read = read_key(dataset.partitions, str(key))
    if not isinstance(read, str):
        raise Unusable(name, f": {read.summary}; {read.hint}")
    return read


PAGES_PER_ROUND = 10
"""Limits one round to seconds, far below a sensor's timeout of 60 s; the next tick continues."""

RUNS_PER_QUERY = 100

Log = Callable[[str], None]
"""Writes a warning to the log of the tick."""


class Intake(Value, frozen=True, kw_only=True):
    """The counts of one round.

    Attributes:
        rows: number of rows of the log, of any kind.
        behind: the round ended at its limit, and more rows exist.
    """

    rows: int = 0
    events: int = 0
    observations: int = 0
    behind: bool = False


def cursor_name(epoch: str) -> str:
    """Return the name of the store cursor that holds the position in an event log."""
    return f"dagster-events:{epoch}"


def ingest(
    instance: DagsterInstance,
    store: Store,
    plan: AssetPlan,
    now: datetime,
    log: Log,
    goes_on: GoesOn = always,
    written: MutableSet[str] | None = None,
) -> Intake:
    """Read the event log from the position at which the last round ended.

    Args:
        plan: the project's assets; events of other assets are ignored.
        goes_on: whether the round goes on after a page.
        written: see `send_owed_reports`; these rows are read no further.
    """
    event_log = EventLog(instance)
    name = cursor_name(event_log.epoch)
    with store.reading() as reader:
        saved = reader.cursor(name)
        position = _first_position(event_log, reader) if saved is None else decode_position(saved)
        former = record_of(reader).former
    position = rewound_if_changed(event_log, position, log)
    total = Intake()
    for page in range(PAGES_PER_ROUND):
        appeared = event_log.in_holes(position.holes) if page == 0 else ()
        rows = event_log.after(position.id)
        unknown = take_known((*appeared, *rows), set() if written is None else written)
        events, observed, refused, early = translate(instance, unknown, plan, now, log, former)
        moved = position.advanced(rows, appeared, now, early)
        value = encode_position(moved)
        if value == saved:
            break
        facts = facts_of(instance, store, (*appeared, *rows), plan, now, former)
        with store.transaction() as transaction:
            # Of what a program of ours has made, its commit has reported who hears of it.
            heard = heard_of_runs(transaction, events, observed) if plan.of_others else events
            transaction.add_events(heard)
            note_refused(transaction, refused)
            observe_runs(transaction, observed, now)
            fold_checks(transaction, facts, now)
            if transaction.cursor(name) != saved:
                break
            transaction.set_cursor(name, value)
            may_go_on = goes_on(transaction)
        saved, position = value, moved
        total = Intake(
            rows=total.rows + len(rows) + len(appeared),
            events=total.events + len(events),
            observations=total.observations + len(observed),
            behind=len(rows) == PAGE_ROWS,
        )
        if not total.behind or not may_go_on:
            break
    return total


def rewound_if_changed(event_log: EventLog, position: Position, log: Log) -> Position:
    """Return the position, or an earlier one if its row was deleted or replaced."""
    if position.at is None or position.matches(event_log.row(position.id)):
        return position
    log(
        f"row {position.id} of Dagster's event log was deleted or replaced (a wipe);"
        f" reading again from {REWIND} before it"
    )
    return event_log.before(position.at - REWIND)


def translate(
    instance: DagsterInstance,
    rows: Sequence[Row],
    plan: AssetPlan,
    now: datetime,
    log: Log,
    former: Mapping[str, str] = NO_FORMER_NAMES,
) -> tuple[list[Event], list[RunObservation], list[RefusedReport], set[int]]:
    """Return the events, run observations and refused reports in some rows, in the order of the rows.

    Args:
        former: see `partition_event`.

    Returns:
        Also the ids of the rows that are early: they have none yet.
    """
    early: set[int] = set()
    events: list[Event] = []
    refused: list[RefusedReport] = []
    observed: list[RunObservation] = []
    run_ids = {row.run_id for row in rows if row.kind in STATUS_OF_EVENT}
    runs = runs_by_id(instance, run_ids) if run_ids else {}
    for row in rows:
        try:
            entry = entry_of(row)
            if entry is None or row.body is None:
                continue
            if row.kind in STATUS_OF_EVENT:
                run = runs.get(row.run_id)
                if run is not None and is_early(row, run):
                    early.add(row.id)
                elif run is not None:
                    seen = observations(run, STATUS_OF_EVENT[row.kind], instant_of(entry, now), plan)
                    observed += with_failures(instance, run, seen)
                continue
            event = partition_event(entry, row.body, plan, now, former)
            if isinstance(event, RefusedReport):
                refused.append(event)
                log(f"a report was refused: {event.reason}")
            elif event is not None:
                events.append(event)
        except Exception as error:  # noqa: BLE001 -- one bad row must not block the others
            log(f"row {row.id} of Dagster's event log cannot be read: {type(error).__name__}: {error}")
    return events, observed, refused, early


ON_ITS_WAY = (DagsterEventType.RUN_ENQUEUED.value, DagsterEventType.RUN_STARTING.value)


def is_early(row: Row, run: DagsterRun) -> bool:
    """Return whether a row says that a run is on its way which does not say so itself.

    Dagster writes the event first, and then the status of the run. A process that dies in between leaves a
    run that Dagster never starts: it is not launched, and the next offer of its job submits it again.
    """
    return row.kind in ON_ITS_WAY and run.status is DagsterRunStatus.NOT_STARTED


def facts_of(
    instance: DagsterInstance,
    store: Store,
    rows: Sequence[Row],
    plan: AssetPlan,
    now: datetime,
    former: Mapping[str, str],
) -> list[CheckFact]:
    """Return what some rows say of the checks of assets for which schedules wait."""
    return check_facts(
        instance, store, plan, rows, lambda entry, body: partition_event(entry, body, plan, now, former)
    )


def runs_by_id(instance: DagsterInstance, ids: set[str]) -> dict[str, DagsterRun]:
    """Return the runs that exist among these ids."""
    found: dict[str, DagsterRun] = {}
    ordered = sorted(ids)
    for start in range(0, len(ordered), RUNS_PER_QUERY):
        chunk = ordered[start : start + RUNS_PER_QUERY]
        found |= {run.run_id: run for run in instance.get_runs(filters=RunsFilter(run_ids=chunk))}
    return found


def _first_position(event_log: EventLog, reader: EngineReader) -> Position:
    """Return the position at which a store starts to read a log: its first deployment.

    Materialisations before the first deployment are ignored; reports between the deployment and
    the first tick count.
    """
    since = [state.deployed_at for state in reader.schedules()] + [
        app.deployed_at for app in reader.records(APPS)
    ]
    return event_log.before(min(since)) if since else Position()
