"""Recovery states: the owner that finishes an unfinished sequence, its lease, and its failures.

A lease only saves work: steps are idempotent, so an owner that continues after its lease does no
harm. A sequence that was never taken has no row here.
"""

from sqlalchemy import Connection, delete, select

from tidegate.domain.commits import RecoveryState
from tidegate.scheduler.store.commits.transaction import insert_or_replace
from tidegate.scheduler.store.sql.commit_tables import commit_owners


def recovery_state(connection: Connection, commit: str) -> RecoveryState:
    """Return the recovery state of a sequence."""
    row = connection.execute(select(commit_owners).where(commit_owners.c.sequence == commit)).one_or_none()
    if row is None:
        return RecoveryState()
    return RecoveryState(
        owner=row.owner, until=row.until, failures=row.failures, error=row.error, failed_at=row.failed_at
    )


def keep_recovery_state(connection: Connection, commit: str, kept: RecoveryState) -> None:
    """Write the recovery state of a sequence."""
    row = {
        "sequence": commit,
        "owner": kept.owner,
        "until": kept.until,
        "failures": kept.failures,
        "error": kept.error,
        "failed_at": kept.failed_at,
    }
    insert_or_replace(connection, commit_owners, row)


def forget_recovery_state(connection: Connection, commit: str) -> None:
    """Delete the recovery state of a sequence that is finished or gone."""
    connection.execute(delete(commit_owners).where(commit_owners.c.sequence == commit))
