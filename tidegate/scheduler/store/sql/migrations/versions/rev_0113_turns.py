"""Jobs of an instant whose turn is still to come: a part of a tick leaves them to the next one."""

from alembic import op

revision = "0113"
down_revision = "0112"

NAME = {"sqlite": "TEXT", "postgresql": 'TEXT COLLATE "C"'}
"""A text that is compared by code points."""

TURNS = """
CREATE TABLE turns (
    job {name} NOT NULL, at BIGINT NOT NULL, rank {name} NOT NULL, queue {name}, known TEXT,
    CONSTRAINT pk_turns PRIMARY KEY (job)
);
CREATE INDEX ix_turns_rank ON turns (at, rank, job)
"""


def upgrade() -> None:
    """Create the table."""
    name = NAME[op.get_context().dialect.name]
    for statement in TURNS.format(name=name).split(";"):
        op.execute(statement)
