"""Totals, which transactions keep from now on; those of an older store are counted once. And two indexes."""

from collections import Counter
from collections.abc import Iterator

import sqlalchemy as sa
from alembic import op

revision = "0037"
down_revision = "0036"

NAME = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")

OF_APPS = {
    "events": "SELECT key, count(*) FROM events GROUP BY key",
    "launches": "SELECT program, count(*) FROM launches GROUP BY program",
    "runs": "SELECT program, status, count(*) FROM runs GROUP BY program, status",
    "jobs": "SELECT app, state, reason, count(*) FROM jobs"
    " WHERE state IN ('SUCCEEDED', 'FAILED', 'DISCARDED') GROUP BY app, state, reason",
}
SUMS = "SELECT schedule, outcome, reason, sum(events) FROM ledger_sums GROUP BY schedule, outcome, reason"
EVENTS_OF_FINISHED_JOBS = """
    SELECT each.schedule, CASE WHEN each.kept = 1 THEN jobs.state END AS state,
        CASE WHEN each.kept = 1 THEN jobs.reason ELSE each.reason END AS reason, count(*) AS events
    FROM (
        SELECT schedule, job, event, max(CASE WHEN reason IS NULL THEN 1 ELSE 0 END) AS kept,
            min(reason) AS reason
        FROM deliveries GROUP BY schedule, job, event
    ) AS each JOIN jobs ON jobs.id = each.job
    WHERE jobs.state IN ('SUCCEEDED', 'FAILED', 'DISCARDED') GROUP BY 1, 2, 3
"""

Key = tuple[str, str, str, str]


def upgrade() -> None:
    """Add the table and the indexes, and count."""
    totals = op.create_table(
        "totals",
        sa.Column("kind", NAME, nullable=False),
        sa.Column("place", NAME, nullable=False),
        sa.Column("label", NAME, nullable=False),
        sa.Column("reason", NAME, nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("kind", "place", "label", "reason", name="pk_totals"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_schedules_app_status", "schedules", ["app", "status"])
    is_deployment = sa.text("kind = 'deploy'")
    op.create_index(
        "ix_journal_deployments",
        "journal",
        ["number"],
        sqlite_where=is_deployment,
        postgresql_where=is_deployment,
    )
    found: Counter[Key] = Counter()
    for key, number in _of_apps():
        found[key] += number
    for (schedule, outcome, reason), number in _ledger():
        found["ledger", schedule, outcome, reason] += number
        found["outcomes", schedule.partition("/")[0], outcome, reason] += number
    names = ("kind", "place", "label", "reason", "number")
    op.bulk_insert(totals, [dict(zip(names, (*key, n), strict=True)) for key, n in found.items()])


def _of_apps() -> Iterator[tuple[Key, int]]:
    for kind, query in OF_APPS.items():
        for place, *labels, number in op.get_bind().execute(sa.text(query)):
            word, _, rest = place.partition(":") if kind == "events" else ("", "", place)
            label, reason = ("" if each is None else each for each in (*labels, "", "")[:2])
            yield (kind, rest.partition("/")[0], label or word, reason), number


def _ledger() -> Iterator[tuple[tuple[str, str, str], int]]:
    for schedule, outcome, reason, events in op.get_bind().execute(sa.text(SUMS)):
        yield (schedule, outcome, reason), int(events)
    for schedule, state, reason, events in op.get_bind().execute(sa.text(EVENTS_OF_FINISHED_JOBS)):
        yield (schedule, *_outcome(state, reason or "")), events


def _outcome(state: str | None, reason: str) -> tuple[str, str]:
    if state in (None, "DISCARDED") or (state, reason) == ("FAILED", "F-LAUNCH"):
        return "discarded", reason
    return ("failed", reason) if state == "FAILED" else ("succeeded", "")
