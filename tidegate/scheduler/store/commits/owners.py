"""Who is finishing an unfinished sequence, until when, and how often that has failed.

A lease saves work and nothing else: steps are idempotent, so an owner that was thought dead and
goes on does no harm. A sequence that nobody ever took has no row here.
"""

from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import Connection, delete, select

from tidegate.scheduler.store.commits.tables import commit_owners
from tidegate.scheduler.store.commits.transaction import insert_or_replace

NOBODY = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Ownership:
    """How an unfinished sequence stands. `until` is None for nobody, `failed_at` for never."""

    owner: str = NOBODY
    until: datetime | None = None
    failures: int = 0
    error: str = ""
    failed_at: datetime | None = None

    def is_free(self, now: datetime) -> bool:
        """Whether nobody has it, or the lease of who has it is over."""
        return self.owner == NOBODY or self.until is None or self.until <= now

    def taken(self, owner: str, now: datetime, until: datetime) -> "Ownership":
        """The same in the hands of `owner`, unless the lease of another one still holds."""
        mine = owner == self.owner or self.is_free(now)
        return replace(self, owner=owner, until=until) if mine else self

    def release(self) -> "Ownership":
        """The same in nobody's hands."""
        return replace(self, owner=NOBODY, until=None)

    def failed(self, error: str, now: datetime) -> "Ownership":
        """The same after one more failure, in nobody's hands."""
        return replace(self.release(), failures=self.failures + 1, error=error, failed_at=now)


def ownership(connection: Connection, sequence: str) -> Ownership:
    """How a sequence stands."""
    row = connection.execute(select(commit_owners).where(commit_owners.c.sequence == sequence)).one_or_none()
    if row is None:
        return Ownership()
    return Ownership(
        owner=row.owner, until=row.until, failures=row.failures, error=row.error, failed_at=row.failed_at
    )


def keep_ownership(connection: Connection, sequence: str, kept: Ownership) -> None:
    """Writes how a sequence stands."""
    row = {
        "sequence": sequence,
        "owner": kept.owner,
        "until": kept.until,
        "failures": kept.failures,
        "error": kept.error,
        "failed_at": kept.failed_at,
    }
    insert_or_replace(connection, commit_owners, row)


def forget_ownership(connection: Connection, sequence: str) -> None:
    """Removes what is known of it: it is finished, or gone."""
    connection.execute(delete(commit_owners).where(commit_owners.c.sequence == sequence))
