"""The measuring run: lists tables, then measures batch after batch, until nothing is due or its time is over.

    list, if due ─► tables due ─► measure a batch ─► report it ─┐
                        ▲               ▲───────────────────────┤
                        └───────────────────── after the last ──┘
Each batch is reported by itself, so a run that is killed loses one batch, which is wanted as before. A table
that kills Spark, or never answers, ends the run: its batch is reported as not measured, so that others come
first the next time. A catalog that never answers ends the run too: those of the next minutes do not list.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Any, NamedTuple

from tidegate.dagster_defs.deployed.location import Location
from tidegate.dagster_defs.deployed.plan_state import Plan, deployed_plan
from tidegate.dagster_defs.maintenance.due import (
    catalogs_to_list,
    listing_due,
    note_listing,
    patterns_of,
    tables_due,
)
from tidegate.dagster_defs.maintenance.tables import ELSEWHERE, NoDataset, target_of
from tidegate.domain.maintenance.measures import MEASURES
from tidegate.domain.model import App
from tidegate.domain.part_name import app_of
from tidegate.scheduler.intake.tables import TableFound, report_gone, report_health, report_tables
from tidegate.scheduler.model.maintenance import Health, TableState
from tidegate.scheduler.store.patience import patiently
from tidegate.scheduler.store.protocol import Store
from tidegate.scheduler.store.upkeep import UpkeepStore
from tidegate.scheduler.tick.maintenance.policies import Policies, load_policies
from tidegate.spark_jobs.errors import SparkLost
from tidegate.spark_jobs.maintenance.listing import Listing, iceberg_catalogs, list_tables
from tidegate.spark_jobs.maintenance.measuring import TableToMeasure, measure_many
from tidegate.spark_jobs.maintenance.request import Gone
from tidegate.spark_jobs.session.session import session

TABLES_PER_BATCH = 20
"""A batch takes seconds, so a run that is killed loses little."""

TABLES_PER_RUN = 1_000
RUN_TIME = timedelta(minutes=10)
"""A run ends before the first tables that it measured have to be measured again for the second time."""

NEVER_PUBLISHED: Mapping[str, float] = dict.fromkeys(MEASURES, 0.0)
"""What is measured of a dataset that was never published: no file, no snapshot."""


@dataclass(kw_only=True, slots=True)
class Done:
    """What a run has done: numbers of tables, for people."""

    listed: int = 0
    measured: int = 0
    gone: int = 0
    failed: int = 0
    names: set[str] = field(default_factory=set[str])

    def add(self, measured: Mapping[str, Health | Gone], log: Callable[[str], Any]) -> None:
        """Count a batch, and log what could not be measured."""
        self.names |= measured.keys()
        for name, each in measured.items():
            if isinstance(each, Gone):
                self.gone += 1
            elif each.failure:
                self.failed += 1
                log(f"{name} could not be measured: {each.failure}")
            else:
                self.measured += 1


def measure_due(location: Location, log: Callable[[str], Any]) -> Done:
    """List and measure what is due for the project of a code location.

    Args:
        log: writes a warning to the log of the run.
    """
    store, done = patiently(location.open_store), Done()
    done.listed = _list(store, location, log)
    until = location.clock() + RUN_TIME
    while True:
        due = patiently(partial(_due, store, location, done.names))
        if not due.tables:
            return done
        for start in range(0, len(due.tables), TABLES_PER_BATCH):
            if location.clock() >= until or len(done.names) >= TABLES_PER_RUN:
                return done
            batch = due.tables[start : start + TABLES_PER_BATCH]
            done.add(_measure_and_report(store, location, batch, due), log)


# --- listing ----------------------------------------------------------------------------


def _list(store: Store, location: Location, log: Callable[[str], Any]) -> int:
    """List the tables of catalogs if that is due; return their number."""
    now = location.clock()
    plan = patiently(partial(_plan_to_list, store, location, now))
    if plan is None:
        return 0
    # Noted first, so that even a run that dies while it lists is followed by one that measures.
    patiently(partial(_note_listing, store, location, plan))
    try:
        found = _listing(location, plan)
    finally:
        # One that takes long counts from its end: it may have hung until Spark was killed.
        patiently(partial(_note_listing, store, location, plan))
    for each in found.failures:
        log(f"{each.where} could not be listed: {each.why}")
    # A catalog of the same name may be another one in the session of another project.
    complete = () if plan.others else found.complete

    def report() -> None:
        with store.transaction() as transaction:
            tables = [TableFound(catalog_name=name) for name in found.tables]
            report_tables(transaction, tables, now, listed=[f"{name}." for name in complete])

    patiently(report)
    return len(found.tables)


def _plan_to_list(store: Store, location: Location, now: datetime) -> Plan | None:
    """Return the deployed plan if a listing is due; else None."""
    with store.reading() as reader:
        plan = deployed_plan(reader, location.project)
        return plan if listing_due(reader, _own(plan), location.project, now) else None


def _note_listing(store: Store, location: Location, plan: Plan) -> None:
    with store.transaction() as transaction:
        note_listing(transaction, _own(plan), location.project, location.clock())


def _listing(location: Location, plan: Plan) -> Listing:
    spark = session(location.spark)
    return list_tables(spark, catalogs_to_list(patterns_of(_own(plan)), iceberg_catalogs(spark)))


def _own(plan: Plan) -> tuple[App, ...]:
    return tuple(loaded.app for loaded in plan.apps)


# --- measuring --------------------------------------------------------------------------


class _Due(NamedTuple):
    """What there is to measure, and what is deployed, as the store was read once."""

    tables: Sequence[TableState]
    policies: Policies
    plan: Plan


def _due(store: UpkeepStore, location: Location, done: Collection[str]) -> _Due:
    """Return what is due apart from the tables that this run has measured."""
    now = location.clock()
    with store.reading() as reader:
        plan = deployed_plan(reader, location.project)
        tables = [table for table in tables_due(reader, _own(plan), now) if table.name not in done]
        return _Due(tables, load_policies(reader, now), plan)


def _measure_and_report(
    store: Store, location: Location, batch: Sequence[TableState], due: _Due
) -> Mapping[str, Health | Gone]:
    """Measure a batch; return what is reported of it.

    Raises:
        SparkLost: the JVM has ended; that is reported of the whole batch.
    """
    now = location.clock()
    try:
        measured = _judged(_measure(location, batch, due.policies, now), batch, due.plan, now)
    except SparkLost as error:
        lost = Health(measured_at=now, failure=str(error))
        patiently(partial(_report, store, {table.name: lost for table in batch}, location.clock()))
        raise
    patiently(partial(_report, store, measured, location.clock()))
    return measured


def _measure(
    location: Location, batch: Sequence[TableState], policies: Policies, now: datetime
) -> dict[str, Health | Gone]:
    found: dict[str, Health | Gone] = {}
    wanted: list[TableToMeasure] = []
    for table in batch:
        try:
            target = target_of(table.name, table.dataset, table.catalog_name, policies.apps)
        except NoDataset as error:
            found[table.name] = Health(measured_at=now, failure=str(error))
            continue
        wanted.append(TableToMeasure(table=target, rules=policies.rules(table)))
    if wanted:
        found |= measure_many(session(location.spark), wanted, now, warehouse=location.warehouse)
    return found


def _judged(
    found: Mapping[str, Health | Gone], batch: Sequence[TableState], plan: Plan, now: datetime
) -> dict[str, Health | Gone]:
    """Return what was found, with what it means that the table of a dataset does not exist.

    A deployed dataset exists, published or not. That of another project may be where this one does not look.
    """
    theirs = frozenset(loaded.app.name for loaded in plan.others)
    judged = dict(found)
    for table in batch:
        if table.dataset is None or not isinstance(found[table.name], Gone):
            continue
        if app_of(table.dataset) in theirs:
            judged[table.name] = Health(measured_at=now, failure=ELSEWHERE.format(table.dataset))
        else:
            judged[table.name] = Health(measured_at=now, values=dict(NEVER_PUBLISHED), note="never published")
    return judged


def _report(store: Store, measured: Mapping[str, Health | Gone], now: datetime) -> None:
    healths = {name: each for name, each in measured.items() if isinstance(each, Health)}
    gone = [name for name, each in measured.items() if isinstance(each, Gone)]
    with store.transaction() as transaction:
        if healths:
            report_health(transaction, healths, now)
        if gone:
            report_gone(transaction, gone, now)
