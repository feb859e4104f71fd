"""The targets of a dispatcher: assets, or jobs by name where its app has policies.

A sensor with an asset selection starts nothing but assets: Dagster gives each of its requests the job of all
assets. A sensor with several jobs must have their definitions, but the job of all assets is Dagster's own and
has only a name when the sensor is made. So such a sensor gets its targets by name, as one of one job does.
"""

from collections.abc import Sequence
from typing import Any

from dagster import SensorDefinition

from tidegate.dagster_defs.internals.sensor_target import AutomationTarget


def sensor_of(jobs: Sequence[str], **settings: Any) -> SensorDefinition:
    """Return a sensor.

    Args:
        jobs: names of the jobs that it starts, of which each request names one; empty for a sensor that
            materialises assets.
        settings: as for `SensorDefinition`.
    """
    made = SensorDefinition(**settings)
    if jobs:
        made._targets = [AutomationTarget(resolvable_to_job=name) for name in jobs]
    return made
