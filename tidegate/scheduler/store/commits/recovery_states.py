"""What the steps of a commit need besides: its fence, former names of datasets, and the states of recoveries.

The fence of a job: a run whose work is over must not put its sequence. A person pauses an instance while
its run works, or runs it again. The commit id names the job and which of its works it is
(`model.work_of_job`), so the transaction of a `put` asks the job itself:

    pause, commit, put    ──► the put is refused; nothing of the run is ever published
    put, commit, pause    ──► it is past the point of no return, and is finished; a resume publishes again

In PostgreSQL the row of the job is locked until the end of the transaction: a pause that is about to commit
is waited for, and one that begins later waits for the put. SQLite has one writer at a time.

Runs that were started before a rename: they must not publish under the former name. A deployment renames
only while no run has an open attempt. A run that begins later with the names of the earlier deployment
would move watermarks that belong to another name now, so its attempt is refused.

The owner that finishes an unfinished sequence, its lease, and its failures. A lease only saves work: steps
are idempotent, so an owner that continues after its lease does no harm. A sequence that was never taken has
no row here.
"""

import json
from collections.abc import Sequence
from enum import StrEnum

from sqlalchemy import Connection, delete, select

from tidegate.domain.commits import RecoveryState
from tidegate.scheduler.model.refused import Refused
from tidegate.scheduler.model.work_of_job import is_over, work_of_commit
from tidegate.scheduler.store.commits.transaction import insert_or_replace
from tidegate.scheduler.store.sql.commit_tables import commit_owners
from tidegate.scheduler.store.sql.tables import cursors, jobs


class Deed(StrEnum):
    """A change that a transaction of the store makes."""

    PUT = "put"
    FINISH = "finish"
    RELEASE = "release"
    ABANDON = "abandon"
    ABANDON_OUTPUT = "abandon-output"
    RAISE_TOKEN = "raise-token"
    FORGET = "forget"


def is_fenced(connection: Connection, commit: str) -> bool:
    """Return whether a sequence is the work of a job that was stopped since, or is run again.

    A sequence of no job is never fenced here.
    """
    work = work_of_commit(commit)
    job = select(jobs.c.commit, jobs.c.state).where(jobs.c.id == work.job).with_for_update(read=True)
    row = connection.execute(job).one_or_none()
    return row is not None and is_over(work, row.commit, row.state)


RECORD = "renamed"
"""The cursor that `scheduler.commands.deployment.rename` writes."""


def refuse_former_names(connection: Connection, names: Sequence[str]) -> None:
    """Refuse an attempt that names what has another name now.

    Raises:
        Refused: a dataset or program was renamed.
    """
    record = connection.execute(select(cursors.c.value).where(cursors.c.name == RECORD)).scalar()
    former: dict[str, str] = {} if record is None else json.loads(record).get("former", {})
    for part in (part for name in names for part in name.split(" <- ")):
        if part in former:
            raise Refused(
                f"{part} was renamed to {former[part]} after this run was started",
                "start a run of the new name",
            )


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
