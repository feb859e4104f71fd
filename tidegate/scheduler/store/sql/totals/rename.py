"""New names for totals: those of the ledger move, the others are counted again."""

from collections import Counter
from typing import Any

from sqlalchemy import Connection, Select, delete, func, select

from tidegate.compiler.plan.renames import Renames
from tidegate.domain.part_name import app_of
from tidegate.scheduler.model.job import FINISHED
from tidegate.scheduler.store.answers import of_event_key
from tidegate.scheduler.store.sql import tables
from tidegate.scheduler.store.sql.statements import bulk
from tidegate.scheduler.store.sql.totals.tables import EVENTS, JOBS, LAUNCHES, LEDGER, OUTCOMES, RUNS, totals
from tidegate.scheduler.store.sql.totals.writer import NAMES


def rename_totals(connection: Connection, names: Renames) -> None:
    """Bring the totals up to date with rows that have new names."""
    found: Counter[tuple[str, str, str, str]] = Counter()
    for kind, place, label, reason, number in connection.execute(
        select(totals).where(totals.c.kind == LEDGER)
    ):
        schedule = names.schedule(place)
        found[kind, schedule, label, reason] += number
        found[OUTCOMES, app_of(schedule), label, reason] += number
    found.update(_counted(connection))
    connection.execute(delete(totals))
    bulk.insert(
        connection,
        totals,
        NAMES,
        [(*key, number) for key, number in found.items()],
        on_conflict="fail",
    )


def _counted(connection: Connection) -> Counter[tuple[str, str, str, str]]:
    found: Counter[tuple[str, str, str, str]] = Counter()
    for key, number in connection.execute(_by(tables.events.c.key)):
        app, kind = of_event_key(key)
        found[EVENTS, app, kind, ""] += number
    for program, number in connection.execute(_by(tables.launches.c.program)):
        found[LAUNCHES, app_of(program), "", ""] += number
    for program, status, number in connection.execute(_by(tables.runs.c.program, tables.runs.c.status)):
        found[RUNS, app_of(program), str(status), ""] += number
    job = tables.jobs.c
    finished = _by(job.app, job.state, job.reason).where(job.state.in_(sorted(FINISHED)))
    for app, state, reason, number in connection.execute(finished):
        found[JOBS, app, str(state), reason or ""] += number
    return found


def _by(*columns: Any) -> Select[*tuple[Any, ...]]:
    return select(*columns, func.count()).group_by(*columns)
