"""The declared columns of a dataset as Dagster shows them: as the schema of its asset.

Of an asset that Tidegate defines they are in its definition. Of one that `TidegateIOManager` writes they are
in each materialization, since its definition belongs to others.
"""

from collections.abc import Iterable
from typing import Any

from dagster import MetadataValue, TableColumn, TableColumnConstraints, TableSchema

from tidegate.domain.model import DeclaredColumn

METADATA = "dagster/column_schema"
"""The key under which Dagster looks for it."""

UNIT = "unit"
"""The tag of a column with the unit of its values."""


def column_schema(columns: Iterable[DeclaredColumn]) -> dict[str, Any]:
    """Return the metadata of declared columns; empty without any."""
    found = [
        TableColumn(
            name=column.name,
            type=column.type,
            description=column.comment or None,
            constraints=TableColumnConstraints(nullable=column.nullable),
            tags={UNIT: column.unit} if column.unit else None,
        )
        for column in columns
    ]
    return {METADATA: MetadataValue.table_schema(TableSchema(columns=found))} if found else {}
