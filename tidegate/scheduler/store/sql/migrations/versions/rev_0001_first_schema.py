"""The first schema: what is deployed, what happened, what waits, what runs, and what is published.

Types are written out as they are stored, not as the engine sees them, so that later changes
of `scheduler.store.sql.columns` cannot change this revision.
"""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

NAME = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
SERIAL = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Create every table."""
    _create_apps()
    _create_claims()
    _create_cursors()
    _create_deliveries()
    _create_events()
    _create_jobs()
    _create_journal()
    _create_runs()
    _create_schedules()
    _create_slots()
    _create_subscriptions()
    _create_commit_sequences()


def partial(condition: str) -> dict[str, Any]:
    """The arguments that make an index hold only the rows that fulfil a condition."""
    return {"sqlite_where": sa.text(condition), "postgresql_where": sa.text(condition)}


def _create_apps() -> None:
    op.create_table(
        "apps",
        sa.Column("name", NAME, nullable=False),
        sa.Column("spec", sa.Text(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("deployed_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_apps"),
    )


def _create_claims() -> None:
    op.create_table(
        "claims",
        sa.Column("job", NAME, nullable=False),
        sa.Column("attempt", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("run_id", NAME, nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("job", "attempt", name="pk_claims"),
    )


def _create_cursors() -> None:
    op.create_table(
        "cursors",
        sa.Column("name", NAME, nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_cursors"),
    )


def _create_deliveries() -> None:
    op.create_table(
        "deliveries",
        sa.Column("job", NAME, nullable=False),
        sa.Column("event", NAME, nullable=False),
        sa.Column("schedule", NAME, nullable=False),
        sa.Column("leaf", NAME, nullable=False),
        sa.Column("reason", sa.Text()),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("job", "event", "schedule", "leaf", name="pk_deliveries"),
    )
    op.create_index("ix_deliveries_event", "deliveries", ["event"])
    op.create_index("ix_deliveries_schedule", "deliveries", ["schedule", "job", "reason"])


def _create_events() -> None:
    op.create_table(
        "events",
        sa.Column("id", NAME, nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("key", NAME, nullable=False),
        sa.Column("time", sa.BigInteger(), nullable=False),
        sa.Column("arrived", sa.BigInteger(), nullable=False),
        sa.Column("partition", NAME),
        sa.Column("bytes", sa.BigInteger()),
        sa.Column("rows", sa.BigInteger()),
        sa.Column("run_id", NAME),
        sa.Column("status", sa.Text()),
        sa.Column("scheduled_for", sa.BigInteger()),
        sa.Column("own_job", sa.Boolean(), nullable=False),
        sa.Column("expired", sa.Boolean(), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.Column("unrouted_since", sa.BigInteger()),
        sa.PrimaryKeyConstraint("id", name="pk_events"),
    )
    op.create_index("ix_events_arrived", "events", ["arrived", "id"])
    op.create_index("ix_events_key", "events", ["key", "arrived"])
    op.create_index(
        "ix_events_unrouted", "events", ["unrouted_since", "id"], **partial("unrouted_since IS NOT NULL")
    )


def _create_jobs() -> None:
    op.create_table(
        "jobs",
        sa.Column("id", NAME, nullable=False),
        sa.Column("app", NAME, nullable=False),
        sa.Column("schedule", NAME, nullable=False),
        sa.Column("key", NAME, nullable=False),
        sa.Column("fingerprint", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text()),
        sa.Column("priority", sa.Text(), nullable=False),
        sa.Column("opened_at", sa.BigInteger(), nullable=False),
        sa.Column("first_event_at", sa.BigInteger()),
        sa.Column("satisfied_at", sa.BigInteger()),
        sa.Column("next_check_at", sa.BigInteger()),
        sa.Column("blocked_on", NAME),
        sa.Column("by_hand", sa.Text()),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("offers", sa.Integer(), nullable=False),
        sa.Column("offered_at", sa.BigInteger()),
        sa.Column("run_id", NAME),
        sa.Column("launch", sa.Text()),
        sa.Column("resources", sa.Text(), nullable=False),
        sa.Column("decided_at", sa.BigInteger()),
        sa.Column("launched_at", sa.BigInteger()),
        sa.Column("ended_at", sa.BigInteger()),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.Column("due_at", sa.BigInteger()),
        sa.PrimaryKeyConstraint("id", name="pk_jobs"),
    )
    op.create_index("ix_jobs_app_state", "jobs", ["app", "state", "opened_at"])
    op.create_index(
        "ix_jobs_blocked_on", "jobs", ["blocked_on", "state"], **partial("blocked_on IS NOT NULL")
    )
    op.create_index("ix_jobs_due", "jobs", ["due_at", "id"], **partial("due_at IS NOT NULL"))
    op.create_index("ix_jobs_opened", "jobs", ["opened_at", "id"])
    op.create_index("ix_jobs_schedule_state", "jobs", ["schedule", "state", "opened_at"])
    op.create_index("ix_jobs_state", "jobs", ["state", "opened_at"])


def _create_journal() -> None:
    op.create_table(
        "journal",
        sa.Column("number", SERIAL, autoincrement=True, nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("schedule", NAME),
        sa.Column("job", NAME),
        sa.Column("run_id", NAME),
        sa.Column("event", NAME),
        sa.Column("reason", sa.Text()),
        sa.Column("data", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_journal"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_journal_at", "journal", ["at"])
    op.create_index("ix_journal_job", "journal", ["job", "number"])
    op.create_index("ix_journal_schedule", "journal", ["schedule", "number"])


def _create_runs() -> None:
    op.create_table(
        "runs",
        sa.Column("run_id", NAME, nullable=False),
        sa.Column("program", NAME, nullable=False),
        sa.Column("job", NAME),
        sa.Column("attempt", sa.Integer()),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("seen_at", sa.BigInteger(), nullable=False),
        sa.Column("started_at", sa.BigInteger()),
        sa.Column("ended_at", sa.BigInteger()),
        sa.PrimaryKeyConstraint("run_id", name="pk_runs"),
    )
    op.create_index("ix_runs_history", "runs", ["program", "status", "ended_at", "run_id"])
    op.create_index("ix_runs_job", "runs", ["job"])
    op.create_index("ix_runs_seen", "runs", ["seen_at", "run_id"])
    op.create_index("ix_runs_status", "runs", ["status", "seen_at"])


def _create_schedules() -> None:
    op.create_table(
        "schedules",
        sa.Column("ref", NAME, nullable=False),
        sa.Column("app", NAME, nullable=False),
        sa.Column("spec", sa.Text(), nullable=False),
        sa.Column("fingerprint", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("changed_by", sa.Text(), nullable=False),
        sa.Column("active_since", sa.BigInteger()),
        sa.Column("fires_after", sa.BigInteger()),
        sa.Column("next_fire_at", sa.BigInteger()),
        sa.Column("deployed_at", sa.BigInteger(), nullable=False),
        sa.Column("due_at", sa.BigInteger()),
        sa.PrimaryKeyConstraint("ref", name="pk_schedules"),
    )
    op.create_index("ix_schedules_app", "schedules", ["app"])
    op.create_index("ix_schedules_due", "schedules", ["due_at", "ref"], **partial("due_at IS NOT NULL"))


def _create_slots() -> None:
    op.create_table(
        "slots",
        sa.Column("resource", NAME, nullable=False),
        sa.Column("holder", NAME, nullable=False),
        sa.PrimaryKeyConstraint("resource", "holder", name="pk_slots"),
    )
    op.create_index("ix_slots_holder", "slots", ["holder"])


def _create_subscriptions() -> None:
    op.create_table(
        "subscriptions",
        sa.Column("event_key", NAME, nullable=False),
        sa.Column("schedule", NAME, nullable=False),
        sa.Column("leaf", NAME, nullable=False),
        sa.PrimaryKeyConstraint("event_key", "schedule", "leaf", name="pk_subscriptions"),
    )
    op.create_index("ix_subscriptions_schedule", "subscriptions", ["schedule"])


def _create_commit_sequences() -> None:
    # They may exist already: a run outside any deployment keeps its commits in the same database.
    op.create_table(
        "commit_sequences",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("token", sa.BigInteger(), nullable=False),
        sa.Column("datasets", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("result", sa.Text()),
        sa.Column("checksum", sa.String(length=64), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_commit_sequences"),
        if_not_exists=True,
    )
    op.create_table(
        "commit_datasets",
        sa.Column("dataset", sa.Text(), nullable=False),
        sa.Column("sequence", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["sequence"],
            ["commit_sequences.id"],
            name="fk_commit_datasets_sequence_commit_sequences",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("dataset", "sequence", name="pk_commit_datasets"),
        if_not_exists=True,
    )
    op.create_table(
        "commit_tokens",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("value", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_commit_tokens"),
        if_not_exists=True,
    )
