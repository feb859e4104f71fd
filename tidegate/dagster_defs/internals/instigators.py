"""The switches of schedules and sensors, as Dagster stores them.

Why: a schedule is switched in Dagster's pages too, and nothing public reads or writes a switch.
Since: Dagster 1.5 or before.
"""

from dagster._core.definitions.run_request import InstigatorType
from dagster._core.scheduler.instigation import (
    InstigatorState,
    InstigatorStatus,
    ScheduleInstigatorData,
    SensorInstigatorData,
)

__all__ = [
    "InstigatorState",
    "InstigatorStatus",
    "InstigatorType",
    "ScheduleInstigatorData",
    "SensorInstigatorData",
]
