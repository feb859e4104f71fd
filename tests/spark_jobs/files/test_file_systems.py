"""One contract, every file system: local files, and Hadoop's behind the URLs of three schemes.

HDFS and object stores need a cluster. What Hadoop gives without one replaces them: `viewfs:`
takes the same way as `hdfs:`, by FileContext and a rename that overwrites nothing, and `gs:`
that of a store which shows a file when it is closed. Mounted there is a local disk.
"""

from collections.abc import Callable
from pathlib import Path
from threading import Barrier, Thread
from typing import Any, NamedTuple, cast

import pytest
from pyspark.sql import SparkSession

from tests.spark_jobs.files.mounts import mounted
from tidegate.spark_jobs.errors import OutputError
from tidegate.spark_jobs.files.all_files import AllFiles
from tidegate.spark_jobs.files.filesystem import FileSystem, LocalFiles
from tidegate.spark_jobs.files.hadoop_files import HadoopFiles
from tidegate.spark_jobs.files.scheme import SCHEMES, Promises

pytestmark = pytest.mark.spark

HELLO_SHA256 = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
NAMES = ("plain", "a b", "é漢字", "day=2013-12-22", "A%2Fb", "v=0x12", "x" * 200)


class Place(NamedTuple):
    """A file system, a folder on it, and where that folder really is."""

    files: FileSystem
    root: str
    really: Path


@pytest.fixture(params=["local", "all", "file", "viewfs", "gs"])
def place(request: pytest.FixtureRequest, tmp_path: Path, spark: SparkSession) -> Place:
    given: dict[str, Callable[[], tuple[FileSystem, str]]] = {
        "local": lambda: (LocalFiles(), str(tmp_path)),
        "all": lambda: (AllFiles(lambda: spark), f"file://{tmp_path}"),
        "file": lambda: (HadoopFiles(lambda: spark), f"file:{tmp_path}"),
        "viewfs": lambda: (HadoopFiles(lambda: spark), mounted(spark, "viewfs", tmp_path)),
        "gs": lambda: (AllFiles(lambda: spark), mounted(spark, "gs", tmp_path)),
    }
    files, root = given[request.param]()
    return Place(files, root, tmp_path)


def test_a_file_is_created_once_and_read_back_whatever_its_name(place: Place) -> None:
    for name in NAMES:
        file = f"{place.root}/deep/{name}/file.json"
        assert place.files.read(file) is None
        assert not place.files.exists(file)
        assert place.files.put_if_absent(file, b"first\0\xff")
        assert not place.files.put_if_absent(file, b"second")
        assert place.files.read(file) == b"first\0\xff"
        assert (place.really / "deep" / name / "file.json").read_bytes() == b"first\0\xff"
        assert [entry.name for entry in place.files.list(f"{place.root}/deep/{name}")] == ["file.json"]
    assert [entry.name for entry in place.files.list(f"{place.root}/deep")] == sorted(NAMES)


