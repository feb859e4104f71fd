"""The modules that Dagster imports only when a run needs them.

Why: a run server loads them before its first run, so that no run has to.
Since: Dagster 1.5 or before.
"""

IMPORTED_BY_RUNS = (
    "dagster._core.execution.api",
    "dagster._core.execution.plan.execute_plan",
    "dagster._core.executor.in_process",
    "dagster._core.storage.compute_log_manager",
)
