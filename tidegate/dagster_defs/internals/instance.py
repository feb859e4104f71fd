"""An instance as a value, and the classes that `dagster.yaml` names.

Why: another process opens the same instance from its reference; a class that the file names needs this base.
Since: Dagster 1.5 or before.
"""

from dagster._config.config_schema import UserConfigSchema
from dagster._core.instance.ref import InstanceRef
from dagster._serdes import ConfigurableClass, ConfigurableClassData

__all__ = ["ConfigurableClass", "ConfigurableClassData", "InstanceRef", "UserConfigSchema"]
