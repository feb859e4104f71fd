"""Repairs: the last launch of each key, the jobs that a job repairs, and the events that say so."""

from alembic import op

revision = "0105"
down_revision = "0104"

NAME = {"sqlite": "TEXT", "postgresql": 'TEXT COLLATE "C"'}
"""A text that is compared by code points."""

REPAIRS = """
CREATE TABLE last_launches (
    schedule {name} NOT NULL, key {name} NOT NULL, job {name} NOT NULL, jobs TEXT NOT NULL,
    since BIGINT NOT NULL, number INTEGER NOT NULL, provisional BOOLEAN NOT NULL, repair TEXT,
    CONSTRAINT pk_last_launches PRIMARY KEY (schedule, key)
);
ALTER TABLE jobs ADD COLUMN repairs TEXT;
ALTER TABLE events ADD COLUMN repairs {name};
ALTER TABLE events ADD COLUMN provisional BOOLEAN NOT NULL DEFAULT FALSE
"""


def upgrade() -> None:
    """Create the table, and the columns: no job before was a repair."""
    name = NAME[op.get_context().dialect.name]
    for statement in REPAIRS.format(name=name).split(";"):
        op.execute(statement)
