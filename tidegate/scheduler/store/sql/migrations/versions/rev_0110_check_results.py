"""What the checks of datasets have found: in the newest run of each, and in those before."""

from alembic import op

revision = "0110"
down_revision = "0109"

NAME = {"sqlite": "TEXT", "postgresql": 'TEXT COLLATE "C"'}
"""A text that is compared by code points."""

CHECK_RESULTS = """
CREATE TABLE check_results (
    dataset {name} NOT NULL, token BIGINT NOT NULL, "commit" {name} NOT NULL, verdicts TEXT NOT NULL,
    withheld BOOLEAN NOT NULL, at BIGINT NOT NULL, newest_at BIGINT,
    CONSTRAINT pk_check_results PRIMARY KEY (dataset, token)
);
CREATE INDEX ix_check_results_newest ON check_results (newest_at, dataset, token) WHERE newest_at IS NOT NULL
"""


def upgrade() -> None:
    """Create the table: what was judged before was not kept."""
    name = NAME[op.get_context().dialect.name]
    for statement in CHECK_RESULTS.format(name=name).split(";"):
        op.execute(statement)
