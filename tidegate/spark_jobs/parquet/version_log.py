"""The version log of a table: the folders of each partition, and the recent commits.

    <root>/_versions/00000000000000000007.json     the table as of its 7th publish
    <root>/_data/day=2013-12-22/<commit>/*.parquet

A version is one file, created if absent, that describes the whole table, so a reader of
the highest number sees all of a publish or none of it. If two processes publish the same number,
one wins; the other reads that version and puts its own after it, so partitions
published in the meantime are kept. Each version lists the commits before it: this is
the evidence that a publish is done when it is retried. A partition with
appended rows has several folders. `TableVersion.with_commit` applies a write mode to
values only; it changes no file.
"""

import re
from collections.abc import Callable, Mapping
from typing import assert_never

import msgspec

from tidegate.domain.model import WriteMode
from tidegate.domain.value import Value
from tidegate.spark_jobs.datasets.columns import are_read_as, union_columns
from tidegate.spark_jobs.errors import TableDamaged
from tidegate.spark_jobs.files.filesystem import FileSystem, is_data
from tidegate.spark_jobs.parquet.partition_entry import Compaction, PartitionEntry

VERSIONS_FOLDER = "_versions"
NUMBER_DIGITS = 20
RECENT_COMMITS = 1000
"""Number of commits that a version lists. For an older one the answer is "unknown", never "no"."""
REFUSED_MARK = "~refused "
"""Precedes the id of an abandoned commit among the recent ones; ids of commits have no spaces."""
SURVIVORS_MARK = "+"
"""Separates the commit from the version in the name of a folder with the rows that a merge keeps."""
_VERSION = re.compile(rf"[0-9]{{{NUMBER_DIGITS}}}\.json")
READ_TRIES = 100
"""How often the newest version may be pruned between listing and reading it."""


