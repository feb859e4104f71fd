"""Schedules over REST: what a call changed of one, and columns and an index for lists by the page."""

import json

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"

_SCHEDULES = sa.table(
    "schedules", sa.column("ref"), sa.column("spec"), sa.column("program"), sa.column("trigger_kind")
)


def upgrade() -> None:
    """Add the columns; since when a schedule of an older store is suspended is not known."""
    op.add_column("schedules", sa.Column("revision", sa.Integer(), nullable=False, server_default="1"))
    op.add_column("schedules", sa.Column("source", sa.Text(), nullable=False, server_default="deploy"))
    op.add_column(
        "schedules", sa.Column("overridden", sa.Boolean(), nullable=False, server_default=sa.false())
    )
    op.add_column("schedules", sa.Column("suspended_at", sa.BigInteger(), nullable=True))
    for name in ("program", "trigger_kind"):
        op.add_column("schedules", sa.Column(name, sa.Text(), nullable=False, server_default=""))
    op.drop_index("ix_schedules_app", "schedules")
    op.create_index("ix_schedules_app", "schedules", ["app", "ref"])
    connection = op.get_bind()
    for row in connection.execute(sa.select(_SCHEDULES.c.ref, _SCHEDULES.c.spec)).all():
        spec = json.loads(row.spec)
        found = {"program": spec["program"], "trigger_kind": spec["trigger"]["kind"]}
        connection.execute(sa.update(_SCHEDULES).where(_SCHEDULES.c.ref == row.ref).values(found))
