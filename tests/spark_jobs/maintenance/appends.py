"""Commits of another writer to an Iceberg table, made with Iceberg's own classes.

An INSERT of Spark plans a query and runs a job: for two rows that costs twice as much as this.
"""

import uuid
from typing import Any

from tidegate.spark_jobs.maintenance.iceberg.catalog_table import CatalogTable


def append(table: CatalogTable, *rows: tuple[str, int]) -> None:
    """One commit that adds rows of a day and a number; a file for each day where the table is cut by days."""
    java, api = table.load(), table.api
    record = api.data.GenericRecord.create(java.schema())
    cut = java.spec().isPartitioned()
    files: dict[str, list[Any]] = {}
    for day, number in rows:
        row = record.copy("day", day, "id", number, "value", str(number))
        files.setdefault(day if cut else "", []).append(row)
    change, writers = java.newAppend(), api.data.GenericAppenderFactory(java.schema(), java.spec())
    for day, some in files.items():
        place = java.locationProvider().newDataLocation(f"{uuid.uuid4()}.parquet")
        file = java.encryption().encrypt(java.io().newOutputFile(place))
        partition = None
        if cut:
            partition = api.data.GenericRecord.create(java.spec().partitionType()).copy("day", day)
        writer = writers.newDataWriter(file, api.FileFormat.PARQUET, partition)
        for row in some:
            writer.write(row)
        writer.close()
        change.appendFile(writer.toDataFile())
    change.commit()
