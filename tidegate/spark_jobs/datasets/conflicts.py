"""The conflicts of a publish: others have changed, since its run began, rows that it would replace.

Every format words them alike, whatever it recognises them by.
"""

from collections.abc import Collection

from tidegate.spark_jobs.errors import CommitConflict

AGAIN = "nothing was published; run it again: it begins with the newest rows"
SHOWN_KEYS = 3


def foreign_change(commit: str, table: str, where: Collection[str], what: str) -> CommitConflict:
    """Return the conflict with a writer other than Tidegate.

    Args:
        table: the table as messages name it.
        where: the partitions; "" for a table without partitions, or for all of it.
        what: what was done, a subject and a verb.
    """
    return CommitConflict(
        f"commit {commit}: {what} {table}{_named(where)}, which this run would replace",
        f"{AGAIN}. To publish over the changes of others, write on_foreign: replace at the dataset",
    )


def read_and_written(commit: str, table: str, where: Collection[str], by: str) -> CommitConflict:
    """Return the conflict of a program that reads the table that it writes with another run, `by`."""
    return CommitConflict(
        f"commit {commit}: {by} has written {table}{_named(where)} since this run began, and this program"
        " reads what it writes",
        f"{AGAIN}. With concurrency: {{max: 1}} at the schedule such runs wait for each other",
    )


def same_keys(commit: str, table: str, where: Collection[str]) -> CommitConflict:
    """Return the conflict of a merge with other runs of ours."""
    return CommitConflict(
        f"commit {commit}: rows with the same merge keys have changed in {table}{_named(where)} since this"
        " run began",
        AGAIN,
    )


def other_columns(commit: str, table: str, clash: Exception) -> CommitConflict:
    """Return the conflict with a run that has given a column another type since the rows were staged."""
    return CommitConflict(
        f"commit {commit}: another run has changed the columns of {table}: {clash}",
        "nothing was published; run it again: its columns are compared with those of today",
    )


def never_computed(commit: str, table: str, error: Exception) -> CommitConflict:
    """Return the conflict of a merge whose keys cannot be compared with those that the table has by now."""
    return CommitConflict(
        f"commit {commit}: the merge into {table} cannot be computed: {str(error).splitlines()[0]}",
        "nothing was published; run it again: its keys are compared with those of today",
    )


def _named(where: Collection[str]) -> str:
    keys = [key for key in where if key]
    shown = ", ".join(keys[:SHOWN_KEYS]) + (", …" if len(keys) > SHOWN_KEYS else "")
    return f", partition {shown}," if keys else ""
