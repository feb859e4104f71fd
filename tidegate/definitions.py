"""The code location that workspace.yaml names: binds the project's settings to the Dagster side.

Loaded by the code server, and again by the process of each run. It holds no definitions of
its own; what is deployed in the schedule store decides what there is. The store is opened
when it is first used, so a run can load its definitions without it.
"""

from functools import cache

from dagster import Definitions, definitions

from tidegate.dagster_defs.definitions.definitions import build_definitions
from tidegate.dagster_defs.definitions.location import Location
from tidegate.project.settings import Settings, load_settings
from tidegate.project.spark import spark_settings, warehouse
from tidegate.scheduler.store.commits.steps import SqlCommitStepStore
from tidegate.scheduler.store.sql.open import open_sql_store


def location_of(settings: Settings) -> Location:
    """The code location of a project. The store is opened once a process."""
    # A code location shows what is deployed; where nothing ever was, it says so instead of making a store.
    store = cache(lambda: open_sql_store(settings.store_url, create=False))
    return Location(
        open_store=store,
        open_commits=lambda: SqlCommitStepStore(store().engine),
        warehouse=warehouse(settings),
        spark=spark_settings(settings),
        dispatch_interval_seconds=settings.tick_seconds,
    )


@definitions
def defs() -> Definitions:
    """The definitions of the project in whose folder this process runs."""
    return build_definitions(location_of(load_settings()))
