"""The location of a dataset, and the names of its folders.

A dataset without `path` is in the warehouse, under app and name. A `path` is
relative to the project: such a dataset is usually landed from outside as hive-style folders,
and read as it is until a program publishes into it.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from pathlib import Path
from urllib.parse import quote, unquote

from tidegate.domain.model import (
    Check,
    Dataset,
    DeclaredColumn,
    OnForeign,
    OnNewColumn,
    PartitionScheme,
    WriteMode,
)
from tidegate.domain.part_name import Ref, app_of, name_in, whole_name
from tidegate.domain.partition_key import join_key, split_key, validate_key
from tidegate.domain.value import Value
from tidegate.spark_jobs.errors import OutputError
from tidegate.spark_jobs.files.filesystem import FileSystem, LocalFiles

PLAIN_COMMIT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")
COMMIT_DIGEST_DIGITS = 32
MAX_NAME_BYTES = 255
"""Of local file systems and HDFS."""


CHECKPOINTS = "_checkpoints"
"""The folder below the warehouse; its folders are named after fencing tokens."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Warehouse:
    """The location of the tables.

    Attributes:
        path: absolute folder or URL of the tables, one folder per app.
        project: absolute folder or URL that a dataset's own `path` is relative to.
        files: the file system of both.
    """

    path: Path | str
    project: Path | str
    files: FileSystem = field(default_factory=LocalFiles)

    def checkpoints(self, token: int | None = None) -> str:
        """Return the folder of a run's checkpoints; without a token, the folder of all."""
        folder = f"{str(self.path).rstrip('/')}/{CHECKPOINTS}"
        return folder if token is None else f"{folder}/{token}"


class DatasetRef(Value, kw_only=True):
    """A dataset as readers and writers use it.

    Attributes:
        scheme: None for a dataset without partitions, whose only key is "".
        path: relative to the project; None for a dataset in the warehouse.
        stored_as: its place in the warehouse, "app/name", if that is not its own name.
        write: what a publish does with existing rows; the default replaces the partitions it writes.
        merge_keys: for `merge`, the columns that identify a row within its partition.
        on_foreign: what a publish does with rows that others have changed since its run began.
        columns: those that are declared, in order, with the partition columns; empty without a declaration.
        on_new_column: what a publish does with a column that is not among them.
        asset: asset key in Dagster, its parts joined by "/"; "" for the asset [app, name].
        allow_empty: whether a reported partition of landed files may be without files.
        checks: what the rows of a run promise, which are judged before they are published.
    """

    app: str
    name: str
    format: str = "parquet"
    scheme: PartitionScheme | None = None
    path: str | None = None
    stored_as: str | None = None
    write: WriteMode = "overwrite_partitions"
    merge_keys: tuple[str, ...] = ()
    on_foreign: OnForeign = "refuse"
    columns: tuple[DeclaredColumn, ...] = ()
    on_new_column: OnNewColumn = "refuse"
    asset: str = ""
    allow_empty: bool = False
    checks: tuple[Check, ...] = ()

    def __hash__(self) -> int:
        """Return the hash of its name: what a check lists cannot be hashed."""
        return hash((self.app, self.name))

    @property
    def id(self) -> str:
        """The unique name among all apps, "app/name". Neither part may contain a "/"."""
        return f"{self.app}/{self.name}"

    @property
    def place(self) -> tuple[str, str]:
        """App and name under which the warehouse has it: its own, or those that it had at first."""
        app, name = Ref.of(self.stored_as or self.id)
        return app, name

    def root(self, warehouse: Warehouse) -> str:
        """Return the absolute path or URL of the dataset's folder.

        Raises:
            OutputError: the names do not lead to a folder inside the warehouse or project.
        """
        base = warehouse.path if self.path is None else warehouse.project
        names = self.place if self.path is None else tuple(self.path.rstrip("/").split("/"))
        if not all(_is_plain_name(name) for name in names):
            raise OutputError(
                f"dataset {self.id!r:.200} has no folder of its own: {'/'.join(names)!r:.200}",
                "check the app with: tidegate lint",
            )
        return "/".join((str(base).rstrip("/"), *names))

    def dimensions(self) -> tuple[str, ...]:
        """Return the partition columns, in the order of the partition key."""
        return self.scheme.dimension_names() if self.scheme is not None else ()

    def parts(self, key: str) -> dict[str, str]:
        """Return the value of each partition column in a key."""
        return split_key(self.scheme, key) if self.scheme is not None else {}

    def partition_folder(self, key: str) -> str:
        """Return a partition's folder relative to the root, "day=2013-12-22/origin=EWR"; "" without any."""
        return "" if self.scheme is None else _named_folder(self.scheme, key)

    def data_folder(self, key: str) -> str:
        """Return the folder of a partition that Tidegate writes: no name in it is too long."""
        return "/".join(_folder_name(name) for name in self.partition_folder(key).split("/"))


