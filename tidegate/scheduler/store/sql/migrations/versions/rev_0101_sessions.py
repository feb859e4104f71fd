"""Sessions of browsers, which were in signed cookies before: who has signed in is asked of the store."""

from alembic import op

revision = "0101"
down_revision = "0100"

NAME = {"sqlite": "TEXT", "postgresql": 'TEXT COLLATE "C"'}
"""A text that is compared by code points."""

SESSIONS = """
CREATE TABLE sessions (
    id {name} NOT NULL, token TEXT NOT NULL, issuer TEXT NOT NULL, subject TEXT NOT NULL,
    email TEXT NOT NULL, name TEXT NOT NULL, groups TEXT NOT NULL, namespace {name} NOT NULL,
    expires_at BIGINT NOT NULL, CONSTRAINT pk_sessions PRIMARY KEY (id)
);
CREATE INDEX ix_sessions_expires ON sessions (expires_at)
"""


def upgrade() -> None:
    """Create the table with its index."""
    name = NAME[op.get_context().dialect.name]
    for statement in SESSIONS.format(name=name).split(";"):
        op.execute(statement)
