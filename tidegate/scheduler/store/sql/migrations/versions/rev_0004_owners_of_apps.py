"""Which project owns an app, so that several projects can share one store.

The apps of an older store have no owner. The project that deploys an app of that name becomes its owner.
"""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

NAME = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Add the column; every app that exists has no owner."""
    op.add_column("apps", sa.Column("project", NAME, nullable=False, server_default=sa.text("''")))
