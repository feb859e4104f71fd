"""Whether a staged output still fits its table, for a person who releases it long after it was staged.

A publish right after its staging repairs such differences: it writes the rows again under the field ids of
today, and adds a dropped column again. A release must not: these would not be the rows that were judged.
"""

from collections.abc import Iterator
from typing import Any

from tidegate.spark_jobs.errors import OutputError
from tidegate.spark_jobs.iceberg.catalog.catalog import IcebergCatalog, sql_name
from tidegate.spark_jobs.iceberg.catalog.failures import java_failures
from tidegate.spark_jobs.iceberg.publish.promised_publish import PromisedPublish, staged_files
from tidegate.spark_jobs.iceberg.table.table import check_partitions


def unfit(catalog: IcebergCatalog, step: PromisedPublish) -> str | None:
    """Return what has changed of the table's partitions, or of the field ids of the output's columns."""
    table = catalog.table(step.table)
    if table is None:
        return None
    with java_failures(f"read {sql_name(step.table)}"):
        try:
            check_partitions(catalog, table, step.table, step.dimensions)
        except OutputError as error:
            return error.message
        staged = staged_files(catalog, step, table)
        if staged is None:
            return None
        changed = next(_changed(step, staged.schema, table.schema()), None)
    return None if changed is None else f"{changed} of {sql_name(step.table)}"


def _changed(step: PromisedPublish, staged: Any, now: Any) -> Iterator[str]:
    """Yield each column of the output whose field id or name is another one now."""
    output = {column.lower() for column in step.columns}
    new = {column.lower() for column in step.new_columns}
    names: dict[int, str] = dict(staged.idToName())
    for number, name in names.items():
        column = name.partition(".")[0].lower()
        if column not in output:
            continue
        found = now.findColumnName(number)
        if found is None:
            known = now.caseInsensitiveFindField(name)
            if known is not None:
                yield f"the column {name} has the field id {known.fieldId()} now, and had {number}"
            elif column not in new:
                yield f"others have dropped the column {name}"
        elif found.lower() != name.lower():
            yield f"the column {name} with the field id {number} is {found} now"
