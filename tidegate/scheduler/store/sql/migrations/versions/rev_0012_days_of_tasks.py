"""When the next day of a task is to be generated: apart from when schedules fire.

A tick makes the instances of some tasks only, and does not read the others.
"""

import json

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"

_SCHEDULES = sa.table(
    "schedules", sa.column("ref"), sa.column("spec"), sa.column("due_at"), sa.column("generate_at")
)


def upgrade() -> None:
    """Add the column and its index, and move when tasks are due into it."""
    op.add_column("schedules", sa.Column("generate_at", sa.BigInteger))
    where = sa.text("generate_at IS NOT NULL")
    columns = ["generate_at", "ref"]
    op.create_index("ix_schedules_generate", "schedules", columns, sqlite_where=where, postgresql_where=where)
    connection = op.get_bind()
    due = sa.select(_SCHEDULES.c.ref, _SCHEDULES.c.spec).where(_SCHEDULES.c.due_at.is_not(None))
    tasks = [row.ref for row in connection.execute(due) if json.loads(row.spec)["trigger"]["kind"] == "task"]
    for ref in tasks:
        moved = {"generate_at": _SCHEDULES.c.due_at, "due_at": None}
        connection.execute(sa.update(_SCHEDULES).where(_SCHEDULES.c.ref == ref).values(moved))
