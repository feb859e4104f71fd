"""A Dagster instance whose default storage is `SqliteStorage` in DAGSTER_HOME.

It adds nothing else to an instance. `storage:` alone cannot do this: a storage does not know DAGSTER_HOME,
and `dagster dev` has a temporary one.
"""

from collections.abc import Mapping

import yaml
from dagster import DagsterInstance, Field

from tidegate.dagster_defs.internals.instance import ConfigurableClassData, InstanceRef
from tidegate.dagster_defs.sqlite.storage import SqliteStorage


class SqliteInstance(DagsterInstance):
    """For `instance_class` in `dagster.yaml`."""

    @classmethod
    def config_schema(cls) -> Mapping[str, Field]:
        """Return its own keys in `dagster.yaml`: none."""
        return {}

    @classmethod
    def config_defaults(cls, base_dir: str) -> Mapping[str, ConfigurableClassData | None]:
        """Return what `dagster.yaml` need not name."""
        storage = ConfigurableClassData(
            SqliteStorage.__module__, SqliteStorage.__name__, yaml.dump({"base_dir": base_dir})
        )
        return {**InstanceRef.config_defaults(base_dir), "storage": storage}
