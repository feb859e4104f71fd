"""The code location: the stores, warehouse, Spark settings and clock of a project.

`tidegate.definitions` reads the settings and creates the `Location`; the modules of this
package receive it and read no settings themselves. It carries a function that opens the
schedule store instead of the store, because a run must be able to reconstruct its definitions
while the store is unreachable.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from tidegate.alerts.channel import Alerting
from tidegate.compiler.plan.ownership import NO_PROJECT
from tidegate.dagster_defs.deployed.names import PREFIX
from tidegate.domain.commit_store import CommitStepStore
from tidegate.scheduler.model.keep import Keep
from tidegate.scheduler.store.upkeep import UpkeepStore
from tidegate.spark_jobs.datasets.dataset_ref import Warehouse
from tidegate.spark_jobs.session.session import SparkSettings
from tidegate.watcher.watching import Place, Site

DISPATCH_INTERVAL_SECONDS = 5
"""As often as the sensor daemon evaluates its sensors; dispatch/rounds.py has the shorter intervals."""

WATCH_SECONDS = 10


def utc_now() -> datetime:
    """Return the system time: aware, UTC."""
    return datetime.now(UTC)


@dataclass(frozen=True, kw_only=True, slots=True)
class Location:
    """The resources of a project's code location.

    Attributes:
        open_store: opens the schedule store, or returns the one that this process has open.
        open_commits: the same for the store of commit sequences.
        project: the project whose apps are loaded and launched; NO_PROJECT for apps without an owner.
        dispatch_interval_seconds: minimum time between two ticks of a dispatcher.
        clock: returns the current time; tests set their own.
        version: of Tidegate, that this process has loaded.
        merged: whether it is part of a code location of others, whose executor, loggers and resources count.
    """

    open_store: Callable[[], UpkeepStore]
    open_commits: Callable[[], CommitStepStore]
    warehouse: Warehouse
    project: str = NO_PROJECT
    spark: SparkSettings = field(default_factory=SparkSettings)
    dispatch_interval_seconds: int = DISPATCH_INTERVAL_SECONDS
    clock: Callable[[], datetime] = utc_now
    retention: Keep = field(default_factory=Keep)
    alerts: Alerting = field(default_factory=Alerting)
    watch_seconds: int = WATCH_SECONDS
    version: str = ""
    watch_options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    merged: bool = False

    @property
    def prefix(self) -> str:
        """How its names begin in Dagster, beside those that always begin so."""
        return PREFIX if self.merged else ""

    @property
    def site(self) -> Site:
        """What the watcher of its folders needs."""
        return Site(
            project=self.project,
            warehouse=self.warehouse,
            place=Place(self.spark.conf, self.watch_options),
            every=self.watch_seconds,
            clock=self.clock,
        )
