"""What fsck finds in Iceberg tables: foreign publishes, orphaned staging, watermarks that disagree."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.doubles.commit_store import MemoryCommitStepStore
from tests.spark_jobs.iceberg.house import D22, DAILY, NEVER, House
from tidegate.domain.model import App, Dataset, Program
from tidegate.spark_jobs.commit.steps.set_watermark import SetWatermark
from tidegate.spark_jobs.publication.table import Publication
from tidegate.spark_jobs.repair.fsck import Examined, fsck

pytestmark = pytest.mark.spark

NOW = datetime(2023, 3, 10, 12, 0, tzinfo=UTC)


@pytest.fixture
def house(tmp_path: Path, spark: SparkSession) -> House:
    return House(tmp_path, spark)


def findings(house: House, store: MemoryCommitStepStore | None = None) -> list[tuple[str, str, str]]:
    table = Dataset(name="t", partitions=DAILY, format="iceberg", write="append")
    program = Program(name="p", run="m.f", reads=("raw",), writes=("t",), incremental={"raw": True})
    app = App(name=house.app, datasets={"t": table, "raw": Dataset(name="raw")}, programs={"p": program})
    examined = Examined(
        apps=(app,), warehouse=house.warehouse, store=store or house.store, context=house.context, now=NOW
    )
    return [(one.kind, one.where, one.what) for one in fsck(examined)]


def read_up_to(house: House, commit: str, position: str, *, recorded: str) -> None:
    """A run that has read `raw` up to a position, and whose snapshot tells one."""
    consumer, source = f"{house.app}/p", f"{house.app}/raw"
    token = house.store.begin(commit, [house.ref("append").id], until=NEVER)
    watermark = SetWatermark(
        consumer=consumer, source=source, part="JFK", number=1, position=position, commit=commit
    )
    publication = Publication(
        house.warehouse,
        house.store,
        commit=commit,
        token=token,
        facts={"tidegate.watermarks": json.dumps({source: {"JFK": recorded}})},
        watermarks=[watermark],
    )
    publication.stage(house.frame((D22, 1, "a")), house.ref("append"), (D22,))
    publication.publish()


def test_a_sound_table_is_sound(house: House) -> None:
    read_up_to(house, "c1", "offset 7", recorded="offset 7")

    assert findings(house) == []


def test_a_watermark_that_its_own_snapshot_denies(house: House) -> None:
    read_up_to(house, "c1", "offset 7", recorded="offset 5")

    ((kind, where, what),) = findings(house)

    assert (kind, where) == ("watermark", f"{house.app}/p in {house.app}/raw JFK")
    assert "is at offset 7" in what and "read up to offset 5" in what


def test_a_snapshot_that_tells_only_a_digest_denies_nothing(house: House) -> None:
    read_up_to(house, "c1", "offset 7", recorded="offset 7")
    house.store.set_watermark((f"{house.app}/p", f"{house.app}/raw", "JFK", 2), "offset 9", "by hand")

    assert findings(house) == []


def test_a_publish_of_another_store(house: House) -> None:
    house.publish(house.frame((D22, 1, "a")), house.ref("append"), D22)

    ((kind, where, what),) = findings(house, MemoryCommitStepStore())

    assert (kind, where) == ("table", f"{house.app}/t")
    assert "commit c1 has published into it, but the store has no record" in what


def test_a_dead_run_and_then_its_staging(house: House) -> None:
    ref = house.ref("append")
    token = house.store.begin("dies", [ref.id], until=NOW)
    house.stage(house.frame((D22, 1, "dead")), ref, D22, commit="dies", token=token)
    assert [kind for kind, _, _ in findings(house)] == ["dead run"]

    house.store.expire(token, NOW)

    assert [kind for kind, _, _ in findings(house)] == ["orphaned staging"]


def test_a_rollback_behind_a_watermark(house: House) -> None:
    house.publish(house.frame((D22, 0, "a")), house.ref("append"), D22)
    first = house.table().currentSnapshot().snapshotId()
    read_up_to(house, "c9", "offset 7", recorded="offset 7")
    house.maintain(f"rollback_to_snapshot(snapshot_id => {first})")

    (rollback, watermark) = findings(house)

    assert rollback[:2] == ("rollback", f"{house.app}/t")
    assert "of commit c9 is not an ancestor of the current one" in rollback[2]
    assert watermark[:2] == ("watermark", f"{house.app}/p in {house.app}/raw JFK")
    assert "it is at offset 7, but the rows read up to there are gone" in watermark[2]
