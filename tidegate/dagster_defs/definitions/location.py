"""The code location: what the Dagster side is told about its project.

The outermost module (`tidegate.definitions`) reads the settings and makes one of these;
everything in this package receives it and reads no settings of its own. It carries the way
to open the schedule store rather than the store, because a run that is being reconstructed
must be able to load its definitions while the store cannot be reached.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from tidegate.domain.commit_store import CommitStepStore
from tidegate.scheduler.store.protocol import Store
from tidegate.spark_jobs.datasets.dataset_ref import Warehouse
from tidegate.spark_jobs.session.session import SparkSettings

DISPATCH_INTERVAL_SECONDS = 5
"""The sensor daemon looks at its sensors every five seconds; a shorter interval changes nothing."""


def utc_now() -> datetime:
    """The clock of a real location: aware, UTC."""
    return datetime.now(UTC)


@dataclass(frozen=True, kw_only=True, slots=True)
class Location:
    """One project as its code location sees it.

    Attributes:
        open_store: opens the schedule store, or returns the one this process has open already.
        open_commits: likewise for the store of commit sequences.
        warehouse: where tables are kept.
        spark: how Spark is reached.
        dispatch_interval_seconds: the least time between two ticks of a dispatcher.
        clock: what time it is; tests and rehearsals set their own.
    """

    open_store: Callable[[], Store]
    open_commits: Callable[[], CommitStepStore]
    warehouse: Warehouse
    spark: SparkSettings = field(default_factory=SparkSettings)
    dispatch_interval_seconds: int = DISPATCH_INTERVAL_SECONDS
    clock: Callable[[], datetime] = utc_now
