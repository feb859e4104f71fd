"""New names for all rows of renamed apps and parts of them, in the caller's transaction.

Every row that decides something later moves: the events and their deliveries, jobs, launches, runs, the
journal of a schedule, maintenance, watermarks, and the records of finished publishes. Rows left behind
under the new name by a part that was removed long ago are replaced. Commit sequences that are not finished
name their datasets in steps that cannot be changed: the caller refuses the rename while there are any.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Mapping
from typing import Any, cast

import msgspec
from sqlalchemy import Column, Connection, Select, Text, delete, false, func, or_, select, type_coerce, update

from tidegate.compiler.plan.renames import Renames
from tidegate.domain.part_name import app_of, name_of
from tidegate.scheduler.model.job import FINISHED, Job
from tidegate.scheduler.model.maintenance import table_resource
from tidegate.scheduler.model.retention import LedgerSum
from tidegate.scheduler.model.run import KEY, KEY_OF_BACKFILL
from tidegate.scheduler.store.answers import of_event_key
from tidegate.scheduler.store.renamed import renamed_operation
from tidegate.scheduler.store.sql import tables
from tidegate.scheduler.store.sql.columns import LAST_CODE_POINT
from tidegate.scheduler.store.sql.commit_tables import (
    commit_abandoned,
    commit_outputs,
    commit_sequences,
    commit_watermarks,
)
from tidegate.scheduler.store.sql.journal import JOURNAL_TABLE
from tidegate.scheduler.store.sql.maintenance import MaintenanceWriter, operation_runs
from tidegate.scheduler.store.sql.retention.tables import ledger_sums
from tidegate.scheduler.store.sql.retention.writer import put_sums
from tidegate.scheduler.store.sql.statements import bulk
from tidegate.scheduler.store.sql.statements import rows as codecs
from tidegate.scheduler.store.sql.statements.queries import every
from tidegate.scheduler.store.sql.tables import jobs, slots
from tidegate.scheduler.store.sql.totals import (
    CHANGES,
    EVENTS,
    JOBS,
    LAUNCHES,
    LEDGER,
    NAMES,
    OUTCOMES,
    RUNS,
    totals,
)

STATUSES = ("started", "succeeded", "failed", "completed")


def rename_rows(connection: Connection, names: Renames) -> None:
    """Give rows their new names; apps, schedules and most values of jobs are put by the caller."""
    for old, new in names.datasets.items():
        for kind in ("partition", "checked"):
            move(connection, tables.events.c.key, f"{kind}:{old}", f"{kind}:{new}")
    for old, new in names.programs.items():
        for status in STATUSES:
            move(connection, tables.events.c.key, f"run:{old}:{status}", f"run:{new}:{status}")
        move(connection, tables.launches.c.program, old, new)
        move(connection, tables.runs.c.program, old, new)
    _schedules(connection, names)
    for old, new in names.apps.items():
        move_prefix(connection, tables.events.c.key, f"fire:{old}/", f"fire:{new}/")
        for column in (
            tables.events.c.only_for,
            tables.deliveries.c.schedule,
            tables.jobs.c.schedule,
            JOURNAL_TABLE.c.schedule,
            tables.jobs.c.late_of,
            tables.jobs.c.open_for,
        ):
            move_prefix(connection, column, f"{old}/", f"{new}/")
        for prefix in (KEY, KEY_OF_BACKFILL):
            move_prefix(connection, slots.c.resource, f"{prefix}{old}/", f"{prefix}{new}/")
        move(connection, tables.jobs.c.app, old, new)
    rename_maintenance(connection, names)
    rename_sums(connection, names)
    rename_totals(connection, names)
    _watermarks(connection, names)
    _finished(connection, names)
    _abandoned(connection, names)


def _schedules(connection: Connection, names: Renames) -> None:
    """Rename schedules and tasks whose own name changes; an app's new name is in theirs already."""
    events, deliveries, jobs = tables.events.c, tables.deliveries.c, tables.jobs.c
    for old, new in names.schedules.items():
        move_prefix(connection, events.key, f"fire:{old}:", f"fire:{new}:")
        # What an earlier schedule of the new name has left of an event gives way.
        left = select(deliveries.event).where(deliveries.schedule == old)
        connection.execute(
            delete(tables.deliveries)
            .where(deliveries.schedule == new, deliveries.job == tables.NO_JOB)
            .where(deliveries.event.in_(left))
        )
        for column in (events.only_for, deliveries.schedule, JOURNAL_TABLE.c.schedule, jobs.late_of):
            move(connection, column, old, new)
        # A policy may have the same name: its operations keep it.
        connection.execute(
            update(tables.jobs)
            .where(jobs.schedule == old, jobs.maintenance.is_(None))
            .values(schedule=new, app=app_of(new), open_for=new + func.substr(jobs.open_for, len(old) + 1))
        )
        move_prefix(connection, tables.cursors.c.name, f"report:{old}:", f"report:{new}:")
        for prefix in (KEY, KEY_OF_BACKFILL):
            move_prefix(connection, slots.c.resource, f"{prefix}{old}:", f"{prefix}{new}:")


def _watermarks(connection: Connection, names: Renames) -> None:
    for column, renamed in (
        (commit_watermarks.c.consumer, names.programs),
        (commit_watermarks.c.source, names.datasets),
    ):
        for old, new in renamed.items():
            connection.execute(delete(commit_watermarks).where(column == new))
            move(connection, column, old, new)


