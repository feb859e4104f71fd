"""The functions that compute the same again for each program and each reader of a location, found by name.

Why: `definitions.once` replaces those that are as expected. A Dagster without one goes on by itself.
Since: Dagster 1.8.
"""

from importlib import import_module
from inspect import signature
from typing import Any

TABLE_FACTS = ("dagster._core.definitions.metadata.metadata_set", "TableMetadataSet")
SCHEMAS = ("dagster._core.definitions.run_config",)
INPUTS = ("dagster._core.definitions.input",)
OUTPUTS = ("dagster._core.definitions.output",)
OBJECTS_AS_JSON = ("dagster_shared.serdes.serdes",)
# A run's process does not need the server, so `find` loads it only for those that ask.
CODE_SERVER = ("dagster._grpc.server", "DagsterApiServer")
JOB_REPLY = ("dagster._grpc.__generated__.dagster_api_pb2", "ExternalJobReply")


def find(module: str, name: str = "") -> Any:
    """Return a module of Dagster, or what it has by a name; None if there is no such thing."""
    try:
        found = import_module(module)
    except ImportError:
        return None
    return getattr(found, name, None) if name else found


def takes(function: Any, *names: str) -> bool:
    """Return whether a function has exactly these parameters."""
    return callable(function) and tuple(signature(function).parameters) == names
