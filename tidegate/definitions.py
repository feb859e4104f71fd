"""The code location in workspace.yaml, which connects the project's settings to the Dagster side.

The code server loads it, and the process of each run loads it again. The definitions are built
from what is deployed in the schedule store. The store is opened at the first use, so a run can
load its definitions without it.
"""

from functools import cache

from dagster import Definitions, definitions

from tidegate.dagster_defs.definitions.definitions import build_definitions
from tidegate.dagster_defs.definitions.location import Location
from tidegate.project.settings.settings import Settings, load_settings
from tidegate.project.spark import spark_settings, warehouse
from tidegate.scheduler.store.commits.steps import SqlCommitStepStore
from tidegate.scheduler.store.patience import patient_commits
from tidegate.scheduler.store.sql.open import open_sql_store


def location_of(settings: Settings) -> Location:
    """Return the code location of a project. Each process opens the store once."""
    # A code location shows what is deployed; it does not create a missing store.
    store = cache(lambda: open_sql_store(settings.store_url, create=False))
    return Location(
        open_store=store,
        open_commits=lambda: patient_commits(SqlCommitStepStore(store().engine)),
        warehouse=warehouse(settings),
        project=settings.name,
        spark=spark_settings(settings),
        dispatch_interval_seconds=settings.tick_seconds,
    )


@definitions
def defs() -> Definitions:
    """Build the definitions of the project of the working folder."""
    return build_definitions(location_of(load_settings()))
