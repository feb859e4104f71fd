"""The settings of the launcher in `dagster.yaml`, which Dagster checks when an instance is opened."""

from pathlib import Path

import pytest
from dagster import DagsterInstance
from dagster._core.errors import DagsterInvalidConfigError

from tidegate.launcher import TidegateRunLauncher
from tidegate.launcher.config import LauncherConfig, Mode

pytestmark = pytest.mark.dagster

LAUNCHER = "run_launcher:\n  module: tidegate.launcher\n  class: TidegateRunLauncher\n"


def config_in(home: Path, text: str) -> LauncherConfig:
    (home / "dagster.yaml").write_text(LAUNCHER + text)
    with DagsterInstance.from_config(str(home)) as instance:
        launcher = instance.run_launcher
        assert isinstance(launcher, TidegateRunLauncher)
        return launcher.config


def test_every_setting_has_a_default(tmp_path: Path) -> None:
    assert config_in(tmp_path, "") == LauncherConfig()


def test_settings_are_read(tmp_path: Path) -> None:
    config = config_in(
        tmp_path, "  config: {mode: warm, modules: [a.b], preload: [pandas], worker_runs: 3}\n"
    )

    assert config == LauncherConfig(mode=Mode.WARM, modules=("a.b",), preload=("pandas",), worker_runs=3)


@pytest.mark.parametrize("setting", ["mode: cold", "minutes: 3", "preload: pandas"])
def test_dagster_refuses_what_is_no_setting(tmp_path: Path, setting: str) -> None:
    with pytest.raises(DagsterInvalidConfigError):
        config_in(tmp_path, f"  config: {{{setting}}}\n")


def test_numbers_are_positive(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="idle_minutes is 0; it must be 1 or more"):
        config_in(tmp_path, "  config: {idle_minutes: 0}\n")
