"""New names for what the store knows of maintenance; see `sql.rename`."""

from collections.abc import Collection

from sqlalchemy import Connection, Text, false, or_, type_coerce

from tidegate.compiler.plan.renames import Renames
from tidegate.domain.part_name import app_of
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.maintenance import table_resource
from tidegate.scheduler.store.renamed_maintenance import renamed_operation
from tidegate.scheduler.store.sql.maintenance import tables
from tidegate.scheduler.store.sql.maintenance.writer import MaintenanceWriter
from tidegate.scheduler.store.sql.statements.moves import move, move_prefix
from tidegate.scheduler.store.sql.statements.queries import every
from tidegate.scheduler.store.sql.statements.rows import JOBS
from tidegate.scheduler.store.sql.tables import jobs, slots


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
            move(self._connection, tables.operation_runs.c.table, old, new)
            move(self._connection, slots.c.resource, table_resource(old), table_resource(new))
        for old, new in names.apps.items():
            move_prefix(self._connection, tables.operation_runs.c.policy, f"{old}/", f"{new}/")
        self._put(JOBS, self._jobs({*names.apps, *(app_of(name) for name in names.datasets)}))

    def _jobs(self, apps: Collection[str]) -> list[Job]:
        """Return the renamed jobs among those whose maintenance names something of these apps."""
        held = type_coerce(jobs.c.maintenance, Text)
        mentions = or_(false(), *(held.contains(f'"{app}/', autoescape=True) for app in sorted(apps)))
        found = self._all(every(JOBS).where(mentions), JOBS.value)
        pairs = [(job, renamed_operation(job, self._names)) for job in found]
        return [new for old, new in pairs if old != new]
