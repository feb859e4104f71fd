"""Files that a publish writes on this machine: no process for each, and the permissions that Hadoop gives."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from py4j.protocol import Py4JNetworkError
from pyspark.sql import SparkSession

from tests.spark_jobs.publishing import FORMATS, Publisher
from tests.spark_jobs.staging import DAILY
from tidegate.spark_jobs.java.permissions import HADOOPS, MANY, NAME, _LocalFileSystem, permissions_by_java

pytestmark = pytest.mark.spark

CHILDREN_FAULTS = 8
"""The field of /proc/PID/stat, after the name, that grows with each child of a process that has ended."""


class Jvm:
    """The JVM of the tests, and Hadoop's local file system in it."""

    def __init__(self, spark: SparkSession) -> None:
        context: Any = spark.sparkContext
        self.java = context._jvm
        self.hadoop = self.java.org.apache.hadoop.fs
        self.system = self.hadoop.FileSystem.getLocal(context._jsc.hadoopConfiguration())

    @property
    def below(self) -> str:
        """The class of what works under the checksums of the file system."""
        return str(self.system.getRaw().getClass().getName())

    def children(self) -> int:
        """Return a number that is the same as long as no child of the JVM has ended."""
        stat = Path(f"/proc/{self.java.java.lang.ProcessHandle.current().pid()}/stat").read_text()
        return int(stat.rpartition(")")[2].split()[CHILDREN_FAULTS])

    def fill(self, folder: Path) -> dict[str, str]:
        """Make files and folders of each kind, and return their permissions."""
        folder.mkdir()
        folder.chmod(0o2775)
        place, permission = self.hadoop.Path, self.java.org.apache.hadoop.fs.permission.FsPermission
        self.system.mkdirs(place(f"{folder}/a b/é"))
        self.system.create(place(f"{folder}/a b/file")).close()
        (folder / "link").symlink_to("a b/file")
        for name, mode in (("private", "0600"), ("sticky", "1770")):
            self.system.mkdirs(place(f"{folder}/{name}"))
            self.system.setPermission(place(f"{folder}/{name}"), permission(mode))
        self.system.setPermission(place(f"{folder}/link"), permission("0640"))
        return {str(one.relative_to(folder)): oct(one.stat().st_mode) for one in sorted(folder.rglob("*"))}


@pytest.fixture
def jvm(spark: SparkSession) -> Jvm:
    return Jvm(spark)


@contextmanager
def failing() -> Generator[None]:
    with pytest.raises(KeyError):
        yield


@pytest.mark.parametrize("format", FORMATS)
def test_a_publish_of_many_partitions_starts_no_process(
    tmp_path: Path, spark: SparkSession, jvm: Jvm, format: str
) -> None:
    publisher = Publisher(tmp_path, spark)
    ref = publisher.ref(format=format, scheme=DAILY, write="append")
    days = tuple(f"2013-12-{day:02}" for day in range(1, MANY + 1))
    rows = spark.createDataFrame([(day, 1) for day in days], "day string, value int").coalesce(1)
    publisher.publish(ref, rows, *days)

    before = jvm.children()
    published = publisher.publish(ref, rows, *days)

    assert sum(part.files for part in published) == MANY
    assert jvm.children() == before
    assert jvm.below == HADOOPS


def test_permissions_are_those_that_hadoop_gives(tmp_path: Path, spark: SparkSession, jvm: Jvm) -> None:
    hadoops = jvm.fill(tmp_path / "hadoop")
    with permissions_by_java(spark, MANY):
        assert jvm.below == NAME
        before = jvm.children()
        ours = jvm.fill(tmp_path / "ours")
        assert jvm.children() == before

    assert ours == hadoops
    assert ours["private"] == oct(0o42600), "the folder keeps the bit of its group"


def test_hadoops_own_way_is_back_after_the_last_block(spark: SparkSession, jvm: Jvm) -> None:
    with permissions_by_java(spark, MANY):
        with failing(), permissions_by_java(spark):
            raise KeyError
        assert jvm.below == NAME
    assert jvm.below == HADOOPS


def test_the_first_few_files_of_a_jvm_are_not_worth_the_class(spark: SparkSession) -> None:
    system = _LocalFileSystem()

    assert not system.is_ready(spark, 0)
    assert not system.is_ready(spark, 1)
    assert not system.is_ready(spark, 0)
    assert system.is_ready(spark, 1)
    assert system.is_ready(spark, 0)


class Gone:
    """A field of an object in a JVM that has ended."""

    def set(self, *_: object) -> None:
        raise Py4JNetworkError


def test_a_jvm_that_ends_in_a_block_is_reported_by_what_the_block_does() -> None:
    system = _LocalFileSystem()
    system._parts = (None, Gone(), None, None)

    with failing(), system.used():
        raise KeyError
