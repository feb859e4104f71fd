"""A warehouse on another file system: tables of both formats, published there by rename or by copy."""

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import Row, SparkSession

from tests.doubles.commit_store import MemoryCommitStepStore
from tests.effort import only
from tests.spark_jobs.files.mounts import mounted
from tests.spark_jobs.iceberg.house import NEVER
from tests.spark_jobs.staging import parts_of
from tidegate.domain.model import PartitionScheme, TimeDimension, WriteMode
from tidegate.spark_jobs.commit.context import CommitContext
from tidegate.spark_jobs.commit.sequence import decode_sequence, encode_sequence
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef, Warehouse
from tidegate.spark_jobs.errors import OutputError
from tidegate.spark_jobs.files.all_files import AllFiles
from tidegate.spark_jobs.files.filesystem import LocalFiles
from tidegate.spark_jobs.files.scheme import scheme_of
from tidegate.spark_jobs.parquet import output as parquet
from tidegate.spark_jobs.parquet.folders.copy_folder import CopyFolder
from tidegate.spark_jobs.parquet.folders.publish_folder import PublishFolder
from tidegate.spark_jobs.publication.table import read, sequence_of

pytestmark = pytest.mark.spark

DAILY = PartitionScheme(time=TimeDimension(name="day", cycle="day", start="2013-01-01"))
D22, D23 = "2013-12-22", "2013-12-23"
KIND = {"viewfs": PublishFolder, "gs": CopyFolder}


class Lake:
    """A warehouse behind a URL, and a project of which landed files are on another file system."""

    def __init__(self, folder: Path, spark: SparkSession, scheme: str) -> None:
        self.folder, self.spark = folder, spark
        (folder / "lake").mkdir()
        files = AllFiles(lambda: spark)
        url = mounted(spark, scheme, folder / "lake")
        self.warehouse = Warehouse(path=url, project=f"file://{folder}", files=files)
        self.context = CommitContext(files=files, spark=lambda: spark)
        self.store = MemoryCommitStepStore()
        self._commits = 0

    def ref(self, write: WriteMode = "overwrite_partitions", *merge_keys: str) -> DatasetRef:
        return DatasetRef(app="app", name="t", scheme=DAILY, write=write, merge_keys=merge_keys)

    def put(self, ref: DatasetRef, rows: list[tuple[Any, ...]], *keys: str) -> str:
        """Stages rows and stores the sequence: from here on any process can finish it."""
        self._commits += 1
        commit = f"c{self._commits}"
        frame = self.spark.createDataFrame(rows, "day string, id int, value string")
        token = self.store.begin(commit, [ref.id], until=NEVER)
        staged = parquet.stage(frame, ref, keys, self.warehouse, commit=commit, token=token)
        assert {type(step) for step in staged.folder_steps()} <= {KIND[scheme_of(str(self.warehouse.path))]}
        sequence = sequence_of(commit, token, [staged])
        assert self.store.put(commit, sequence.datasets, token, encode_sequence(sequence)) == "stored"
        return commit

    def publish(self, ref: DatasetRef, rows: list[tuple[Any, ...]], *keys: str) -> None:
        assert parts_of(self.put(ref, rows, *keys), self.store, self.context) is not None

    def rows(self, *keys: str) -> list[Row]:
        frame = read(self.spark, self.ref(), self.warehouse, keys or None)
        assert frame is not None
        return sorted(frame.collect())

    def left(self) -> list[str]:
        """What is beside the data and the versions."""
        return [entry.name for entry in LocalFiles().list(f"{self.folder}/lake/app/t/_staging")]


@pytest.fixture
def lake(request: pytest.FixtureRequest, tmp_path: Path, spark: SparkSession) -> Lake:
    return Lake(tmp_path, spark, request.param)


OF_A_MOUNT = pytest.mark.parametrize("lake", only(KIND, "viewfs"), indirect=True)
OF_A_STORE = pytest.mark.parametrize("lake", only(KIND, "gs"), indirect=True)


@OF_A_STORE
def test_every_write_mode_publishes_there(lake: Lake) -> None:
    lake.publish(lake.ref(), [(D22, 1, "a"), (D22, 2, "b"), (D23, 3, "c")], D22, D23)
    lake.publish(lake.ref(), [], D23)
    lake.publish(lake.ref("append"), [(D22, 4, "d")], D22)
    lake.publish(lake.ref("merge", "id"), [(D22, 2, "B")], D22)
    assert lake.rows() == [(D22, 1, "a"), (D22, 2, "B"), (D22, 4, "d")]
    assert lake.rows(D23) == []
    lake.publish(lake.ref("full"), [(D23, 9, "z")], D23)
    assert lake.rows() == [(D23, 9, "z")]
    assert lake.left() == []


@OF_A_MOUNT
def test_half_a_publish_is_finished_by_the_next_process(lake: Lake) -> None:
    lake.publish(lake.ref(), [(D22, 1, "a"), (D23, 1, "a")], D22, D23)
    commit = lake.put(lake.ref(), [(D22, 2, "b"), (D23, 2, "b")], D22, D23)
    body = lake.store.get(commit)
    assert body is not None
    # The process dies when its first folder is in place.
    decode_sequence(body).steps[0].execute(lake.context)
    assert lake.rows() == [(D22, 1, "a"), (D23, 1, "a")]
    other = CommitContext(files=AllFiles(lambda: lake.spark), spark=lambda: lake.spark)
    for _ in range(2):
        assert parts_of(commit, lake.store, other) is not None
    assert lake.rows() == [(D22, 2, "b"), (D23, 2, "b")]
    assert lake.left() == []


@OF_A_STORE
def test_landed_files_are_read_from_another_file_system(lake: Lake) -> None:
    lake.spark.createDataFrame([(1, D22)], "v int, day string").write.partitionBy("day").parquet(
        f"{lake.folder}/landing"
    )
    ref = DatasetRef(app="app", name="landed", scheme=DAILY, path="landing")
    frame = read(lake.spark, ref, lake.warehouse)
    assert frame is not None
    assert [tuple(row) for row in frame.collect()] == [(1, D22)]


def test_parquet_is_refused_before_anything_is_written_where_it_is_not_safe(
    tmp_path: Path, spark: SparkSession
) -> None:
    url = mounted(spark, "cosn", tmp_path)
    warehouse = Warehouse(path=url, project=tmp_path, files=AllFiles(lambda: spark))
    ref = DatasetRef(app="app", name="t", scheme=DAILY)
    with pytest.raises(OutputError, match="cosn: two writers of one file can both succeed"):
        parquet.stage(
            spark.createDataFrame([(D22,)], "day string"), ref, (D22,), warehouse, commit="c", token=1
        )
    assert list(tmp_path.iterdir()) == []