# Not the mounted ones: Hadoop's rename and creation on a local disk are a look and then a deed.
@pytest.mark.parametrize("place", ["local", "all", "file"], indirect=True)
def test_of_many_who_create_a_file_one_wins(place: Place) -> None:
    here, won = Barrier(8), list[int]()

    def create(number: int) -> None:
        here.wait()
        if place.files.put_if_absent(f"{place.root}/one", f"{number}".encode()):
            won.append(number)

    threads = [Thread(target=create, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(won) == 1
    assert place.files.read(f"{place.root}/one") == f"{won[0]}".encode()
    assert [entry.name for entry in place.files.list(place.root)] == ["one"]


@pytest.mark.parametrize("scheme", ["viewfs", "gs"])
def test_a_name_that_is_taken_after_the_look_stays_with_who_took_it(
    spark: SparkSession, tmp_path: Path, scheme: str
) -> None:
    class Overtaken(HadoopFiles):
        def _create(self, system: Any, path: Any, content: bytes, *, synced: bool = False) -> None:
            LocalFiles().put_if_absent(f"{tmp_path}/one", b"theirs")
            super()._create(system, path, content, synced=synced)

    files, url = Overtaken(lambda: spark), mounted(spark, scheme, tmp_path)
    assert not files.put_if_absent(f"{url}/one", b"ours")
    assert files.read(f"{url}/one") == b"theirs"
    assert [entry.name for entry in files.list(url)] == ["one"]


def test_a_listing_tells_files_from_folders(place: Place) -> None:
    place.files.put_if_absent(f"{place.root}/folder/file", b"12345")
    (folder,) = place.files.list(place.root)
    (file,) = place.files.list(f"{place.root}/folder")
    assert (folder.name, folder.is_folder, folder.size, folder.modified_ms) == ("folder", True, 0, 0)
    assert (file.name, file.is_folder, file.size) == ("file", False, 5)
    beside = LocalFiles().list(str(place.really / "folder"))  # in any order, with a checksum file
    assert [file.modified_ms] == [each.modified_ms for each in beside if each.name == "file"]
    assert place.files.list(f"{place.root}/nothing") == ()
    assert place.files.list(f"{place.root}/folder/file") == ()


@pytest.mark.parametrize("place", ["local", "all", "file", "viewfs"], indirect=True)
def test_a_folder_is_moved_whole_and_over_nothing(place: Place) -> None:
    assert place.files.moves_folders_whole(place.root)
    place.files.put_if_absent(f"{place.root}/staged/a/rows", b"1")
    place.files.rename({f"{place.root}/staged/a": f"{place.root}/data/day=1/v=c"})
    assert place.files.read(f"{place.root}/data/day=1/v=c/rows") == b"1"
    assert not place.files.exists(f"{place.root}/staged/a")
    place.files.put_if_absent(f"{place.root}/staged/b/rows", b"2")
    with pytest.raises(FileExistsError):
        place.files.rename({f"{place.root}/staged/b": f"{place.root}/data/day=1/v=c"})
    assert place.files.read(f"{place.root}/data/day=1/v=c/rows") == b"1"
    with pytest.raises(FileNotFoundError):
        place.files.rename({f"{place.root}/staged/none": f"{place.root}/data/day=1/v=d"})


@pytest.mark.parametrize("place", ["local", "all", "file", "viewfs"], indirect=True)
def test_folders_are_moved_together_and_one_that_cannot_be_moved_keeps_no_other_from_it(place: Place) -> None:
    for name in "abc":
        place.files.put_if_absent(f"{place.root}/staged/{name}/rows", name.encode())
    place.files.put_if_absent(f"{place.root}/data/day=b/v=c/rows", b"of another")
    moves = {f"{place.root}/staged/{name}": f"{place.root}/data/day={name}/v=c" for name in "abc"}

    with pytest.raises(FileExistsError):
        place.files.rename(moves)

    read = [place.files.read(f"{place.root}/data/day={name}/v=c/rows") for name in "abc"]
    assert read == [b"a", b"of another", b"c"]
    assert [entry.name for entry in place.files.list(f"{place.root}/staged")] == ["b"]


@pytest.mark.parametrize("place", ["gs"], indirect=True)
def test_a_store_that_moves_file_by_file_says_so(place: Place) -> None:
    place.files.put_if_absent(f"{place.root}/staged/a/rows", b"1")
    assert not place.files.moves_folders_whole(place.root)
    with pytest.raises(OSError, match="gs: moves folders file by file"):
        place.files.rename({f"{place.root}/staged/a": f"{place.root}/data/a"})


def test_what_is_not_there_can_be_deleted(place: Place) -> None:
    place.files.put_if_absent(f"{place.root}/folder/deep/file", b"1")
    place.files.put_if_absent(f"{place.root}/file", b"1")
    for _ in range(2):
        place.files.delete(f"{place.root}/folder")
        place.files.delete(f"{place.root}/file")
    assert list(place.really.iterdir()) == []


def test_a_copy_replaces_what_stands_there(place: Place) -> None:
    place.files.put_if_absent(f"{place.root}/source", b"hello")
    place.files.put_if_absent(f"{place.root}/half/target", b"hel")
    place.files.copy(f"{place.root}/source", f"{place.root}/half/target")
    place.files.copy(f"{place.root}/source", f"{place.root}/new folder/target")
    assert place.files.read(f"{place.root}/half/target") == b"hello"
    assert place.files.digest(f"{place.root}/new folder/target") == HELLO_SHA256
    assert place.files.digest(f"{place.root}/none") is None
    assert [entry.name for entry in place.files.list(f"{place.root}/half")] == ["target"]
    with pytest.raises(FileNotFoundError):
        place.files.copy(f"{place.root}/none", f"{place.root}/half/target")
    place.files.sync(place.root)


def test_a_file_is_copied_from_one_file_system_to_another(tmp_path: Path, spark: SparkSession) -> None:
    lake = tmp_path / "lake"
    lake.mkdir()
    root, files = mounted(spark, "viewfs", lake), AllFiles(lambda: spark)
    (tmp_path / "source").write_bytes(b"hello")
    files.copy(f"{tmp_path}/source", f"{root}/there")
    files.copy(f"{root}/there", f"{tmp_path}/back")
    assert (tmp_path / "back").read_bytes() == b"hello"


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("s3a://bucket/lake", ("format parquet", "s3a: two writers of one file", "format: iceberg", "rest")),
        ("oss://bucket/lake", ("oss: two writers of one file", "[warehouse] path")),
        (
            "abfss://c@a/lake",
            ("no file system for abfss:", '"org.apache.hadoop:hadoop-azure', "[spark.conf]"),
        ),
    ],
)
def test_where_publishing_is_not_safe_it_is_refused(
    spark: SparkSession, place: str, said: tuple[str, ...]
) -> None:
    files = AllFiles(lambda: spark)
    with pytest.raises(OutputError) as refused:
        files.moves_folders_whole(place)
    for part in said:
        assert part in str(refused.value)
    with pytest.raises(OutputError):
        files.put_if_absent(f"{place}/file", b"")


def test_a_mount_promises_no_more_than_what_stands_behind_it(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files, url = HadoopFiles(lambda: spark), f"{mounted(spark, 'viewfs', tmp_path)}/app/not there yet"
    assert files.moves_folders_whole(url)
    monkeypatch.setitem(cast(dict[str, Promises], SCHEMES), "file", Promises())
    with pytest.raises(OutputError, match=r"viewfs: mounts file:.*, where a rename is not atomic"):
        files.moves_folders_whole(url)


def test_a_scheme_that_nobody_serves_is_named(spark: SparkSession) -> None:
    with pytest.raises(OutputError, match="no file system for zzz: URLs"):
        AllFiles(lambda: spark).read("zzz://host/file")


def test_local_places_need_no_spark(tmp_path: Path) -> None:
    def no_spark() -> SparkSession:
        raise AssertionError("Spark was started for a local file")

    files = AllFiles(no_spark)
    assert files.put_if_absent(f"file:{tmp_path}/a", b"hello")
    files.copy(f"file://{tmp_path}/a", f"{tmp_path}/b")
    assert files.digest(f"file:///{tmp_path}/b") == HELLO_SHA256
