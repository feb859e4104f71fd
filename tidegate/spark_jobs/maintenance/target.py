"""A table as maintenance names it: the table of a dataset, or any Iceberg table of a Spark catalog."""

from tidegate.domain.value import Value
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef

FORMAT_IN_CATALOGS = "iceberg"
"""Tables of this format are found in Spark's catalogs, whether they are datasets or not."""


class TableTarget(Value, kw_only=True):
    """A table.

    Attributes:
        name: its one name in the engine: "app/dataset", or "catalog.namespace.table".
        catalog_name: "catalog.namespace.table"; "" for the table of a dataset in Tidegate's own catalog, and
            for a Parquet table.
        ref: the dataset; None for a table that is not a dataset.
    """

    name: str
    catalog_name: str = ""
    ref: DatasetRef | None = None

    @property
    def format(self) -> str:
        """Its format, see `maintenance.formats`."""
        return FORMAT_IN_CATALOGS if self.ref is None else self.ref.format


class Gone(Value, kw_only=True):
    """A table that does not exist: it was dropped, or its dataset was never published."""

    name: str
