"""The schema of a job's run config in a loaded code location, and what it refuses.

Why: `plan` compares the config of existing jobs with it, without user code, as Dagster's UI does.
Since: Dagster 1.9.
"""

from dagster._config import ConfigTypeKind, validate_config_from_snap
from dagster._config.errors import (
    EvaluationError,
    FieldNotDefinedErrorData,
    FieldsNotDefinedErrorData,
    MissingFieldErrorData,
    MissingFieldsErrorData,
    RuntimeMismatchErrorData,
)
from dagster._config.snap import ConfigSchemaSnapshot, ConfigTypeSnap, minimal_config_for_type_snap
from dagster._config.stack import (
    EvaluationStackListItemEntry,
    EvaluationStackMapValueEntry,
    EvaluationStackPathEntry,
)

__all__ = [
    "ConfigSchemaSnapshot",
    "ConfigTypeKind",
    "ConfigTypeSnap",
    "EvaluationError",
    "EvaluationStackListItemEntry",
    "EvaluationStackMapValueEntry",
    "EvaluationStackPathEntry",
    "FieldNotDefinedErrorData",
    "FieldsNotDefinedErrorData",
    "MissingFieldErrorData",
    "MissingFieldsErrorData",
    "RuntimeMismatchErrorData",
    "minimal_config_for_type_snap",
    "validate_config_from_snap",
]
