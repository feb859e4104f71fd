"""The namespace of each app, and tokens for the apps of one namespace.

The apps of an older store are in the namespace `default`, until their project deploys the next time.
"""

import sqlalchemy as sa
from alembic import op

revision = "0034"
down_revision = "0033"

NAME = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Add the columns."""
    op.add_column("apps", sa.Column("namespace", NAME, nullable=False, server_default=sa.text("'default'")))
    op.add_column("tokens", sa.Column("namespace", NAME, nullable=True))
