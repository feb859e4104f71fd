"""What the whole trigger and constraint language needs: launches, gauges, clocks, closed and held jobs.

A store that is in use keeps its meaning. The launches that `rate` counts are those of the runs it knows
and of the jobs that are about to run, and whatever holds a slot holds one of all runs too.
"""

import json

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

NAME = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Add the columns and tables, and fill them from what is there."""
    op.add_column("events", sa.Column("run", sa.Text()))
    op.add_column("schedules", sa.Column("clocks", sa.Text(), nullable=False, server_default=sa.text("'{}'")))
    op.add_column("jobs", sa.Column("closed", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.add_column("jobs", sa.Column("held_at", sa.BigInteger()))
    op.add_column("jobs", sa.Column("held_for", sa.BigInteger(), nullable=False, server_default=sa.text("0")))
    _create_launches()
    _create_gauges()
    _note_launches_of_runs()
    _note_launches_that_are_decided()
    op.execute("INSERT INTO slots (resource, holder) SELECT DISTINCT 'runs', holder FROM slots")


def _create_launches() -> None:
    op.create_table(
        "launches",
        sa.Column("holder", NAME, nullable=False),
        sa.Column("program", NAME, nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("holder", name="pk_launches"),
    )
    op.create_index("ix_launches_program", "launches", ["program", "at"])


def _create_gauges() -> None:
    op.create_table(
        "gauges",
        sa.Column("name", NAME, nullable=False),
        sa.Column("value", sa.Double, nullable=False),
        sa.Column("reported_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_gauges"),
    )


def _note_launches_of_runs() -> None:
    op.execute(
        """
        INSERT INTO launches (holder, program, at)
        SELECT coalesce(runs.job, runs.run_id), min(runs.program),
               min(coalesce(jobs.decided_at, runs.started_at, runs.seen_at))
        FROM runs LEFT JOIN jobs ON jobs.id = runs.job
        GROUP BY coalesce(runs.job, runs.run_id)
        """
    )


def _note_launches_that_are_decided() -> None:
    """A job of the outbox has no run yet, and its program is only in its plan."""
    connection = op.get_bind()
    decided = connection.execute(
        sa.text(
            "SELECT id, app, launch, decided_at FROM jobs WHERE state = 'PENDING_LAUNCH'"
            " AND launch IS NOT NULL AND decided_at IS NOT NULL"
            " AND id NOT IN (SELECT holder FROM launches)"
        )
    )
    rows = [
        {"holder": row.id, "program": f"{row.app}/{json.loads(row.launch)['program']}", "at": row.decided_at}
        for row in decided
    ]
    if rows:
        connection.execute(
            sa.text("INSERT INTO launches (holder, program, at) VALUES (:holder, :program, :at)"), rows
        )
