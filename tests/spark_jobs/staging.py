"""Stages and reads small tables without Spark, for the tests of publishing.

What Spark would write into a staging folder is written with pyarrow instead; from there on
everything is the code under test. It also runs things in a process of their own, forked,
so that a kill is a real one.
"""

import os
import signal
import traceback
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from compiler.model import PartitionScheme, TimeDimension
from spark_jobs.commit.sequence import CommitSequence, encode_sequence
from spark_jobs.commit.steps.publish_folder import write_marker
from spark_jobs.commit.store import CommitStepStore
from spark_jobs.io.dataset_ref import DatasetRef, Warehouse
from spark_jobs.io.parquet import StagedFolder, StagedTable, staging_folder
from spark_jobs.io.version_log import head

DAILY = PartitionScheme(time=TimeDimension(name="day", cycle="day", start="2013-01-01"))
NEVER = datetime.max.replace(tzinfo=UTC)
Rows = Mapping[str, list[int]]
"""The values of a table's only column, by partition key."""


def daily(name: str) -> DatasetRef:
    return DatasetRef(app="test", name=name, scheme=DAILY)


def whole(name: str) -> DatasetRef:
    return DatasetRef(app="test", name=name)


def stage_rows(warehouse: Warehouse, ref: DatasetRef, rows: Rows, *, commit: str, token: int) -> StagedTable:
    """Does what `parquet.stage` does, for rows given by hand. An empty list clears its partition."""
    root = ref.root(warehouse)
    base = head(warehouse.files, root).number
    folders: dict[str, StagedFolder] = {}
    for number, (key, values) in enumerate(rows.items()):
        if not values:
            continue
        folder = f"{staging_folder(root, commit, token)}/part={number}"
        Path(folder).mkdir(parents=True)
        pq.write_table(pa.table({"value": values}), f"{folder}/part-0.parquet")
        folders[key] = StagedFolder(
            folder=folder,
            marker=write_marker(warehouse.files, folder, commit=commit, token=token),
            rows=len(values),
        )
    return StagedTable(
        ref=ref,
        root=root,
        commit=commit,
        token=token,
        base=base,
        schema='{"type":"struct","fields":[]}',
        keys=tuple(rows),
        folders=folders,
    )


def begin(store: CommitStepStore, commit: str, datasets: Sequence[str], at_least: int = 0) -> int:
    """Opens an attempt that nobody gives up, and returns its token."""
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
        if entry.path is None:
            seen[key] = []
            continue
        names = sorted(p for p in Path(root, entry.path).iterdir() if p.suffix == ".parquet")
        seen[key] = [value for name in names for value in pq.read_table(name)["value"].to_pylist()]
    return seen


def in_child(work: Callable[[], object]) -> int:
    """Runs work in a forked process and waits. Its exit code, negative for the signal that killed it."""
    return in_children(work)[0]


def in_children(*works: Callable[[], object], meanwhile: Callable[[], object] = lambda: None) -> list[int]:
    """Runs each work in a process of its own, all at once; `meanwhile` is called again and again here."""
    children = [_fork(work) for work in works]
    codes: dict[int, int] = {}
    while len(codes) < len(children):
        meanwhile()
        for child in children:
            if child not in codes:
                done, status = os.waitpid(child, os.WNOHANG if len(children) > 1 else 0)
                if done:
                    codes[child] = os.waitstatus_to_exitcode(status)
    return [codes[child] for child in children]


def _fork(work: Callable[[], object]) -> int:
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        work()
        code = 0
    except Exception:  # noqa: BLE001 -- printed, and told to the parent by the exit code
        traceback.print_exc()
    finally:
        os._exit(code)


def kill_self() -> None:
    """Dies as by a power cut: no clean-up, no exception."""
    os.kill(os.getpid(), signal.SIGKILL)
