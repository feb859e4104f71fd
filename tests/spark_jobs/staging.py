"""Stages and reads small tables without Spark, for the tests of publishing.

What Spark would write into a staging folder is written with pyarrow instead; from there on
everything is the code under test.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tidegate.domain.commit_store import CommitStepStore
from tidegate.domain.model import PartitionScheme, TimeDimension, WriteMode
from tidegate.domain.published import PublishedPartition
from tidegate.spark_jobs.commit.clock import SYSTEM_CLOCK, Clock
from tidegate.spark_jobs.commit.context import CommitContext
from tidegate.spark_jobs.commit.publish import state_of
from tidegate.spark_jobs.commit.sequence import CommitSequence, encode_sequence
from tidegate.spark_jobs.commit.state import Published
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef, Warehouse
from tidegate.spark_jobs.datasets.table_state import TableState
from tidegate.spark_jobs.files.filesystem import FileSystem
from tidegate.spark_jobs.parquet.folders.publish_folder import write_marker
from tidegate.spark_jobs.parquet.output import StagedParquet, staging_folder
from tidegate.spark_jobs.parquet.partition_entry import PartitionEntry
from tidegate.spark_jobs.parquet.staging import KEY_COLUMN, KEY_MARK, StagedFolder, seal
from tidegate.spark_jobs.parquet.version_log import head
from tidegate.spark_jobs.parquet.view import CURRENT

DAILY = PartitionScheme(time=TimeDimension(name="day", cycle="day", start="2013-01-01"))
NEVER = datetime.max.replace(tzinfo=UTC)
Rows = Mapping[str, list[int]]
"""The values of a table's only column, by partition key."""
NO_SCHEMA = '{"type":"struct","fields":[]}'


def daily(name: str, write: WriteMode = "overwrite_partitions") -> DatasetRef:
    return DatasetRef(app="test", name=name, scheme=DAILY, write=write)


def whole(name: str, write: WriteMode = "full") -> DatasetRef:
    return DatasetRef(app="test", name=name, write=write)


def stage_rows(
    warehouse: Warehouse, ref: DatasetRef, rows: Rows, *, commit: str, token: int
) -> StagedParquet:
    """Does what `parquet.stage` does, for rows given by hand. An empty list clears its partition."""
    tables = {key: pa.table({"value": values}) for key, values in rows.items()}
    return stage_tables(warehouse, ref, tables, NO_SCHEMA, commit=commit, token=token)


def stage_tables(
    warehouse: Warehouse,
    ref: DatasetRef,
    tables: Mapping[str, pa.Table],
    schema: str,
    *,
    commit: str,
    token: int,
) -> StagedParquet:
    """The same for tables by partition key.

    Args:
        schema: that of Spark, as JSON.
    """
    root = ref.root(warehouse)
    base = head(warehouse.files, root).number
    folders: dict[str, StagedFolder] = {}
    for number, (key, table) in enumerate(tables.items()):
        if not table.num_rows:
            continue
        folder = f"{staging_folder(root, commit, token)}/part={number}"
        Path(folder).mkdir(parents=True)
        pq.write_table(table, f"{folder}/part-0.parquet")
        folders[key] = StagedFolder(
            folder=folder,
            marker=write_marker(warehouse.files, folder, commit=commit, token=token),
            rows=table.num_rows,
        )
    return StagedParquet(
        ref=ref,
        root=root,
        commit=commit,
        token=token,
        base=base,
        schema=schema,
        keys=tuple(tables),
        folders=folders,
        state=TableState(number=base),
    )


def begin(store: CommitStepStore, commit: str, datasets: Sequence[str], at_least: int = 0) -> int:
    """Opens an attempt that is never abandoned, and returns its token."""
    return store.begin(commit, datasets, until=NEVER, at_least=at_least)


def put(store: CommitStepStore, sequence: CommitSequence) -> None:
    """Keeps a sequence as its run would, and does none of its steps."""
    assert begin(store, sequence.id, sequence.datasets, sequence.token - 1) == sequence.token
    body = encode_sequence(sequence)
    assert store.put(sequence.id, sequence.datasets, sequence.token, body) == "stored"


def read_rows(warehouse: Warehouse, ref: DatasetRef) -> dict[str, list[int]]:
    """What a reader of the newest version sees."""
    root = ref.root(warehouse)
    seen: dict[str, list[int]] = {}
    for key, entry in head(warehouse.files, root).partitions.items():
        folders = [Path(root, folder) for folder in entry.folders]
        seen[key] = [value for folder in folders for value in _folder_values(str(folder))]
    return seen


def linked_rows(warehouse: Warehouse, ref: DatasetRef) -> list[int]:
    """What a reader sees that knows nothing of versions, and follows the link."""
    return sorted(_folder_values(f"{ref.root(warehouse)}/{CURRENT}"))


def write_survivors(
    _: object,
    files: FileSystem,
    root: str,
    standing: Mapping[str, PartitionEntry],
    coming: Mapping[str, PartitionEntry],
    *,
    folder: str,
    **__: object,
) -> dict[str, StagedFolder]:
    """Does what `parquet_merge.write_survivors` does. Values with the same tens are the same row."""
    left: dict[str, int] = {}
    for key, entry in standing.items():
        new = {value // 10 for path in coming[key].folders for value in _folder_values(f"{root}/{path}")}
        values = [value for path in entry.folders for value in _folder_values(f"{root}/{path}")]
        kept = [value for value in values if value // 10 not in new]
        if kept:
            where = Path(folder, f"{KEY_COLUMN}={KEY_MARK}{key}")
            where.mkdir(parents=True)
            pq.write_table(pa.table({"value": kept}), where / "part-0.parquet")
            left[key] = len(kept)
    one = next(iter(coming.values()))
    return seal(files, folder, tuple(standing), left, commit=one.commit, token=one.token)


def _folder_values(folder: str) -> list[int]:
    return [value for name in sorted(Path(folder).glob("*.parquet")) for value in _values(name)]


def _values(file: Path) -> list[int]:
    return pq.read_table(file)["value"].to_pylist()


def parts_of(
    commit: str, store: CommitStepStore, context: CommitContext, clock: Clock = SYSTEM_CLOCK
) -> tuple[PublishedPartition, ...] | None:
    """Return what the work of a commit has published, having finished what was put; None for nothing."""
    state = state_of(commit, store, context, clock)
    return state.parts if isinstance(state, Published) else None
