"""Where a dataset stands, and the names of its folders.

A dataset without `path` lives in the warehouse, under app and name. One with a `path` is
relative to the project: usually landed from outside as hive-style folders, and read as it
is until something publishes into it.
"""

import hashlib
import re
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote, unquote

from tidegate.domain.model import Dataset, PartitionScheme, WriteMode
from tidegate.domain.partition_key import split_key
from tidegate.domain.value import Value
from tidegate.spark_jobs.errors import OutputError
from tidegate.spark_jobs.files.filesystem import FileSystem, LocalFiles

PLAIN_COMMIT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")
COMMIT_DIGEST_DIGITS = 32


@dataclass(frozen=True, kw_only=True, slots=True)
class Warehouse:
    """Where tables are kept and reached.

    Attributes:
        path: absolute folder or URL of the tables, one folder an app.
        project: absolute folder or URL that a dataset's own `path` is relative to.
        files: the file system of both.
    """

    path: Path | str
    project: Path | str
    files: FileSystem = field(default_factory=LocalFiles)


class DatasetRef(Value, kw_only=True):
    """A dataset as the reader and the writer see it.

    Attributes:
        scheme: None for a dataset without partitions, whose only key is "".
        path: relative to the project; None lets the warehouse decide.
        write: what a publish does with the rows that stand there; the default replaces what is written.
        merge_keys: for `merge`, the columns that name a row within its partition.
    """

    app: str
    name: str
    format: str = "parquet"
    scheme: PartitionScheme | None = None
    path: str | None = None
    write: WriteMode = "overwrite_partitions"
    merge_keys: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """The dataset among all apps. Neither part may contain a "/", so no two share it."""
        return f"{self.app}/{self.name}"

    def root(self, warehouse: Warehouse) -> str:
        """Absolute path or URL of the dataset's folder.

        Raises:
            OutputError: the names lead elsewhere than into a folder of the dataset's own.
        """
        base = warehouse.path if self.path is None else warehouse.project
        names = (self.app, self.name) if self.path is None else tuple(self.path.rstrip("/").split("/"))
        if not all(_stays(name) for name in names):
            raise OutputError(
                f"dataset {self.id!r:.200} has no folder of its own: {'/'.join(names)!r:.200}",
                "check the app with: tidegate lint",
            )
        return "/".join((str(base).rstrip("/"), *names))

    def dimensions(self) -> tuple[str, ...]:
        """The partition columns, in the order in which they stand in a key."""
        return self.scheme.dimension_names() if self.scheme is not None else ()

    def parts(self, key: str) -> dict[str, str]:
        """The value of each partition column in a key."""
        return split_key(self.scheme, key) if self.scheme is not None else {}

    def partition_folder(self, key: str) -> str:
        """The folder of a partition relative to the root, "day=2013-12-22/origin=EWR"; "" without any."""
        return "/".join(f"{name}={quote(value, safe='')}" for name, value in self.parts(key).items())


def _stays(name: str) -> bool:
    """Whether a name leads one folder down, and nowhere else."""
    return name not in ("", ".", "..") and not {"/", "\0"} & {*name}


def dataset_ref(app: str, dataset: Dataset) -> DatasetRef:
    """The reference of a dataset of the validated model."""
    return DatasetRef(
        app=app,
        name=dataset.name,
        format=dataset.format,
        scheme=dataset.partitions,
        path=dataset.path,
        write=dataset.write_mode(),
        merge_keys=dataset.merge_keys,
    )


def folder_value(name: str) -> tuple[str, str] | None:
    """Column and value of a hive-style folder name, or None for any other name."""
    column, separator, value = name.partition("=")
    return (column, unquote(value)) if separator and column else None


def commit_folder(commit: str) -> str:
    """A commit id as a folder name: itself when it is plain, else its digest.

    Two ids never share a name: a digest begins with a mark that no plain id may begin with.
    """
    if PLAIN_COMMIT.fullmatch(commit) and not commit.startswith("0x"):
        return commit
    return "0x" + hashlib.sha256(commit.encode()).hexdigest()[:COMMIT_DIGEST_DIGITS]
