"""An operation that is asked for, what it works with, and what may stop it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from tidegate.domain.commit_store import CommitStepStore
from tidegate.domain.model import HealthRules, Operation
from tidegate.domain.model.operation import Values
from tidegate.domain.value import Value
from tidegate.spark_jobs.commit.clock import SYSTEM_CLOCK, Clock
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef, Warehouse

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

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


class OperationRequest(Value, kw_only=True):
    """One run of an operation on a table.

    Attributes:
        options: see `domain.model.operation`; `run_operation` adds the defaults of missing ones.
        excluded: keys of the dataset's partitions that are left out, since pipelines write them.
        rules: for the measures before and after.
        job: id of the job, for the history of the table.
    """

    table: TableTarget
    operation: Operation
    options: Values = {}
    excluded: tuple[str, ...] = ()
    rules: HealthRules = HealthRules()
    job: str = ""


class Control(Protocol):
    """What a running operation asks between its commits. Any of these may raise, which ends the run."""

    def should_yield(self) -> bool:
        """Return whether a job of a pipeline waits for a slot that this run holds."""
        ...

    def should_stop(self) -> bool:
        """Return whether the timeout is over. Called from a second thread too."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class MaintenanceContext:
    """What operations work with.

    Attributes:
        spark: returns the session of this process; the first call starts it.
        warehouse: of the datasets; None where only tables of catalogs are maintained.
        store: the commit sequences and watermarks of the datasets; None like `warehouse`.
        places: the folders of the deployed datasets that are in no catalog, by "app/dataset".
    """

    spark: "Callable[[], SparkSession]"
    warehouse: Warehouse | None = None
    store: CommitStepStore | None = None
    clock: Clock = SYSTEM_CLOCK
    places: Mapping[str, str] = field(default_factory=dict[str, str])
