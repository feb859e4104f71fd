"""The settings of the launcher in `dagster.yaml`."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import msgspec
from dagster import Enum, EnumValue, Field, IntSource

from tidegate.domain.value import Value

MODULE = "tidegate.definitions"


class Mode(StrEnum):
    """How a run gets its process."""

    FORK = "fork"


class LauncherConfig(Value, frozen=True, kw_only=True):
    """The settings of the launcher.

    Attributes:
        mode: "fork": each run is a fork of the run server.
        modules: the modules of code locations whose runs are forked; those of others are Dagster's.
        preload: further modules that the run server imports, such as pandas.
        idle_minutes: a run server without runs ends after this time.
    """

    mode: Mode = Mode.FORK
    modules: tuple[str, ...] = (MODULE,)
    preload: tuple[str, ...] = ()
    idle_minutes: int = 10


DEFAULTS = LauncherConfig()

SCHEMA: dict[str, Any] = {
    "mode": Field(
        Enum("TidegateLauncherMode", [EnumValue(mode.value) for mode in Mode]),
        is_required=False,
        default_value=DEFAULTS.mode.value,
        description="fork: each run is a fork of a process that has Dagster, PySpark and Tidegate loaded",
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
    "idle_minutes": Field(
        IntSource,
        is_required=False,
        default_value=DEFAULTS.idle_minutes,
        description="a run server without runs ends after this time",
    ),
}
"""The same for Dagster, which checks the file by it."""


def config_of(values: Mapping[str, Any]) -> LauncherConfig:
    """Return the settings that Dagster has checked.

    Raises:
        ValueError: a number is not positive, or a name is empty.
    """
    config = msgspec.convert(values, LauncherConfig)
    if config.idle_minutes < 1:
        raise ValueError(f"run_launcher: idle_minutes is {config.idle_minutes}; it must be 1 or more")
    return config