class TableVersion(Value, kw_only=True, omit_defaults=True):
    """One version of the whole table.

    Attributes:
        number: counts from 1; 0 is a table that was never published.
        commit: the commit that created this version.
        schema: Spark's JSON of the columns of all publishes since the whole table was last replaced.
        partitions: by partition key; "" is the only key of a table without partitions.
        recent: the last commits up to this version, the newest last, at most `RECENT_COMMITS`. A commit with
            `REFUSED_MARK` was abandoned: that version only refuses it.
        floor: fencing token of the run that last replaced the whole table. It counts as a later
            writer of every partition for a run with a smaller token.
        older: Spark's JSON of columns with narrower types than `schema` has, in the order of their numbers.
        written: the number of the columns that the files of a folder have, if they are among `older`.
    """

    number: int = 0
    commit: str = ""
    schema: str = ""
    partitions: dict[str, PartitionEntry] = msgspec.field(default_factory=dict[str, PartitionEntry])
    recent: tuple[str, ...] = ()
    floor: int = 0
    older: tuple[str, ...] = ()
    written: dict[str, int] = msgspec.field(default_factory=dict[str, int])

    def columns_of(self, folder: str) -> str:
        """Return the columns with which a folder of the version is read, relative to the table's root."""
        return self.older[self.written[folder]] if folder in self.written else self.schema

    def narrower(self, root: str) -> dict[str, str]:
        """Return the columns of each folder whose files have narrower types, by its absolute path."""
        return {f"{root}/{folder}": self.older[number] for folder, number in self.written.items()}

    def top_token(self) -> int:
        """Return the largest fencing token in this version; 0 for none."""
        return max(self.floor, *(entry.token for entry in self.partitions.values()), 0)

    @property
    def is_published(self) -> bool:
        """Whether a run has ever published into the table; a version may only refuse commits."""
        return bool(self.schema or self.partitions)

    def commits(self) -> tuple[str, ...]:
        """Return the recent commits that were published, the newest last."""
        return tuple(one for one in self.recent if not one.startswith(REFUSED_MARK))

    def refuses(self, commit: str) -> bool:
        """Return whether a commit must never be published."""
        return f"{REFUSED_MARK}{commit}" in self.recent

    def refusing(self, commit: str) -> "TableVersion":
        """Return the next version, which has the same rows and refuses a commit."""
        recent = (*self.recent, f"{REFUSED_MARK}{commit}")[-RECENT_COMMITS:]
        return msgspec.structs.replace(self, number=self.number + 1, recent=recent)

    def with_compaction(self, commit: str, partitions: Mapping[str, Compaction]) -> "TableVersion":
        """Return the next version, which has the same rows in other folders.

        A partition whose folders were replaced since they were compacted is left as it is.
        """
        entries, columns = dict(self.partitions), dict[str, str]()
        for key, compaction in partitions.items():
            entry = entries.get(key)
            after = None if entry is None else entry.compacted(compaction)
            if after is not None:
                entries[key] = after
                columns[compaction.into.path or ""] = compaction.columns
        made = msgspec.structs.replace(
            self,
            number=self.number + 1,
            commit=commit,
            partitions=entries,
            recent=(*self.recent, commit)[-RECENT_COMMITS:],
        )
        return made._with_columns(self, lambda folder: columns.get(folder, self.schema))

    def number_of(self, commit: str) -> int | None:
        """Return the version that a commit has put; None for a commit that is not listed."""
        if commit not in self.recent:
            return None
        return self.number - (len(self.recent) - 1 - self.recent.index(commit))

    def with_commit(
        self,
        *,
        commit: str,
        schema: str,
        token: int,
        partitions: dict[str, PartitionEntry],
        mode: WriteMode = "overwrite_partitions",
    ) -> "TableVersion":
        """Return the next version, with the partitions of a commit.

        A mode that replaces rows keeps the partitions of runs with a larger token: those runs
        began later, so the result is the same as if all runs had published in the order in which they began.
        `append` replaces nothing and needs no such check.

        Args:
            partitions: what the commit has written; for `merge`, the merge result with this version.

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
        made = TableVersion(
            number=self.number + 1,
            commit=commit,
            schema=columns,
            partitions=entries,
            recent=(*self.recent, commit)[-RECENT_COMMITS:],
            floor=floor,
        )
        return made._with_columns(self, lambda folder: columns if _has_survivors(folder) else schema)

    def _with_columns(self, before: "TableVersion", new: Callable[[str], str]) -> "TableVersion":
        """Return this version with the columns of each folder whose files have narrower types.

        Args:
            before: the version before.
            new: returns the columns of a folder that the version before does not have.
        """
        known = {folder for entry in before.partitions.values() for folder in entry.folders}
        fits: dict[str, bool] = {}
        older: dict[str, int] = {}
        written: dict[str, int] = {}
        for entry in self.partitions.values():
            for folder in entry.folders:
                own = before.columns_of(folder) if folder in known else new(folder)
                if own not in fits:
                    fits[own] = not own or own == self.schema or are_read_as(self.schema, own)
                if not fits[own]:
                    written[folder] = older.setdefault(own, len(older))
        return msgspec.structs.replace(self, older=tuple(older), written=written)

    def _joined(self, partitions: dict[str, PartitionEntry]) -> dict[str, PartitionEntry]:
        return {
            key: self.partitions[key].joined_by(entry) if key in self.partitions else entry
            for key, entry in partitions.items()
            if entry.folders
        }

    def _newer(self, partitions: dict[str, PartitionEntry], token: int) -> dict[str, PartitionEntry]:
        """Return the partitions that no run with a larger token has written or cleared."""
        if token < self.floor:
            return {}
        return {
            key: entry
            for key, entry in partitions.items()
            if key not in self.partitions or self.partitions[key].token <= token
        }


def _has_survivors(folder: str) -> bool:
    return SURVIVORS_MARK in folder.rpartition("/")[2]


def version_file(root: str, number: int) -> str:
    """Return the path of a version."""
    return f"{root}/{VERSIONS_FOLDER}/{number:0{NUMBER_DIGITS}d}.json"


def version_numbers(files: FileSystem, root: str) -> tuple[int, ...]:
    """Return the numbers of the existing versions, oldest first."""
    return tuple(
        int(entry.name.removesuffix(".json"))
        for entry in files.list(f"{root}/{VERSIONS_FOLDER}")
        if _VERSION.fullmatch(entry.name)
    )


def read_version(files: FileSystem, root: str, number: int) -> TableVersion | None:
    """Return one version; None when it does not exist or was pruned.

    Raises:
        TableDamaged: its file is torn, or not a version of this number.
    """
    file = version_file(root, number)
    content = files.read(file)
    if content is None:
        return None
    try:
        version = msgspec.json.decode(content, type=TableVersion)
    except msgspec.MsgspecError as error:
        raise _damaged(file, f"cannot be read as a version of the table: {error}") from error
    if version.number != number:
        raise _damaged(file, f"is version {version.number}, so it is a copy, or has another name")
    return version


def stray_files(files: FileSystem, root: str) -> tuple[str, ...]:
    """Return what is wrong with the names in the folder of the versions.

    A publish takes the number after the newest one, and a prune removes the oldest ones, so none is left out
    before the newest.
    """
    folder, numbers = f"{root}/{VERSIONS_FOLDER}", version_numbers(files, root)
    found = [
        f"{folder}/{entry.name} is not a version of the table, and is not read"
        for entry in files.list(folder)
        if is_data(entry.name) and not _VERSION.fullmatch(entry.name)
    ]
    if len(numbers) > 1 and numbers[-1] - numbers[-2] > 1:
        found.append(
            f"{version_file(root, numbers[-1])} follows version {numbers[-2]}: the versions between are "
            "lost, or this file is of another table"
        )
    return tuple(found)


def _damaged(file: str, fault: str) -> TableDamaged:
    return TableDamaged(
        f"{file} {fault}",
        "restore this file from a backup; without one move it away: then the version before it counts, and "
        "`tidegate commits fsck` names each watermark whose rows are gone",
    )


def head(files: FileSystem, root: str) -> TableVersion:
    """Return the newest version; number 0 without partitions for a table that was never published.

    Raises:
        OSError: the newest version was pruned `READ_TRIES` times before it could be read.
    """
    for _ in range(READ_TRIES):
        numbers = version_numbers(files, root)
        if not numbers:
            return TableVersion()
        version = read_version(files, root, numbers[-1])
        if version is not None:
            return version
    raise OSError(f"{root}: the newest version was pruned {READ_TRIES} times before it could be read")


def put_version(files: FileSystem, root: str, version: TableVersion) -> bool:
    """Publish a version. Return False when its number is taken: the caller starts again from the new head."""
    content = msgspec.json.encode(version, order="sorted")
    try:
        return files.put_if_absent(version_file(root, version.number), content)
    except FileNotFoundError:
        # A prune removed the half-written file; it does so only for numbers that are taken.
        return False
