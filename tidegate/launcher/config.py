"""The settings of the launcher in `dagster.yaml`."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import msgspec
from dagster import Enum, EnumValue, Field, IntSource

from tidegate.domain.value import Value
from tidegate.project.environment import MODULE


class Mode(StrEnum):
    """How a run gets its process."""

    FORK = "fork"
    WARM = "warm"


class LauncherConfig(Value, frozen=True, kw_only=True):
    """The settings of the launcher; `NUMBERS` says what the other ones are.

    Attributes:
        mode: "fork": each run is a fork of the run server; "warm": such a fork takes many runs.
        modules: the modules of code locations whose runs are forked; those of others are Dagster's.
        preload: further modules that the run server imports, such as pandas.
        workers: how many workers without a run are kept. There are more while there are more runs.
    """

    mode: Mode = Mode.FORK
    modules: tuple[str, ...] = (MODULE,)
    preload: tuple[str, ...] = ()
    idle_minutes: int = 10
    workers: int = 2
    worker_runs: int = 100
    worker_minutes: int = 60
    worker_growth_mb: int = 1024


DEFAULTS = LauncherConfig()

NUMBERS = {
    "idle_minutes": "a run server without runs ends after this time",
    "workers": "warm: how many workers without a run are kept",
    "worker_runs": "warm: a worker ends after so many runs",
    "worker_minutes": "warm: a worker ends with the first run that ends after this time",
    "worker_growth_mb": "warm: a worker ends when it and its JVM have grown by so many megabytes",
}
SCHEMA: dict[str, Any] = {
    "mode": Field(
        Enum("TidegateLauncherMode", [EnumValue(mode.value) for mode in Mode]),
        is_required=False,
        default_value=DEFAULTS.mode.value,
        description="fork: each run is a fork of a process that has Dagster, PySpark and Tidegate loaded; "
        "warm: such a fork takes one run after the other, and keeps its Spark",
    ),
    "modules": Field(
        [str],
        is_required=False,
        default_value=list(DEFAULTS.modules),
        description="modules of the code locations whose runs are forked; others are launched as by Dagster.",
    ),
    "preload": Field(
        [str],
        is_required=False,
        default_value=list(DEFAULTS.preload),
        description="installed modules that are imported once for all runs, such as pandas",
    ),
    **{
        name: Field(
            IntSource, is_required=False, default_value=getattr(DEFAULTS, name), description=description
        )
        for name, description in NUMBERS.items()
    },
}
"""The same for Dagster, which checks the file by it."""


def config_of(values: Mapping[str, Any]) -> LauncherConfig:
    """Return the settings that Dagster has checked.

    Raises:
        ValueError: a number is not positive, or a name is empty.
    """
    config = msgspec.convert(values, LauncherConfig)
    for name in NUMBERS:
        if getattr(config, name) < 1:
            raise ValueError(f"run_launcher: {name} is {getattr(config, name)}; it must be 1 or more")
    return config
