"""For whom the definitions are loaded: a code server, or the process of one run.

Why: the plan is shipped with a run, so that its process needs no store. Dagster documents this way for
integrations, and does not export it.
Since: Dagster 1.9.
"""

from dagster._core.definitions.definitions_load_context import DefinitionsLoadContext, DefinitionsLoadType

__all__ = ["DefinitionsLoadContext", "DefinitionsLoadType"]
