"""Tidegate, a declarative scheduler for Spark pipelines on Dagster.

docs/architecture.md describes the packages. docs/rules.md has the rules that the code cites by number
("rule 12").
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tidegate.definitions import project_definitions
    from tidegate.io_manager import TidegateIOManager, recovery_definitions

__all__ = ["TidegateIOManager", "project_definitions", "recovery_definitions"]


def __getattr__(name: str) -> Any:
    """Import what Dagster projects use only when it is used: it loads Dagster and Spark."""
    if name in __all__:
        from tidegate.spark_jobs.errors import needs_spark

        module = "definitions" if name == "project_definitions" else "io_manager"
        with needs_spark():
            return getattr(import_module(f"tidegate.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
