"""The code location of a project: its settings, connected to the Dagster side."""

from functools import cache

from tidegate.dagster_defs.deployed.location import Location
from tidegate.project.settings.settings import Settings
from tidegate.project.spark import spark_settings, warehouse
from tidegate.release import release
from tidegate.scheduler.store.commits.steps import SqlCommitStepStore
from tidegate.scheduler.store.patience import patient_commits
from tidegate.scheduler.store.sql.open import open_sql_store


def location_of(settings: Settings, *, merged: bool = False) -> Location:
    """Return the code location of a project. Each process opens the store once.

    Args:
        merged: see `Location`.
    """
    # A code location shows what is deployed; it does not create a missing store.
    store = cache(lambda: open_sql_store(settings.store_url, create=False))
    return Location(
        open_store=store,
        open_commits=lambda: patient_commits(SqlCommitStepStore(store().engine)),
        warehouse=warehouse(settings),
        project=settings.name,
        spark=spark_settings(settings),
        dispatch_interval_seconds=settings.tick_seconds,
        retention=settings.retention,
        watch_seconds=settings.watch_seconds,
        watch_options=settings.watch_options,
        version=release(),
        alerts=settings.alerts,
        merged=merged,
    )
