"""Schedules are found by the kind of their trigger, and by the kinds of their constraints.

What asks for tasks, or for the limits of gauges, read every schedule, and the whole text of each for its
constraints.
"""

import json
from collections.abc import Iterator

from alembic import op
from sqlalchemy import text

revision = "0117"
down_revision = "0116"


def upgrade() -> None:
    """Add the column, fill it, and create both indexes."""
    op.execute("ALTER TABLE schedules ADD COLUMN constraint_kinds TEXT")
    connection = op.get_bind()
    rows = connection.execute(text("SELECT ref, spec FROM schedules")).all()
    found = [{"ref": ref, "kinds": " ".join(sorted(set(_kinds(spec))))} for ref, spec in rows]
    if filled := [each for each in found if each["kinds"]]:
        connection.execute(text("UPDATE schedules SET constraint_kinds = :kinds WHERE ref = :ref"), filled)
    op.execute("CREATE INDEX ix_schedules_kind ON schedules (trigger_kind, app, ref)")
    op.execute(
        "CREATE INDEX ix_schedules_constraints ON schedules (constraint_kinds, app, ref)"
        " WHERE constraint_kinds IS NOT NULL"
    )


def _kinds(spec: str) -> Iterator[str]:
    """Yield the kind of each constraint; none of a damaged row, which nothing reads."""
    try:
        yield from (each["kind"] for each in json.loads(spec)["constraints"])
    except (ValueError, TypeError, KeyError):
        return
