"""What the daemon of these tests has in place of processes for runs: nothing, since the test executes them.

`dagster.yaml` names this launcher, so the daemon imports this module at its start. That makes it the place to
shorten the loop of its sensors as well: it looks every five seconds which of them are due.
"""

from collections.abc import Mapping
from typing import Any, Self

from dagster import DagsterInstance
from dagster._core.launcher import RunLauncher
from dagster._daemon import sensor

from tidegate.dagster_defs.internals.instance import ConfigurableClass, ConfigurableClassData
from tidegate.dagster_defs.internals.launching import LaunchRunContext

LOOP_SECONDS = 0.2

sensor.MIN_INTERVAL_LOOP_TIME = LOOP_SECONDS


class NoProcessLauncher(RunLauncher[DagsterInstance], ConfigurableClass):
    """Leaves a launched run in STARTING."""

    def __init__(self, inst_data: ConfigurableClassData | None = None) -> None:
        self._inst_data = inst_data
        super().__init__()

    @property
    def inst_data(self) -> ConfigurableClassData | None:
        return self._inst_data

    @classmethod
    def config_type(cls) -> dict[str, Any]:
        return {}

    @classmethod
    def from_config_value(
        cls, inst_data: ConfigurableClassData | None, config_value: Mapping[str, Any]
    ) -> Self:
        return cls(inst_data)

    def launch_run(self, context: LaunchRunContext) -> None:
        """Launch nothing."""

    def terminate(self, run_id: str) -> bool:
        return False