def _folder_name(name: str) -> str:
    """Return a name that file systems take: a long one ends with a digest of all of it."""
    if len(name) <= MAX_NAME_BYTES:
        return name
    digest = hashlib.sha256(name.encode()).hexdigest()[:COMMIT_DIGEST_DIGITS]
    return f"{name[: MAX_NAME_BYTES - 1 - len(digest)]}~{digest}"


def _is_plain_name(name: str) -> bool:
    """Return whether a name leads exactly one folder down."""
    return name not in ("", ".", "..") and not {"/", "\0"} & {*name}


def dataset_ref(app: str, dataset: Dataset) -> DatasetRef:
    """Return the reference of a dataset of the validated model.

    Args:
        app: the app that names the dataset, which may be another app's ("other/name").
    """
    whole = whole_name(app, dataset.name)
    return DatasetRef(
        app=app_of(whole),
        name=name_in(app_of(whole), whole),
        format=dataset.format,
        scheme=dataset.partitions,
        path=dataset.path,
        stored_as=dataset.stored_as,
        write=dataset.write_mode(),
        merge_keys=dataset.merge_keys,
        on_foreign=dataset.on_foreign,
        columns=dataset.all_columns(),
        on_new_column=dataset.on_new_column,
        allow_empty=dataset.allow_empty,
        checks=dataset.checks,
    )


def folder_value(name: str) -> tuple[str, str] | None:
    """Return the column and value of a hive-style folder name, or None for any other name."""
    column, separator, value = name.partition("=")
    return (column, unquote(value)) if separator and column else None


def bare_key(scheme: PartitionScheme, parts: Mapping[str, str], bare: Sequence[str]) -> str | None:
    """Return the key of a partition of whose folders some are named by a value alone, "2013-12-22".

    Args:
        parts: the values of the folders with the name of their dimension.
        bare: the names of the other folders.

    Returns:
        None if these names are not the values of the other dimensions.
    """
    rest = [name for name in scheme.dimension_names() if name not in parts]
    if not bare or len(rest) != len(bare):
        return None
    for names in permutations(rest):
        values = {name: unquote(folder) for name, folder in zip(names, bare, strict=True)}
        key = join_key(scheme, {**parts, **values})
        if validate_key(scheme, key) is None:
            return key
    return None


def bare_folder(scheme: PartitionScheme, folder: str, key: str) -> str:
    """Say what is wrong with a folder of `bare_key`, and what it should be called."""
    return f"{folder} is named by the key alone, so it is not read: it should be called " + _named_folder(
        scheme, key
    )


def _named_folder(scheme: PartitionScheme, key: str) -> str:
    return "/".join(f"{name}={quote(value, safe='')}" for name, value in split_key(scheme, key).items())


def commit_folder(commit: str) -> str:
    """Return a commit id as a folder name: the id itself when it is plain, else its digest.

    Two ids never share a name: a digest begins with "0x", and a plain id must not.
    """
    if PLAIN_COMMIT.fullmatch(commit) and not commit.startswith("0x"):
        return commit
    return "0x" + hashlib.sha256(commit.encode()).hexdigest()[:COMMIT_DIGEST_DIGITS]
