"""Overrides: what calls and people have changed, who, why, and until when.

Schedules that were suspended, created or changed before have one without a reason; what a changed one was
deployed as is not known.
"""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0033"
down_revision = "0032"

NAME = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
EXPIRES = sa.text("expires_at IS NOT NULL")
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
HELD = (
    "INSERT INTO overrides (ref, kind, app, owner, reason, since) VALUES "
    "(:app, 'held', :app, :owner, '', :since)"
)
COPY = "INSERT INTO overrides (ref, kind, app, owner, reason, since, status) SELECT "


def upgrade() -> None:
    """Add the table, with what differs from the deployments."""
    op.create_table(
        "overrides",
        sa.Column("ref", NAME, nullable=False),
        sa.Column("kind", NAME, nullable=False),
        sa.Column("app", NAME, nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("since", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=True),
        sa.Column("spec", sa.Text(), nullable=True),
        sa.Column("status", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("ref", "kind", name="pk_overrides"),
    )
    op.create_index("ix_overrides_app", "overrides", ["app"])
    op.create_index(
        "ix_overrides_expires",
        "overrides",
        ["expires_at"],
        sqlite_where=EXPIRES,
        postgresql_where=EXPIRES,
    )
    op.execute(
        f"{COPY} ref, 'status', app, changed_by, '', suspended_at, 'active'"
        " FROM schedules WHERE suspended_at IS NOT NULL"
    )
    op.execute(
        f"{COPY} ref, 'created', app, 'rest', '', deployed_at, NULL FROM schedules WHERE source = 'api'"
    )
    op.execute(
        f"{COPY} ref, 'specification', app, 'rest', '', deployed_at, NULL"
        " FROM schedules WHERE overridden AND source <> 'api'"
    )
    held = op.get_bind().execute(sa.text("SELECT value FROM cursors WHERE name = 'held-apps'")).scalar()
    holds: dict[str, dict[str, Any]] = json.loads(held or "null") or {}
    for app, hold in holds.items():
        since = (datetime.fromisoformat(hold["at"]) - EPOCH) // timedelta(microseconds=1)
        values = {"app": app, "owner": hold["by"], "since": since}
        op.get_bind().execute(sa.text(HELD), values)
