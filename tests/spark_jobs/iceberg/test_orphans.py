"""Staging tables of dead runs go, with their files; what a table has taken over stays, and others' too."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.spark_jobs.iceberg.house import D22, D23, NEVER, House
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef
from tidegate.spark_jobs.iceberg.catalog.catalog import STAGING_NAMESPACE
from tidegate.spark_jobs.iceberg.output import discard, table_name
from tidegate.spark_jobs.iceberg.staging.names import staging_name
from tidegate.spark_jobs.iceberg.steps.drop_staging_tables import DropStagingTables
from tidegate.spark_jobs.publication.table import Publication
from tidegate.spark_jobs.repair.orphans import expire_dead_attempts, find_orphans, remove_orphans

pytestmark = pytest.mark.spark

NOW = datetime(2023, 3, 10, 12, 0, tzinfo=UTC)


@pytest.fixture
def house(tmp_path: Path, spark: SparkSession) -> House:
    return House(tmp_path, spark)


def dead(house: House, ref: DatasetRef, commit: str, number: int = 1) -> int:
    """A run that has staged a row, and died."""
    token = house.store.begin(commit, [ref.id], until=NOW)
    house.stage(house.frame((D22, number, "dead")), ref, D22, commit=commit, token=token)
    return token


def clean(house: House, *refs: DatasetRef) -> list[int]:
    """One cleaning; returns the tokens whose staging was removed."""
    expire_dead_attempts(house.store, NOW)
    found = find_orphans(refs, house.warehouse, house.store, lambda: house.spark)
    remove_orphans(found, refs, house.warehouse, lambda: house.spark)
    return [one.token for one in found]


def test_the_staging_of_a_dead_run_goes_with_its_files(house: House) -> None:
    ref = house.ref("append")
    house.publish(house.frame((D22, 1, "kept")), ref, D22)
    before = house.data_files()
    token = dead(house, ref, "dies")
    alive = house.publication("lives", ref)
    alive.stage(house.frame((D23, 2, "lives")), ref, (D23,))
    assert len(house.data_files()) == len(before) + 2

    assert clean(house, ref) == [token]

    assert len(house.data_files()) == len(before) + 1
    alive.publish()
    assert [row["value"] for row in house.rows(ref)] == ["kept", "lives"]
    assert house.staged() == []


def test_it_is_found_where_the_table_was_never_made(house: House) -> None:
    ref = house.ref("append")
    token = dead(house, ref, "dies")

    assert clean(house, ref, house.ref("append", name="other")) == [token]

    assert (house.staged(), house.data_files()) == ([], set())


def test_what_was_published_stays_though_the_broom_had_failed(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    ref = house.ref("append")
    with monkeypatch.context() as broken:
        broken.setattr(DropStagingTables, "execute", lambda *_: None)
        broken.setattr(Publication, "discard", lambda *_: None)
        house.publish(house.frame((D22, 1, "kept")), ref, D22)
    assert len(house.staged()) == 1

    assert clean(house, ref) == [1]

    assert house.staged() == []
    assert [row["value"] for row in house.rows(ref)] == ["kept"]
    assert clean(house, ref) == []


def test_a_run_that_sweeps_after_its_broom_has_failed_takes_nothing_that_was_published(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    ref = house.ref("append")
    monkeypatch.setattr(DropStagingTables, "execute", lambda *_: None)

    house.publish(house.frame((D22, 1, "kept")), ref, D22)

    assert house.staged() == []
    assert [row["value"] for row in house.rows(ref)] == ["kept"]


def test_what_belongs_to_no_dataset_of_ours_is_another_projects(house: House) -> None:
    theirs, ours = house.ref("append", name="theirs"), house.ref("append", name="ours")
    house.publish(house.frame((D22, 1, "a")), theirs, D22)
    house.publish(house.frame((D22, 1, "a")), ours, D22)
    dead(house, theirs, "c9")

    assert clean(house, ours) == []

    assert len(house.staged()) == 1
    assert clean(house, theirs) != []


@pytest.mark.parametrize(
    "files",
    [
        pytest.param((), id="folder", marks=pytest.mark.soak),
        pytest.param(("metadata/0f.metadata.json",), id="metadata"),
    ],
)
def test_a_staging_table_that_a_full_disk_left_half_created_goes(
    house: House, files: tuple[str, ...]
) -> None:
    ref = house.ref("append")
    token = house.store.begin("dies", [ref.id], until=NOW)
    place = half_created(house, ref, "dies", token, *files)
    alive = house.store.begin("lives", [ref.id], until=NEVER)
    kept = half_created(house, ref, "lives", alive, *files)

    assert clean(house, ref) == [token]
    assert not place.exists() and kept.exists()

    # The run that lives fails now, and removes what it has left itself.
    discard(house.spark, ref, commit="lives", token=alive)
    assert not kept.exists()


def half_created(house: House, ref: DatasetRef, commit: str, token: int, *files: str) -> Path:
    """What exists of a staging table when the disk is full after its folder, or within its metadata."""
    warehouse = str(house.spark.conf.get("spark.sql.catalog.tidegate.warehouse")).removeprefix("file:")
    place = Path(warehouse, STAGING_NAMESPACE, staging_name(table_name(ref), commit, token))
    (place / "metadata").mkdir(parents=True)
    for file in files:
        (place / file).write_text('{"format-ver')
    return place
