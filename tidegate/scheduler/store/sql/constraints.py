"""The reader of constraints: it decodes only the specifications of schedules that name a kind."""

from collections.abc import Collection
from typing import Any

from sqlalchemy import Text, func, or_, select, type_coerce

from tidegate.domain.model import Constraint, Schedule
from tidegate.scheduler.store.engine_reader import constraints_of
from tidegate.scheduler.store.sql import tables
from tidegate.scheduler.store.sql.columns import Row, as_held
from tidegate.scheduler.store.sql.statements.queries import Queries, readable

PLACE = {"sqlite": func.instr, "postgresql": func.strpos}
"""Where a text has another one; 0 if it has not."""


class ConstraintReader(Queries):
    def constraints(
        self, kinds: Collection[type[Constraint]], *, app: str | None = None
    ) -> tuple[tuple[str, Constraint], ...]:
        schedule = tables.schedules.c
        text = type_coerce(schedule.spec, Text)
        tags = (f'"{kind.__struct_config__.tag}"' for kind in kinds)
        found = select(schedule.ref, as_held(schedule.spec)).where(
            or_(*(PLACE[self._dialect](text, tag) > 0 for tag in tags))
        )
        if app is not None:
            found = found.where(schedule.app == app)
        rows = self._connection.execute(found.order_by(schedule.ref)).all()
        return constraints_of(kinds, (value for value, _ in readable(found, _of, rows)))


def _of(row: Row) -> tuple[str, Schedule]:
    kind: Any = tables.schedules.c.spec.type
    return row[0], kind.restored(row[1])
