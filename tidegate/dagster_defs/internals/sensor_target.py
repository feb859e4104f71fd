"""What a sensor starts.

Why: a sensor of several jobs takes their definitions. By this it takes their names, as
`SensorDefinition(job_name=…)` does.
Since: Dagster 1.8.
"""

from dagster._core.definitions.target import AutomationTarget

__all__ = ["AutomationTarget"]
