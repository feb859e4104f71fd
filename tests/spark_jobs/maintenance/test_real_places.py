"""Places and their identities: links, slashes, schemes and authorities of one folder."""

from pathlib import Path
from typing import Any

import pytest

from tidegate.spark_jobs.maintenance.iceberg.orphans.real_places import RealPlaces, folder_of, path_on_disk


class NoHadoop:
    """Iceberg's FileIO of an object store."""

    def getClass(self) -> "NoHadoop":
        return self

    def getName(self) -> str:
        return "org.apache.iceberg.aws.s3.S3FileIO"


@pytest.fixture
def places() -> RealPlaces:
    files: Any = None
    return RealPlaces(files, NoHadoop())


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("s3://bucket/a/t", "s3a://bucket/a/t"),
        ("s3n://bucket/a/t/", "s3://bucket//a/t"),
        ("S3://Bucket/a/t", "s3://bucket/a/t"),
        ("abfss://c@account/a", "abfs://c@account/a/"),
        ("file:/tmp/a/", "/tmp/a"),
        ("file:///tmp/a", "file://localhost/tmp//a"),
    ],
)
def test_one_place_by_two_names(places: RealPlaces, one: str, other: str) -> None:
    assert places.identity(one) == places.identity(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("s3://bucket/a/t", "s3://bucket/a/T"),
        ("s3://bucket/a", "s3://other/a"),
        ("hdfs://one/a", "hdfs://two/a"),
        ("gs://bucket/a", "s3://bucket/a"),
    ],
)
def test_two_places(places: RealPlaces, one: str, other: str) -> None:
    assert places.identity(one) != places.identity(other)


def test_a_link_and_a_second_name_of_a_file_are_what_they_lead_to(places: RealPlaces, tmp_path: Path) -> None:
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "f").write_text("")
    (tmp_path / "old").symlink_to(tmp_path / "new")
    (tmp_path / "again").hardlink_to(tmp_path / "new" / "f")
    assert places.identity(f"{tmp_path}/old/f") == places.identity(f"file:{tmp_path}/again")
    assert places.identity(f"file://{tmp_path}/old/") == places.identity(f"{tmp_path}/new")
    assert places.identity(f"{tmp_path}/none") != places.identity(f"{tmp_path}/new")


def test_folders_and_characters_of_urls() -> None:
    assert [folder_of("/a/b"), folder_of("/a"), folder_of("s3://bucket/a"), folder_of("s3://bucket")] == [
        "/a",
        "",
        "s3://bucket",
        "",
    ]
    assert path_on_disk("file:/x/day=a%20b/c#d?e") == "/x/day=a%20b/c#d?e"
    assert path_on_disk("hdfs://x/y") is None
