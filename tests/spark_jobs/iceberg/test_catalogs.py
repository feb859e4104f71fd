"""Catalogs other than the default one: publishes, repeated publishes, two at once, and lost answers.

`rest` is Iceberg's own client and server handlers, over real HTTP. `hive` is a Hive
metastore in this JVM, on the Derby database that Spark brings along. `jdbc` is Iceberg's JDBC catalog on H2,
where this machine has its driver.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.effort import only
from tests.spark_jobs.iceberg.house import D22, D23, House
from tests.spark_jobs.iceberg.other_catalogs import JDBC, jdbc_options, metastore_options, other_catalog
from tests.spark_jobs.iceberg.rest_catalog import RestCatalog
from tidegate.spark_jobs.commit.step import Verdict
from tidegate.spark_jobs.errors import OutputError
from tidegate.spark_jobs.iceberg.catalog.catalog import IcebergCatalog
from tidegate.spark_jobs.iceberg.catalog.options import catalog_fault, with_defaults

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def rest(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RestCatalog]:
    server = RestCatalog(spark, str(tmp_path_factory.mktemp("rest house")))
    yield server
    server.close()


@pytest.fixture(scope="module")
def metastore(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return metastore_options(spark, str(tmp_path_factory.mktemp("hive house")))


CATALOGS = ("rest", "hive", *JDBC)


@pytest.fixture
def house(request: pytest.FixtureRequest, tmp_path: Path, spark: SparkSession) -> Iterator[House]:
    match request.param:
        case "rest":
            options = {"type": "rest", "uri": request.getfixturevalue("rest").uri}
        case "hive":
            options = request.getfixturevalue("metastore")
        case _:
            options = jdbc_options(spark, str(tmp_path))
    yield from _house_with(spark, tmp_path, options)


@pytest.fixture
def rest_house(rest: RestCatalog, tmp_path: Path, spark: SparkSession) -> Iterator[House]:
    yield from _house_with(spark, tmp_path, {"type": "rest", "uri": rest.uri})


def _house_with(spark: SparkSession, folder: Path, options: dict[str, str]) -> Iterator[House]:
    assert catalog_fault(options, str(folder)) is None
    with other_catalog(spark, with_defaults(options, str(folder))) as other:
        yield House(folder, other)


@pytest.mark.parametrize("house", only(CATALOGS, "rest"), indirect=True)
def test_every_write_mode_publishes_once(house: House) -> None:
    replaced, added = house.ref("overwrite_partitions"), house.ref("append", None, "a")
    merged = house.ref("merge", house.ref("merge").scheme, "m", "id")
    house.publish(house.frame((D22, 1, "a"), (D23, 2, "b")), replaced, D22, D23)
    house.publish(house.frame(), replaced, D23)
    house.publish(house.frame((D22, 1, "a"), (D22, 2, "b")), merged, D22)
    house.publish(house.frame((D22, 2, "B"), (D22, 3, "C")), merged, D22)
    for number in (1, 1):
        house.publish(house.frame((number,), columns="n int"), added)
    assert house.rows(replaced) == [(D22, 1, "a")]
    assert house.rows(merged) == [(D22, 1, "a"), (D22, 2, "B"), (D22, 3, "C")]
    assert house.rows(added) == [(1,), (1,)]
    assert house.staged() == []


@pytest.mark.parametrize("house", only(CATALOGS, *(JDBC or ["rest"])), indirect=True)
def test_a_repeated_commit_adds_nothing(house: House) -> None:
    ref = house.ref("append")
    staged = house.stage(house.frame((D22, 1, "a")), ref, D22, commit="c1", token=1)
    step = staged.version_step()
    assert step.verify(house.context).verdict is Verdict.NOT_DONE
    for _ in range(3):
        step.execute(house.context)
        assert step.verify(house.context).verdict is Verdict.DONE
    assert house.rows(ref) == [(D22, 1, "a")]
    assert house.snapshots() == 1


def test_a_commit_that_another_one_overtakes_is_done_on_top_of_it(
    rest: RestCatalog, rest_house: House
) -> None:
    house, refused = rest_house, rest.refused
    ref = house.ref("append")
    first = house.stage(house.frame((D22, 1, "a")), ref, D22, commit="first", token=1).version_step()
    other = house.stage(house.frame((D22, 2, "b")), ref, D22, commit="other", token=2).version_step()
    rest.meanwhile = lambda: other.execute(house.context)
    first.execute(house.context)
    assert rest.refused == refused + 1, "the server compares what was read with what there is"
    assert house.rows(ref) == [(D22, 1, "a"), (D22, 2, "b")]
    assert {one.verify(house.context).verdict for one in (first, other)} == {Verdict.DONE}


def test_two_processes_that_finish_one_commit_publish_it_once(rest: RestCatalog, rest_house: House) -> None:
    house = rest_house
    step = house.stage(
        house.frame((D22, 1, "a")), house.ref("append"), D22, commit="c", token=1
    ).version_step()
    rest.meanwhile = lambda: step.execute(house.context)
    step.execute(house.context)
    assert house.rows(house.ref("append")) == [(D22, 1, "a")]
    assert house.snapshots() == 1


def test_an_answer_that_is_lost_is_looked_up_before_it_is_tried_again(
    rest: RestCatalog, rest_house: House
) -> None:
    house = rest_house
    ref = house.ref("append")
    publication = house.publication("c1", ref)
    publication.stage(house.frame((D22, 1, "a")), ref, (D22,))
    rest.lose_answers = 1
    (published,) = publication.publish()
    assert rest.lose_answers == 0, "the commit was done, and the connection cut"
    assert (published.key, published.rows) == (D22, 1)
    assert house.rows(ref) == [(D22, 1, "a")]
    assert house.snapshots() == 1
    assert house.staged() == []


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            {"type": "jdbc", "uri": "jdbc:postgresql://localhost/catalog"},
            ("the database in iceberg.catalog.uri", "spark.driver.extraClassPath"),
        ),
        ({"catalog-impl": "org.absent.Catalog"}, ("needs the class org.absent.Catalog", "catalog-impl")),
        ({"type": "hadoop", "io-impl": "org.absent.FileIO"}, ("class org.absent.FileIO", "io-impl")),
        ({"type": "glue"}, ("the AWS SDK", "iceberg-aws-bundle", "packages in [iceberg]")),
    ],
)
def test_a_catalog_that_cannot_be_opened_names_the_setting(
    tmp_path: Path, spark: SparkSession, options: dict[str, str], said: tuple[str, ...]
) -> None:
    assert catalog_fault(options, str(tmp_path)) is None, "nothing of this shows in the settings"
    with (
        other_catalog(spark, with_defaults(options, str(tmp_path))) as other,
        pytest.raises(OutputError) as refused,
    ):
        IcebergCatalog(other)
    for part in said:
        assert part in str(refused.value)


def test_the_files_of_a_table_are_reached_as_the_table_reaches_them(
    rest_house: House, tmp_path: Path
) -> None:
    house, folder = rest_house, tmp_path / "data"
    house.publish(house.frame((D22, 1, "a")), house.ref("append"), D22)
    io = house.table().io()
    for name in ("s_1/day=1/a.parquet", "s_1/b.parquet", "s_10/c.parquet"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"")

    def below(name: str) -> list[str]:
        return sorted(
            file.rpartition("/data/")[2] for file in house.catalog.files.below(f"{folder}/{name}", io)
        )

    assert below("s_1") == ["s_1/b.parquet", "s_1/day=1/a.parquet"]
    assert below("none") == []
    for _ in range(2):
        house.catalog.files.delete(f"{folder}/s_1/b.parquet", io)
        assert below("s_1") == ["s_1/day=1/a.parquet"]
    for _ in range(2):
        house.catalog.files.delete(f"{folder}/s_1", io)
        assert below("s_1") == []
    assert below("s_10") == ["s_10/c.parquet"]
