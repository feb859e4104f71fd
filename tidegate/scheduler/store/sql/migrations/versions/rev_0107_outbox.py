"""The outbox in the index of queues: jobs whose launch is decided, in the order of their offers."""

from alembic import op

revision = "0107"
down_revision = "0105"

# Behind all that are decided from now on; a job gets its own place with its first offer.
OUTBOX = """
UPDATE jobs SET queue = 'outbox', launch_rank = '3' || id WHERE state = 'PENDING_LAUNCH' AND NOT gave_back
"""


def upgrade() -> None:
    """Put the decided jobs that hold their slots into the outbox."""
    op.execute(OUTBOX)
