"""What Dagster's log says of the checks of assets, as facts for `scheduler.decision.asset_checks`.

Dagster logs the checks that a run plans when it makes the run, before any step. So a materialisation is read
together with what its run had planned, and the end of a run with all that it has evaluated: neither holes in
the log nor the order of its rows matter for them. An evaluation of a later run is a row of its own.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

import msgspec
from dagster import (
    AssetCheckEvaluation,
    AssetKey,
    DagsterEventType,
    DagsterInstance,
    DagsterRun,
    EventLogEntry,
    RunsFilter,
)

from tidegate.dagster_defs.deployed.asset_plan import AssetPlan
from tidegate.dagster_defs.ingest.event_log import entry_of
from tidegate.dagster_defs.ingest.position import Row
from tidegate.dagster_defs.ingest.run_observations import STATUS_OF_EVENT
from tidegate.domain.nearest_key import read_key
from tidegate.scheduler.decision.asset_checks import CheckFact, Evaluated, Materialised, RunEnded
from tidegate.scheduler.intake.asset_checks import fold_checks, waited_for
from tidegate.scheduler.intake.report import RefusedReport
from tidegate.scheduler.model.event import Event, dataset_of_key
from tidegate.scheduler.model.records.withheld import WITHHELD_EVENTS, CheckResult
from tidegate.scheduler.model.run import ENDED
from tidegate.scheduler.store.protocol import Store

RECORDS_PER_READ = 1000
RUNS_PER_QUERY = 100
WITHHELD_PER_PASS = 10_000
DESCRIPTION_CHARACTERS = 1000
"""A check may describe at length what it has found; people read the rest in Dagster."""

CHECK_EVENTS = {DagsterEventType.ASSET_CHECK_EVALUATION_PLANNED, DagsterEventType.ASSET_CHECK_EVALUATION}


class Planned(NamedTuple):
    """A check that a run had planned; of all its partitions where they are None."""

    dataset: str
    check: str
    partitions: frozenset[str] | None


class OfRun(NamedTuple):
    """What a run says of checks."""

    planned: tuple[Planned, ...]
    evaluated: tuple[Evaluated, ...]

    def of(self, fact: Materialised) -> Materialised:
        """Return a materialisation by the run with its checks."""
        key = fact.event.partition or ""
        planned = tuple(
            each.check
            for each in self.planned
            if each.dataset == fact.dataset and (each.partitions is None or key in each.partitions)
        )
        return msgspec.structs.replace(fact, planned=planned, evaluated=self.evaluated)


EventOf = Callable[[EventLogEntry, str], Event | RefusedReport | None]
"""Returns the event in an entry with its body."""

ENDS = frozenset(kind for kind, status in STATUS_OF_EVENT.items() if status in ENDED)


def check_facts(
    instance: DagsterInstance, store: Store, plan: AssetPlan, rows: Sequence[Row], event_of: EventOf
) -> list[CheckFact]:
    """Return what some rows say of materialisations for whose checks a schedule waits, in their order.

    A row that cannot be read is left to `intake.translate`, which says so.
    """
    if not plan.of_others:
        return []
    with store.reading() as reader:
        waited = waited_for(reader, plan.of_others)
    found: list[CheckFact] = []
    for row in rows if waited else ():
        with suppress(Exception):
            fact = _fact(row, plan, waited, event_of)
            if fact is not None:
                found.append(fact)
    return _completed(instance, store, plan, waited, found)


def _fact(row: Row, plan: AssetPlan, waited: Collection[str], event_of: EventOf) -> CheckFact | None:
    if row.kind in ENDS:
        return RunEnded(run_id=row.run_id)
    entry = entry_of(row)
    if entry is None or row.body is None or row.kind in STATUS_OF_EVENT:
        return None
    if row.kind == DagsterEventType.ASSET_CHECK_EVALUATION.value:
        return evaluated_fact(entry, plan, waited)
    event = event_of(entry, row.body)
    if not isinstance(event, Event) or dataset_of_key(event.key) not in waited:
        return None
    return Materialised(dataset=dataset_of_key(event.key), event=event, at=_instant(entry.timestamp))


def evaluated_fact(entry: EventLogEntry, plan: AssetPlan, waited: Collection[str]) -> Evaluated | None:
    """Return the evaluation in an entry; None for a dataset for whose checks nothing waits."""
    event = entry.dagster_event
    found = None if event is None else event.event_specific_data
    if not isinstance(found, AssetCheckEvaluation):
        return None
    name = _dataset(found.asset_key, plan)
    if name not in waited:
        return None
    aimed = found.target_materialization_data
    return Evaluated(
        dataset=name,
        check=found.check_name,
        partition=None if found.partition is None else _partition(found.asset_key, found.partition, plan),
        target=None if aimed is None else (aimed.run_id, _instant(aimed.timestamp)),
        result=CheckResult(
            passed=found.passed,
            severity=found.severity.value,
            description=(found.description or "")[:DESCRIPTION_CHARACTERS],
            run_id=entry.run_id or "",
            at=_instant(entry.timestamp),
        ),
    )


def _completed(
    instance: DagsterInstance,
    store: Store,
    plan: AssetPlan,
    waited: Collection[str],
    facts: Sequence[CheckFact],
) -> list[CheckFact]:
    """Return facts with what their runs say of checks, without ends of runs that nothing waits for."""
    if not facts:
        return []
    made = {each.event.run_id for each in facts if isinstance(each, Materialised)} - {None}
    over = {each.run_id for each in facts if isinstance(each, RunEnded)}
    with store.reading() as reader:
        held = {each.run_id for each in reader.records(WITHHELD_EVENTS, run_id=over)}
    wanted = {run for run in made | (over & held) if run is not None}
    known = {run: _of_run(instance, run, plan, waited) for run in sorted(wanted)}
    ended = over | _ended(instance, wanted - over)
    found: list[CheckFact] = []
    for fact in facts:
        match fact:
            case Materialised():
                run = fact.event.run_id
                whole = fact if run is None else known[run].of(fact)
                found.append(msgspec.structs.replace(whole, ended=run is None or run in ended))
            case RunEnded(run_id=run) if run in known:
                found.append(RunEnded(run_id=run, evaluated=known[run].evaluated))
            case RunEnded():
                pass
            case Evaluated():
                found.append(fact)
    return found


def look_again(instance: DagsterInstance, store: Store, plan: AssetPlan, now: datetime) -> None:
    """Take in the ends of runs that the log did not tell, and forget what no schedule waits for any more."""
    with store.reading() as reader:
        held = reader.due_records(WITHHELD_EVENTS, None, WITHHELD_PER_PASS)
        waited = waited_for(reader, {each.dataset for each in held})
    runs = {each.run_id for each in held if not each.ended and each.run_id is not None}
    facts = [
        RunEnded(run_id=run, evaluated=_of_run(instance, run, plan, waited).evaluated)
        for run in sorted(_ended(instance, runs))
    ]
    left = [WITHHELD_EVENTS.key_of(each) for each in held if each.dataset not in waited]
    if facts or left:
        with store.transaction() as transaction:
            transaction.drop_records(WITHHELD_EVENTS, left)
            fold_checks(transaction, facts, now)


def _of_run(instance: DagsterInstance, run: str, plan: AssetPlan, waited: Collection[str]) -> OfRun:
    planned: list[Planned] = []
    evaluated: list[Evaluated] = []
    for entry in _entries(instance, run):
        event = entry.dagster_event
        if event is not None and event.event_type is DagsterEventType.ASSET_CHECK_EVALUATION_PLANNED:
            said = event.asset_check_planned_data
            name = _dataset(said.asset_key, plan)
            if name in waited:
                subset = said.partitions_subset
                keys = None if subset is None else frozenset(subset.get_partition_keys())
                planned.append(Planned(name, said.check_name, keys))
        else:
            found = evaluated_fact(entry, plan, waited)
            if found is not None:
                evaluated.append(found)
    return OfRun(tuple(planned), tuple(evaluated))


def _entries(instance: DagsterInstance, run: str) -> Iterator[EventLogEntry]:
    cursor = None
    while True:
        page = instance.get_records_for_run(run, cursor, CHECK_EVENTS, RECORDS_PER_READ)
        yield from (record.event_log_entry for record in page.records)
        if not page.has_more:
            return
        cursor = page.cursor


def _ended(instance: DagsterInstance, runs: Collection[str]) -> set[str]:
    """Return the runs that have ended; one that is gone has."""
    going: set[str] = set()
    ordered = sorted(runs)
    for start in range(0, len(ordered), RUNS_PER_QUERY):
        chunk = ordered[start : start + RUNS_PER_QUERY]
        found: Sequence[DagsterRun] = instance.get_runs(filters=RunsFilter(run_ids=chunk))
        going |= {run.run_id for run in found if not run.is_finished}
    return set(ordered) - going


def _dataset(key: AssetKey, plan: AssetPlan) -> str:
    """Return the dataset of an asset of others, "app/name"; "" if there is none."""
    app, dataset = plan.datasets.get(key, ("", None))
    return "" if dataset is None or not dataset.asset else f"{app}/{dataset.name}"


def _partition(key: AssetKey, text: str, plan: AssetPlan) -> str:
    _, dataset = plan.datasets[key]
    read = text if dataset.partitions is None else read_key(dataset.partitions, text)
    return read if isinstance(read, str) else text


def _instant(timestamp: float) -> datetime:
    return datetime.fromtimestamp(0, UTC) + timedelta(seconds=timestamp)
