"""The configuration of an op as Dagster keeps it, and the resources that an op needs.

Why: a location may have ten thousand ops of one shape, for which the public definition computes both again.
Since: Dagster 1.5 or before.
"""

from dagster._core.definitions.definition_config_schema import convert_user_facing_definition_config_schema
from dagster._core.definitions.resource_requirement import ResourceRequirement

__all__ = ["ResourceRequirement", "convert_user_facing_definition_config_schema"]
