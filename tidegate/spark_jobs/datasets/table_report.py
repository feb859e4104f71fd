"""What a table format reports for repair: staged output, and the state of a table."""

from tidegate.domain.value import Value


class Orphan(Value, kw_only=True):
    """Staged output, which is an orphan when no run can publish it.

    Attributes:
        token: fencing token of the run that staged it.
        dataset: "app/dataset"; "" when it is not known.
        place: the folder, or the table as SQL names it.
        table: name of the staging table, "" for a folder.
        format: the table format that can remove it.
    """

    token: int
    dataset: str
    place: str
    format: str
    table: str = ""


class MissingData(Value, kw_only=True):
    """Data that a table refers to and that does not exist.

    Attributes:
        key: the partition.
        what: the missing data, and what refers to it.
    """

    key: str
    what: str


class TableReport(Value, kw_only=True):
    """The state of a table.

    Attributes:
        commits: the newest commits that have published into it, oldest first.
        missing: data that it refers to and that does not exist.
        strays: files of others among those that say what the table has.
        outdated: why readers that do not use the format's own log see an older state; "" when they do not.
    """

    commits: tuple[str, ...] = ()
    missing: tuple[MissingData, ...] = ()
    outdated: str = ""
    strays: tuple[str, ...] = ()


DECLARED_OTHERWISE = "its dataset is declared otherwise now"
"""Why an output cannot be released that was staged for another format, place, write mode or partitions."""


def not_listed(table: str, commit: str) -> str:
    """Return what has happened to a commit that a table does not list, although it lists all that it has had.

    Args:
        table: the table as messages name it.
    """
    return (
        f"{table} does not list commit {commit}, so the table was dropped, dropped and created again, or an "
        "earlier state of it was restored"
    )
