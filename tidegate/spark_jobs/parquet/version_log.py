"""The version log of a table: which folder holds each partition, and which commits are in.

    <root>/_versions/00000000000000000007.json     the table as of its 7th publish
    <root>/data/day=2013-12-22/v=<commit>/*.parquet

A version is one file, created if absent, that names the whole table, so a reader who takes
the highest one sees all of a publish or none. Of two publishers who want the same number
one wins; the other reads the winner's version and puts its own on top, so partitions
published meanwhile are kept. Each version remembers the commits that led to it: that is
the evidence by which a publish is recognised when it is tried again. A partition that was
appended to stands in several folders. What each write mode makes of a table is here, as
values: no file is touched by it.
"""

from typing import assert_never

import msgspec

from tidegate.domain.model import WriteMode
from tidegate.domain.value import Value
from tidegate.spark_jobs.datasets.columns import union_columns
from tidegate.spark_jobs.files.filesystem import FileSystem, is_data

VERSIONS_FOLDER = "_versions"
NUMBER_DIGITS = 20
RECENT_COMMITS = 1000
"""How many commits back a publish is recognised. Beyond that the answer is "unknown", never "no"."""
READ_TRIES = 100
"""How often the newest version may be pruned between being listed and being read."""


class PartitionEntry(Value, kw_only=True, omit_defaults=True):
    """Where a partition's rows stand.

    Attributes:
        path: folder relative to the table's root; None for a partition that is empty.
        commit: the commit that wrote it last.
        token: the largest fencing token of the runs that wrote it; a smaller one never replaces it.
        rows: number of rows.
        bytes: size of the data files.
        files: number of data files.
        more: further folders, in the order in which they were added.
    """

    path: str | None
    commit: str
    token: int
    rows: int
    bytes: int
    files: int
    more: tuple[str, ...] = ()

    @property
    def folders(self) -> tuple[str, ...]:
        """Every folder of the partition, relative to the table's root."""
        return self.more if self.path is None else (self.path, *self.more)

    def joined_by(self, added: "PartitionEntry") -> "PartitionEntry":
        """The partition with the rows of another entry added to it."""
        first, *more = (*self.folders, *added.folders) or (None,)
        return PartitionEntry(
            path=first,
            commit=added.commit,
            token=max(self.token, added.token),
            rows=self.rows + added.rows,
            bytes=self.bytes + added.bytes,
            files=self.files + added.files,
            more=tuple(folder for folder in more if folder is not None),
        )


class TableVersion(Value, kw_only=True, omit_defaults=True):
    """The whole table at one moment.

    Attributes:
        number: counts from 1; 0 is a table that was never published.
        commit: the commit that made this version.
        schema: Spark's JSON of the columns, those of every publish since the table was replaced whole.
        partitions: by partition key; "" is the only key of a table without partitions.
        recent: commits in this version, the newest last, at most `RECENT_COMMITS`.
        floor: fencing token of the run that last replaced the table whole. What a run with a
            smaller one was to replace, that run has replaced.
    """

    number: int = 0
    commit: str = ""
    schema: str = ""
    partitions: dict[str, PartitionEntry] = msgspec.field(default_factory=dict[str, PartitionEntry])
    recent: tuple[str, ...] = ()
    floor: int = 0

    def top_token(self) -> int:
        """The largest fencing token that the table has seen, as far as it remembers."""
        return max(self.floor, *(entry.token for entry in self.partitions.values()), 0)

    def with_commit(
        self,
        *,
        commit: str,
        schema: str,
        token: int,
        partitions: dict[str, PartitionEntry],
        mode: WriteMode = "overwrite_partitions",
    ) -> "TableVersion":
        """The version after this one, with the partitions of a commit put in.

        Where rows are replaced, what a run with a larger token has written since stays: that run
        began later, so its rows are what would stand had both published in the order they began.
        Rows that are added take no other run's place.

        Args:
            partitions: what the commit has written; for `merge`, what it has made of this very version.

        Raises:
            ColumnClash: a column would have two types.
        """
        entries, floor, columns = self.partitions, self.floor, schema
        match mode:
            case "append":
                entries = {**entries, **self._joined(partitions)}
                columns = union_columns(self.schema, schema)
            case "merge":
                entries = {**entries, **partitions}
                columns = union_columns(self.schema, schema)
            case "overwrite_partitions":
                kept = self._newer(partitions, token)
                entries = {**entries, **kept}
                columns = union_columns(self.schema, schema) if kept else self.schema
            case "full":
                later = {key: entry for key, entry in entries.items() if entry.token > token}
                kept = self._newer(partitions, token)
                entries = {**later, **kept} if token >= floor else entries
                columns = union_columns(self.schema if later else "", schema) if kept else self.schema
                floor = max(floor, token)
            case _:
                assert_never(mode)
        return TableVersion(
            number=self.number + 1,
            commit=commit,
            schema=columns,
            partitions=entries,
            recent=(*self.recent, commit)[-RECENT_COMMITS:],
            floor=floor,
        )

    def _joined(self, partitions: dict[str, PartitionEntry]) -> dict[str, PartitionEntry]:
        return {
            key: self.partitions[key].joined_by(entry) if key in self.partitions else entry
            for key, entry in partitions.items()
            if entry.folders
        }

    def _newer(self, partitions: dict[str, PartitionEntry], token: int) -> dict[str, PartitionEntry]:
        """Those that no run with a larger token has written or cleared."""
        if token < self.floor:
            return {}
        return {
            key: entry
            for key, entry in partitions.items()
            if key not in self.partitions or self.partitions[key].token <= token
        }


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
