"""Compaction of tables with deletes of every kind: the same rows before and after, and no delete is lost."""

import uuid
from typing import Any

import pytest

from tests.spark_jobs.iceberg.house import D22, D23, D24
from tests.spark_jobs.maintenance.yard import EXPIRE, MANIFESTS, ORPHANS, REWRITE, Later, Yard
from tidegate.domain.maintenance.reported import Ending
from tidegate.spark_jobs.maintenance import slicing
from tidegate.spark_jobs.maintenance.iceberg.catalog_table import CatalogTable

pytestmark = [pytest.mark.spark, pytest.mark.iceberg]

ON_READ = ", ".join(f"'write.{kind}.mode' = 'merge-on-read'" for kind in ("delete", "merge", "update"))
MANY = 20
"""Rows of a file of which so few are deleted that it is not compacted."""


def puffins(yard: Yard) -> dict[str, int]:
    """The files of deletes, with the number of entries that name each."""
    found = yard.spark.sql(
        f"SELECT file_path, count(*) FROM {yard.full_name}.delete_files GROUP BY file_path"
    )
    return {str(row[0]): int(row[1]) for row in found.collect()}


def all_but_compaction(yard: Yard) -> None:
    """What rewrites metadata, and deletes files that nothing needs any more."""
    yard.clock = Later(8)
    rows = yard.all_rows()
    for operation in (MANIFESTS, EXPIRE, ORPHANS):
        ended = yard.run(operation, retain_last=1) if operation is EXPIRE else yard.run(operation)
        assert (ended.ending, ended.detail) == (Ending.SUCCEEDED, "")
        assert yard.all_rows() == rows


def test_vectors_of_several_files_in_one_puffin(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    # Each partition is committed by itself: the others still need their vectors then.
    monkeypatch.setattr(slicing, "LEAST_SLICE_BYTES", 1)
    yard.make(properties=f"'format-version' = '3', {ON_READ}")
    for number in range(5):
        yard.insert(*((day, id) for day in (D22, D23) for id in (number, 100 + number)))
    yard.insert(*((D24, id) for id in range(MANY)))
    yard.sql("DELETE FROM T WHERE id IN (1, 2, 3)")
    assert list(puffins(yard).values()) == [7], "three files in each of two days, and the large one"
    rows = yard.all_rows()
    ended = yard.run(REWRITE)
    assert (ended.ending, ended.results["files_rewritten"]) == (Ending.SUCCEEDED, 10)
    assert list(puffins(yard).values()) == [1], "of the file that is not compacted"
    assert yard.all_rows() == rows
    all_but_compaction(yard)
    assert list(puffins(yard).values()) == [1]

    # A vector that replaces this one.
    yard.sql("DELETE FROM T WHERE id = 8")
    rows = yard.all_rows()
    assert len(rows) == 14 + MANY - 4
    ended = yard.run(REWRITE, rewrite_all=True)
    assert (ended.after["delete_files"], puffins(yard), yard.all_rows()) == (0, {}, rows)


@pytest.mark.soak  # one such delete: test_rewrite.py
def test_positions_of_several_deletes_updates_and_merges(yard: Yard) -> None:
    yard.make(properties=f"'format-version' = '2', {ON_READ}, 'write.delete.granularity' = 'partition'")
    for number in range(5):
        yard.insert(*((day, id) for day in (D22, D23) for id in (number, 100 + number)))
    yard.insert(*((D24, id) for id in range(MANY)))
    yard.sql(
        "DELETE FROM T WHERE id IN (1, 2)",
        "DELETE FROM T WHERE id IN (101, 3)",
        "UPDATE T SET value = 'x' WHERE id IN (4, 7)",
        f"MERGE INTO T USING (SELECT 0 AS id) s ON {yard.full_name}.id = s.id "
        f"WHEN MATCHED AND day = '{D22}' THEN DELETE WHEN MATCHED THEN UPDATE SET value = 'merged'",
    )
    rows = yard.all_rows()
    ended = yard.run(REWRITE)
    assert (ended.ending, yard.all_rows()) == (Ending.SUCCEEDED, rows)
    all_but_compaction(yard)
    ended = yard.run(REWRITE, rewrite_all=True)
    assert (ended.after["delete_files"], yard.all_rows()) == (0, rows)


def test_deletes_of_equal_rows(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    """They hold for all rows that are older, so also for those that are compacted at that moment."""
    yard.make(cut="")
    for number in range(5):
        yard.insert((D22, number), (D23, number), (D24, 100 + number))
    delete_equal(yard, 1)
    yard.insert((D22, 1))
    swap = CatalogTable.swap

    def late(table: CatalogTable, transaction: object) -> None:
        if yard.operations()[-1] == "append":
            delete_equal(yard, 2)
        swap(table, transaction)

    monkeypatch.setattr(CatalogTable, "swap", late)
    rows = [row for row in yard.all_rows() if row[1] != 2]
    ended = yard.run(REWRITE)
    assert (ended.ending, ended.after["files"]) == (Ending.SUCCEEDED, 1)
    assert [row[1] for row in rows] == [0, 1, 3, 4, 0, 3, 4, *range(100, 105)]
    assert yard.all_rows() == rows
    assert (yard.run(REWRITE, rewrite_all=True).after["delete_files"], yard.all_rows()) == (0, rows)
    yard.clock = Later(8)
    assert yard.run(EXPIRE, retain_last=1).results["delete_files_deleted"] == 2
    assert yard.all_rows() == rows


def delete_equal(yard: Yard, id: int) -> None:
    """A stream deletes the rows with an id, of which it does not know the files."""
    table = CatalogTable(yard.spark, yard.full_name)
    gateway: Any
    java, api, gateway = table.load(), table.api, table.spark.sparkContext._gateway
    schema = java.schema().select(["id"])
    fields = gateway.new_array(gateway.jvm.int, 1)
    fields[0] = schema.findField("id").fieldId()
    made = api.data.GenericAppenderFactory(java.schema(), java.spec(), fields, schema, None)
    place = java.locationProvider().newDataLocation(f"{uuid.uuid4()}.parquet")
    file = java.encryption().encrypt(java.io().newOutputFile(place))
    writer = made.newEqDeleteWriter(file, api.FileFormat.PARQUET, None)
    row = api.data.GenericRecord.create(schema)
    row.setField("id", id)
    writer.write(row)
    writer.close()
    java.newRowDelta().addDeletes(writer.toDeleteFile()).commit()
