"""Folders in a cloud: listed through fsspec, with a real S3 over HTTP on loopback, and a store in memory."""

import sys
import urllib.request
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import boto3
import fsspec
import pytest
from moto.core import DEFAULT_ACCOUNT_ID
from moto.s3.models import s3_backends
from moto.server import ThreadedMotoServer

from tests import tally
from tests.watcher.landing import NORTH, Landing
from tidegate.scheduler.model.records.watched import WATCHED_FOLDERS
from tidegate.spark_jobs.datasets.dataset_ref import Warehouse
from tidegate.watcher.cloud import options_of
from tidegate.watcher.look import Place
from tidegate.watcher.watching import Site

pytestmark = pytest.mark.store

FOLDER = "day=2026-03-09/region=north"
KEYS = {
    "spark.hadoop.fs.s3a.access.key": "k",
    "spark.hadoop.fs.s3a.secret.key": "s",
}


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    server = ThreadedMotoServer("127.0.0.1", port=0)
    server.start()
    host, port = server.get_host_and_port()
    tally.take_part("S3")
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def bucket(endpoint: str) -> Any:
    client = boto3.client(
        "s3",
        endpoint_url=endpoint,
        region_name="us-east-1",
        aws_access_key_id="k",
        aws_secret_access_key="s",
    )
    client.create_bucket(Bucket="lake")
    yield client
    urllib.request.urlopen(urllib.request.Request(f"{endpoint}/moto-api/reset", method="POST")).close()


def landing_at(tmp_path: Path, url: str, place: Place) -> Landing:
    """A landing whose folders are below a URL."""

    class Remote(Landing):
        @property
        def site(self) -> Site:
            return replace(super().site, warehouse=Warehouse(path=self.path / "w", project=url), place=place)

    return Remote(tmp_path)


def test_s3_with_what_spark_is_configured_with(tmp_path: Path, endpoint: str, bucket: Any) -> None:
    landing = landing_at(
        tmp_path, "s3a://lake/project", Place({**KEYS, "spark.hadoop.fs.s3a.endpoint": endpoint}, {})
    )

    def put(name: str, content: bytes) -> None:
        bucket.put_object(Bucket="lake", Key=f"project/landing/orders/{FOLDER}/{name}", Body=content)

    assert landing.settled() == ()
    bucket.put_object(Bucket="lake", Key=f"project/landing/orders/{FOLDER}/", Body=b"")
    put("a.parquet", b"1PAR1")
    put("_hidden", b"123")
    bucket.put_object(Bucket="lake", Key="project/landing/orders2/day=2026-03-09/x", Body=b"1")
    assert landing.settled() == (NORTH,)
    put("a.parquet", b"4PAR1")
    assert landing.settled() == (NORTH,)
    put("b.parquet", b"PAR1")
    assert landing.settled() == (NORTH,)
    landing.restarted()
    assert landing.settled() == ()
    assert landing.events() == [(NORTH, 5), (NORTH, 5), (NORTH, 9)]


def test_more_objects_than_a_page_of_a_listing(tmp_path: Path, endpoint: str, bucket: Any) -> None:
    landing = landing_at(tmp_path, "s3a://lake", Place(KEYS, {"endpoint_url": endpoint}))
    held = s3_backends[DEFAULT_ACCOUNT_ID]["aws"]  # of the server, in this process: a thousand calls less
    for number in range(1_010):
        held.put_object("lake", f"landing/orders/{FOLDER}/{number}.parquet", b"PAR1")
    assert bucket.list_objects_v2(Bucket="lake")["IsTruncated"]

    assert landing.settled() == (NORTH,)
    assert landing.events() == [(NORTH, 4_040)]


def test_a_bucket_that_does_not_exist_or_answer_is_a_problem(tmp_path: Path, endpoint: str) -> None:
    landing = landing_at(tmp_path, "s3a://none/p", Place(KEYS, {"endpoint_url": endpoint}))
    landing.after()
    away = landing_at(
        tmp_path,
        "s3a://lake/p",
        Place(
            KEYS, {"endpoint_url": "http://127.0.0.1:9", "config_kwargs": {"retries": {"max_attempts": 1}}}
        ),
    )
    away.after()

    assert "s3a://none/p/landing/orders: there is no none" in landing.said[-1]
    assert "cannot be listed" in away.said[-1]
    with away.store.reading() as reader:
        assert "credentials" in reader.records(WATCHED_FOLDERS, project="")[0].remedy


def test_a_store_in_memory(tmp_path: Path) -> None:
    landing = landing_at(tmp_path, "memory://lake", Place({}, {}))
    files = fsspec.filesystem("memory")
    files.pipe_file(f"/lake/landing/orders/{FOLDER}/a.parquet", b"1PAR1")

    assert landing.settled() == (NORTH,)
    assert landing.settled() == ()
    files.pipe_file(f"/lake/landing/orders/{FOLDER}/b.parquet.tmp", b"1")
    files.pipe_file(f"/lake/landing/orders/{FOLDER}/c.parquet", b"PAR1")
    files.pipe_file(f"/lake/landing/orders/{FOLDER}/d.parquet", b"cut")
    assert landing.settled() == ()
    files.rm(f"/lake/landing/orders/{FOLDER}/b.parquet.tmp")
    assert landing.settled() == ()
    assert "d.parquet' is not a Parquet file, or was cut" in landing.said[-1]
    files.rm(f"/lake/landing/orders/{FOLDER}/d.parquet")
    assert landing.settled() == (NORTH,)
    files.rm("/lake", recursive=True)
    assert landing.settled() == ()


@pytest.mark.parametrize(
    ("url", "package", "extra"),
    [
        ("s3a://b", "s3fs", "s3"),
        ("gs://b", "gcsfs", "gcs"),
        ("abfss://c@a.dfs.core.windows.net", "adlfs", "azure"),
    ],
)
def test_without_the_extra_the_error_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str, package: str, extra: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    known = sys.modules["fsspec.registry"]._registry
    monkeypatch.delitem(known, url.partition(":")[0], raising=False)
    landing = landing_at(tmp_path, url, Place({}, {}))
    landing.after()

    assert f"needs the package {package}, which is not installed" in landing.said[-1]
    with landing.store.reading() as reader:
        assert reader.records(WATCHED_FOLDERS, project="")[0].remedy == f"pip install 'tidegate[{extra}]'"


def test_hdfs_is_refused_with_what_can_be_watched(tmp_path: Path) -> None:
    landing = landing_at(tmp_path, "hdfs://name:8020/lake", Place({}, {}))
    landing.after()

    assert "folders of hdfs:// cannot be watched" in landing.said[-1]


@pytest.mark.parametrize(
    ("conf", "given", "options"),
    [
        ({}, {}, {}),
        (KEYS, {}, {"key": "k", "secret": "s"}),
        ({"spark.hadoop.fs.s3a.endpoint": "minio:9000"}, {}, {"endpoint_url": "https://minio:9000"}),
        (KEYS, {"key": "other"}, {"key": "other", "secret": "s"}),
    ],
)
def test_given_options_come_before_those_of_spark(
    conf: dict[str, str], given: dict[str, Any], options: dict[str, Any]
) -> None:
    assert options_of("s3a://b/p", conf, given) == options
    assert options_of("gs://b/p", conf, given) == given
