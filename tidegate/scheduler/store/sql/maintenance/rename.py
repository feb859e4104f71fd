"""New names for what the store knows of maintenance; see `sql.rename`."""

from collections.abc import Callable, Collection
from typing import TypeVar

from sqlalchemy import Connection, Text, false, or_, type_coerce

from tidegate.compiler.plan.renames import Renames
from tidegate.domain.part_name import app_of
from tidegate.domain.value import Value
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.maintenance import table_resource
from tidegate.scheduler.store.renamed_maintenance import renamed_operation, renamed_record, renamed_table
from tidegate.scheduler.store.sql.columns import Codec
from tidegate.scheduler.store.sql.maintenance import tables
from tidegate.scheduler.store.sql.maintenance.rows import RECORDS, TABLES
from tidegate.scheduler.store.sql.maintenance.writer import MaintenanceWriter
from tidegate.scheduler.store.sql.statements.moves import move, move_prefix
from tidegate.scheduler.store.sql.statements.queries import every
from tidegate.scheduler.store.sql.statements.rows import JOBS
from tidegate.scheduler.store.sql.tables import jobs, slots

V = TypeVar("V", bound=Value)


def rename_maintenance(connection: Connection, names: Renames) -> None:
    """Give tables, records, runs, and the jobs and slots of operations their new names."""
    _Renaming(connection, names).run()


class _Renaming(MaintenanceWriter):
    def __init__(self, connection: Connection, names: Renames) -> None:
        super().__init__(connection)
        self._names = names

    def run(self) -> None:
        names = self._names
        for old, new in names.datasets.items():
            move(self._connection, tables.operation_runs.c.table, old, new)
            move(self._connection, slots.c.resource, table_resource(old), table_resource(new))
        for old, new in names.apps.items():
            move_prefix(self._connection, tables.operation_runs.c.policy, f"{old}/", f"{new}/")
        before, after = self._changed(TABLES, lambda table: renamed_table(table, names))
        self._delete(tables.maintained_tables.c.name, [table.name for table in before])
        self.put_tables(after)
        old_records, records = self._changed(RECORDS, lambda record: renamed_record(record, names))
        self.delete_records(old_records)
        self.put_records(records)
        self._put(JOBS, self._jobs({*names.apps, *(app_of(name) for name in names.datasets)}))

    def _changed(self, codec: Codec[V], renamed: Callable[[V], V]) -> tuple[list[V], list[V]]:
        """Return the values that have other names now, as they were and as they are."""
        pairs = [(value, renamed(value)) for value in self._all(every(codec), codec.value)]
        changed = [(old, new) for old, new in pairs if old != new]
        return [old for old, _ in changed], [new for _, new in changed]

    def _jobs(self, apps: Collection[str]) -> list[Job]:
        """Return the renamed jobs among those whose maintenance names something of these apps."""
        held = type_coerce(jobs.c.maintenance, Text)
        mentions = or_(false(), *(held.contains(f'"{app}/', autoescape=True) for app in sorted(apps)))
        found = self._all(every(JOBS).where(mentions), JOBS.value)
        pairs = [(job, renamed_operation(job, self._names)) for job in found]
        return [new for old, new in pairs if old != new]
