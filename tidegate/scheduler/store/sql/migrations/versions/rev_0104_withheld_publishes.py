"""Publishes that a failed check withholds, with the text of their commit sequences."""

from alembic import op

revision = "0104"
down_revision = "0103"

NAME = {"sqlite": "TEXT", "postgresql": 'TEXT COLLATE "C"'}
"""A text that is compared by code points."""

WITHHELD_PUBLISHES = """
CREATE TABLE withheld_publishes (
    "commit" {name} NOT NULL, job {name} NOT NULL, token BIGINT NOT NULL, datasets TEXT NOT NULL,
    verdicts TEXT NOT NULL, at BIGINT NOT NULL, CONSTRAINT pk_withheld_publishes PRIMARY KEY ("commit")
);
CREATE INDEX ix_withheld_publishes_job ON withheld_publishes (job);
CREATE INDEX ix_withheld_publishes_at ON withheld_publishes (at, "commit");
CREATE TABLE commit_withheld (
    id TEXT NOT NULL, token BIGINT NOT NULL, datasets TEXT NOT NULL, body TEXT NOT NULL, moves TEXT,
    checksum VARCHAR(64) NOT NULL, CONSTRAINT pk_commit_withheld PRIMARY KEY (id)
);
CREATE INDEX ix_commit_withheld_moves ON commit_withheld (id) WHERE moves IS NOT NULL
"""


def upgrade() -> None:
    """Create the tables with their indexes."""
    name = NAME[op.get_context().dialect.name]
    for statement in WITHHELD_PUBLISHES.format(name=name).split(";"):
        op.execute(statement)
