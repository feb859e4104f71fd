"""The key of a schedule whose events join a job, and an index by which a wake passes over jobs in queues.

Neither an event nor the end of a run reads the other jobs that wait.
"""

from alembic import op

revision = "0109"
down_revision = "0107"

NAME = {"sqlite": "TEXT", "postgresql": 'TEXT COLLATE "C"'}
"""A text that is compared by code points."""

SEPARATOR = {"sqlite": "char(1)", "postgresql": "chr(1)"}

OPEN_KEYS = """
ALTER TABLE jobs ADD COLUMN open_for {name};
UPDATE jobs SET open_for = schedule || {separator} || key
    WHERE state IN ('PENDING_TRIGGER', 'PENDING_CONSTRAINT') AND NOT closed
    AND instance IS NULL AND maintenance IS NULL;
CREATE INDEX ix_jobs_open_for ON jobs (open_for) WHERE open_for IS NOT NULL;
DROP INDEX ix_jobs_blocked_on;
CREATE INDEX ix_jobs_blocked_on ON jobs (blocked_on, queue) WHERE blocked_on IS NOT NULL
"""


def upgrade() -> None:
    """Create the column with what it says of the jobs that wait, and its index."""
    dialect = op.get_context().dialect.name
    for statement in OPEN_KEYS.format(name=NAME[dialect], separator=SEPARATOR[dialect]).split(";"):
        op.execute(statement)
