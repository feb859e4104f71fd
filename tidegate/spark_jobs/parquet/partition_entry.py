"""The folders of one partition of a Parquet table, as a version lists them; and those of a compaction.

Values only: a publish adds folders, a merge or a compaction replaces them, and no file is changed.
"""

import msgspec

from tidegate.domain.value import Value


class PartitionEntry(Value, kw_only=True, omit_defaults=True):
    """The folders of a partition, with its size and its last writer.

    Attributes:
        path: folder relative to the table's root; None for an empty partition.
        commit: the commit that wrote it last.
        token: the largest fencing token of its writers; a run with a smaller one never replaces it.
        rows: number of rows.
        bytes: size of the data files.
        files: number of data files.
        more: further folders, in the order of their publishes.
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
        """Return all folders of the partition, relative to the table's root."""
        return self.more if self.path is None else (self.path, *self.more)

    def same_rows(self, other: "PartitionEntry | None") -> bool:
        """Return whether another state of the partition has the same rows: each publish leaves its commit.

        A compaction replaces folders, and leaves the rest as it is.
        """
        return other is not None and (self.commit, self.token, self.rows) == (
            other.commit,
            other.token,
            other.rows,
        )

    def compacted(self, by: "Compaction") -> "PartitionEntry | None":
        """Return the partition with some folders replaced by one with their rows; None if one is gone."""
        folders = self.folders
        if not {*by.folders} <= {*folders}:
            return None
        return msgspec.structs.replace(
            self,
            path=by.into.path,
            bytes=self.bytes - by.bytes + by.into.bytes,
            files=self.files - by.files + by.into.files,
            more=tuple(folder for folder in folders if folder not in by.folders),
        )

    def joined_by(self, added: "PartitionEntry") -> "PartitionEntry":
        """Return the partition with the rows of another entry added."""
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


class Compaction(Value, kw_only=True):
    """Folders of a partition whose rows were written again, into one folder.

    Attributes:
        folders: relative to the table's root.
        files: number of their data files.
        bytes: size of these.
        into: the new folder.
        columns: Spark's JSON of those of the new folder.
    """

    folders: tuple[str, ...]
    files: int
    bytes: int
    into: PartitionEntry
    columns: str
