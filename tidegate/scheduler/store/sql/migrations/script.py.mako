"""${message}"""

import sqlalchemy as sa
from alembic import op
from tidegate.scheduler.store.sql.columns import Instant, Json, Name, Serial

revision = ${repr(up_revision)}
down_revision = ${repr(down_revision)}


def upgrade() -> None:
    ${upgrades if upgrades else "pass"}
