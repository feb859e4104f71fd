"""Materialisations whose checks have not passed: the events that `checks: passed` withholds."""

from alembic import op

revision = "0103"
down_revision = "0102"

NAME = {"sqlite": "TEXT", "postgresql": 'TEXT COLLATE "C"'}
"""A text that is compared by code points."""

WITHHELD_EVENTS = """
CREATE TABLE withheld_events (
    dataset {name} NOT NULL, "partition" {name} NOT NULL, event {name} NOT NULL,
    materialised_at BIGINT NOT NULL, time BIGINT NOT NULL, bytes BIGINT, rows BIGINT, run_id {name},
    detail TEXT NOT NULL, ended BOOLEAN NOT NULL, checks TEXT NOT NULL, withheld_since BIGINT,
    released_at BIGINT, CONSTRAINT pk_withheld_events PRIMARY KEY (dataset, "partition")
);
CREATE INDEX ix_withheld_events_run ON withheld_events (run_id);
CREATE INDEX ix_withheld_events_since ON withheld_events (withheld_since) WHERE withheld_since IS NOT NULL;
CREATE INDEX ix_withheld_events_released ON withheld_events (released_at) WHERE released_at IS NOT NULL
"""


def upgrade() -> None:
    """Create the table with its indexes."""
    name = NAME[op.get_context().dialect.name]
    for statement in WITHHELD_EVENTS.format(name=name).split(";"):
        op.execute(statement)
