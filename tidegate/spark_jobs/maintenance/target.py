"""A table as maintenance names it: the table of a dataset, or any Iceberg table of a Spark catalog."""

from tidegate.domain.value import Value
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef
from tidegate.spark_jobs.iceberg.runtime import CATALOG

ICEBERG = "iceberg"


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
    def is_iceberg(self) -> bool:
        """Whether it is an Iceberg table."""
        return self.ref is None or self.ref.format == ICEBERG

    @property
    def spark_name(self) -> str:
        """The name of an Iceberg table in Spark, its parts joined by dots."""
        if self.catalog_name:
            return self.catalog_name
        return self.name if self.ref is None else ".".join((CATALOG, *self.ref.place))


class Gone(Value, kw_only=True):
    """A table that does not exist: it was dropped, or its dataset was never published."""

    name: str