def _finished(connection: Connection, names: Renames) -> None:
    """Rename the datasets in the records of finished publishes, which a retry reports again."""
    for row in connection.execute(
        select(commit_sequences).where(commit_sequences.c.result.is_not(None))
    ).all():
        listed = _renamed_list(row.datasets, names)
        if listed == row.datasets:
            continue
        result = _renamed_result(row.result, json.loads(row.datasets), names)
        text = json.dumps([row.id, row.token, listed, row.body, result], ensure_ascii=True)
        checksum = hashlib.sha256(text.encode()).hexdigest()
        connection.execute(
            update(commit_sequences)
            .where(commit_sequences.c.id == row.id)
            .values(datasets=listed, result=result, checksum=checksum)
        )


def _abandoned(connection: Connection, names: Renames) -> None:
    of_renamed = select(commit_outputs).where(commit_outputs.c.dataset.in_(names.datasets))
    for row in connection.execute(of_renamed).all():
        published = None if row.published is None else _renamed_result(row.published, [row.dataset], names)
        connection.execute(
            update(commit_outputs)
            .where(commit_outputs.c.sequence == row.sequence, commit_outputs.c.dataset == row.dataset)
            .values(dataset=names.datasets[row.dataset], published=published)
        )
    for row in connection.execute(select(commit_abandoned.c.sequence, commit_abandoned.c.datasets)).all():
        listed = _renamed_list(row.datasets, names)
        if listed != row.datasets:
            connection.execute(
                update(commit_abandoned)
                .where(commit_abandoned.c.sequence == row.sequence)
                .values(datasets=listed)
            )


def _renamed_list(listed: str, names: Renames) -> str:
    """Return a list of datasets, and of watermarks as "consumer <- source", under the new names."""
    renamed: Mapping[str, str] = {**names.programs, **names.datasets}
    found: list[str] = json.loads(listed)
    new = [" <- ".join(renamed.get(part, part) for part in name.split(" <- ")) for name in found]
    return json.dumps(new, ensure_ascii=False) if new != found else listed


def _renamed_result(result: str, datasets: list[str], names: Renames) -> str:
    """Return the published partitions, whose datasets are named without their app."""
    by_name = {name_of(name): name for name in datasets if " <- " not in name}
    published = cast("list[dict[str, Any]]", json.loads(result))
    for each in published:
        old = by_name.get(each["dataset"], "")
        if old in names.datasets:
            each["dataset"] = name_of(names.datasets[old])
    return json.dumps(published, ensure_ascii=False, separators=(",", ":"))


def rename_sums(connection: Connection, names: Renames) -> None:
    """Give the sums of renamed apps, schedules and tasks their new names."""
    found: list[LedgerSum] = []
    moved = [
        *(ledger_sums.c.schedule == old for old in names.schedules),
        *(ledger_sums.c.schedule.between(f"{old}/", f"{old}/{LAST_CODE_POINT}") for old in names.apps),
    ]
    for rows in moved:
        for schedule, day, outcome, reason, events in connection.execute(select(ledger_sums).where(rows)):
            each = LedgerSum(schedule=schedule, day=day, outcome=outcome, reason=reason, events=events)
            found.append(each)
        connection.execute(delete(ledger_sums).where(rows))
    renamed = (msgspec.structs.replace(each, schedule=names.schedule(each.schedule)) for each in found)
    put_sums(connection, renamed)


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
    connection.execute(delete(totals).where(totals.c.kind != CHANGES))
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


def rename_maintenance(connection: Connection, names: Renames) -> None:
    """Give runs, and the jobs and slots of operations their new names."""
    _Renaming(connection, names).run()


class _Renaming(MaintenanceWriter):
    def __init__(self, connection: Connection, names: Renames) -> None:
        super().__init__(connection)
        self._names = names

    def run(self) -> None:
        names = self._names
        for old, new in names.datasets.items():
            move(self._connection, operation_runs.c.table, old, new)
            move(self._connection, slots.c.resource, table_resource(old), table_resource(new))
        for old, new in names.apps.items():
            move_prefix(self._connection, operation_runs.c.policy, f"{old}/", f"{new}/")
        self._put(codecs.JOBS, self._jobs({*names.apps, *(app_of(name) for name in names.datasets)}))

    def _jobs(self, apps: Collection[str]) -> list[Job]:
        """Return the renamed jobs among those whose maintenance names something of these apps."""
        held = type_coerce(jobs.c.maintenance, Text)
        mentions = or_(false(), *(held.contains(f'"{app}/', autoescape=True) for app in sorted(apps)))
        found = self._all(every(codecs.JOBS).where(mentions), codecs.JOBS.value)
        pairs = [(job, renamed_operation(job, self._names)) for job in found]
        return [new for old, new in pairs if old != new]


def move(connection: Connection, column: Column[Any], old: str, new: str) -> None:
    """Give the rows that have a name in a column the new name."""
    connection.execute(update(column.table).where(column == old).values({column: new}))


def move_prefix(connection: Connection, column: Column[Any], old: str, new: str) -> None:
    """Give the rows whose name begins with a prefix the new prefix."""
    rest = func.substr(column, len(old) + 1)
    connection.execute(
        update(column.table).where(column >= old, column < old + LAST_CODE_POINT).values({column: new + rest})
    )
