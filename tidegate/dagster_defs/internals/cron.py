"""The instants at which Dagster fires a cron.

Why: a cron is a schedule in Dagster only if Dagster fires it at the engine's instants, which is measured.
Since: Dagster 1.5 or before.
"""

from dagster._utils.schedules import schedule_execution_time_iterator

__all__ = ["schedule_execution_time_iterator"]
