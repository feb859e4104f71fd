"""The version log of a table: which folder holds each partition, and which commits are in.

    <root>/_versions/00000000000000000007.json     the table as of its 7th publish
    <root>/data/day=2013-12-22/v=<commit>/*.parquet

A version is one file, created if absent, that names the whole table, so a reader who takes
the highest one sees all of a publish or none. Of two publishers who want the same number
one wins; the other reads the winner's version and puts its own on top, so partitions
published meanwhile are kept. Each version remembers the commits that led to it: that is
the evidence by which a publish is recognised when it is tried again.
"""

import msgspec

from compiler.value import Value
from spark_jobs.io.filesystem import FileSystem, is_data

VERSIONS_FOLDER = "_versions"
NUMBER_DIGITS = 20
RECENT_COMMITS = 1000
"""How many commits back a publish is recognised. Beyond that the answer is "unknown", never "no"."""
READ_TRIES = 100
"""How often the newest version may be pruned between being listed and being read."""


class PartitionEntry(Value, kw_only=True):
    """Where a partition's rows stand.

    Attributes:
        path: folder relative to the table's root; None for a partition that is empty.
        commit: the commit that wrote it.
        token: the fencing token of the run that wrote it; a smaller one never replaces it.
        rows: number of rows.
        bytes: size of the data files.
        files: number of data files.
    """

    path: str | None
    commit: str
    token: int
    rows: int
    bytes: int
    files: int


class TableVersion(Value, kw_only=True):
    """The whole table at one moment.

    Attributes:
        number: counts from 1; 0 is a table that was never published.
        commit: the commit that made this version.
        schema: Spark's JSON of the newest publish's columns.
        partitions: by partition key; "" is the only key of a table without partitions.
        recent: commits in this version, the newest last, at most `RECENT_COMMITS`.
    """

    number: int = 0
    commit: str = ""
    schema: str = ""
    partitions: dict[str, PartitionEntry] = msgspec.field(default_factory=dict[str, PartitionEntry])
    recent: tuple[str, ...] = ()

    def top_token(self) -> int:
        """The largest fencing token that any partition carries."""
        return max((entry.token for entry in self.partitions.values()), default=0)

    def then(
        self, *, commit: str, schema: str, token: int, partitions: dict[str, PartitionEntry]
    ) -> "TableVersion":
        """The version after this one, with the partitions of a commit put in.

        A partition which a run with a larger token has written since stays: that run began
        later, so its rows are what would stand had both published in the order they began.
        """
        kept = {
            key: entry
            for key, entry in partitions.items()
            if key not in self.partitions or self.partitions[key].token <= token
        }
        return TableVersion(
            number=self.number + 1,
            commit=commit,
            schema=schema if kept else self.schema,
            partitions={**self.partitions, **kept},
            recent=(*self.recent, commit)[-RECENT_COMMITS:],
        )


def version_file(root: str, number: int) -> str:
    """The path of a version."""
    return f"{root}/{VERSIONS_FOLDER}/{number:0{NUMBER_DIGITS}d}.json"


def version_numbers(files: FileSystem, root: str) -> tuple[int, ...]:
    """The versions that are kept, oldest first."""
    return tuple(
        int(entry.name.removesuffix(".json"))
        for entry in files.list(f"{root}/{VERSIONS_FOLDER}")
        if is_data(entry.name) and entry.name.removesuffix(".json").isdigit()
    )


def read_version(files: FileSystem, root: str, number: int) -> TableVersion | None:
    """One version, or None when it does not exist or was pruned."""
    content = files.read(version_file(root, number))
    return None if content is None else msgspec.json.decode(content, type=TableVersion)


def head(files: FileSystem, root: str) -> TableVersion:
    """The newest version; number 0 and no partitions for a table that was never published."""
    for _ in range(READ_TRIES):
        numbers = version_numbers(files, root)
        if not numbers:
            return TableVersion()
        version = read_version(files, root, numbers[-1])
        if version is not None:
            return version
    raise OSError(f"{root}: the newest version vanished {READ_TRIES} times while it was read")


def put_version(files: FileSystem, root: str, version: TableVersion) -> bool:
    """Publishes a version. False when its number is taken: read the head again and re-base."""
    content = msgspec.json.encode(version, order="sorted")
    try:
        return files.put_if_absent(version_file(root, version.number), content)
    except FileNotFoundError:
        # A prune swept it away half-written, which it does for numbers that are taken.
        return False
