"""The code location of a project: its settings, connected to the Dagster side."""

from collections.abc import Callable
from pathlib import Path

from tidegate.dagster_defs.deployed.location import Location
from tidegate.dagster_defs.sqlite.connections import identity_of
from tidegate.project.settings.settings import Settings
from tidegate.project.spark import spark_settings, warehouse
from tidegate.release import release
from tidegate.scheduler.store.commits.steps import SqlCommitStepStore
from tidegate.scheduler.store.patience import patient_commits
from tidegate.scheduler.store.sql.open import open_sql_store
from tidegate.scheduler.store.sql.store import SqlStore


def location_of(settings: Settings, *, merged: bool = False) -> Location:
    """Return the code location of a project. A process opens the store once, unless its file is replaced.

    Args:
        merged: see `Location`.
    """
    store = _kept_store(settings.store_url)
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


def _kept_store(url: str) -> Callable[[], SqlStore]:
    """Return what opens a store at its first use, and again where a file has another one in its place."""
    scheme, _, path = url.partition("?")[0].partition(":///")
    kept: dict[tuple[int, int] | None, SqlStore] = {}

    def opened() -> SqlStore:
        # No file: a server, which says itself that its database has gone.
        file = identity_of(Path(path)) if scheme.startswith("sqlite") else None
        store = kept.get(file)
        if store is None:
            # A code location shows what is deployed; it does not create a missing store.
            store = open_sql_store(url, create=False)
            kept.clear()
            kept[file] = store
        return store

    return opened
