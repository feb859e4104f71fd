"""DAGSTER_HOME of a project: the folder of its Dagster instance, with the settings in it.

A project may have a `dagster.yaml` of its own beside its `tidegate.toml`; it is copied there.
Without one, an instance in development gets the settings below, which are those of the
`dagster.yaml` in this repository.
"""

from pathlib import Path

from tidegate.processes.dagster import Site, free_port
from tidegate.project.environment import PROJECT_VARIABLE
from tidegate.project.settings import Settings

SETTINGS_NAME = "dagster.yaml"

DEVELOPMENT = """\
# Dagster's own settings for development: SQLite files in the folder that DAGSTER_HOME names.
# `tidegate dev` copies this file there. For production see dagster.production.yaml.

telemetry:
  enabled: false

# A dispatcher ticks every few seconds; threads keep one slow app from delaying the others.
sensors:
  use_threads: true
  num_workers: 4
  num_submit_workers: 4

schedules:
  use_threads: true
  num_workers: 2

# Limits of programs and groups are kept by Tidegate, exactly. This one only protects the
# machine: each run is a process with a Spark driver of its own.
run_coordinator:
  module: dagster.core.run_coordinator
  class: QueuedRunCoordinator
  config:
    max_concurrent_runs: 4
    dequeue_interval_seconds: 1

# A run whose process has died must give its slots back.
run_monitoring:
  enabled: true
  poll_interval_seconds: 20
  start_timeout_seconds: 300

# An idle tick every five seconds is 17,000 rows a day; the recovery job's schedule ticks each minute.
retention:
  sensor:
    purge_after_days:
      skipped: 1
      success: 30
      failure: 30
  schedule:
    purge_after_days:
      skipped: 1
      success: 30
      failure: 30
"""


def prepare_home(settings: Settings) -> Path:
    """Make the project's DAGSTER_HOME, or bring its settings up to date; returns its path."""
    home = settings.dagster_home
    home.mkdir(parents=True, exist_ok=True)
    own = settings.project / SETTINGS_NAME
    wanted = own.read_text() if own.is_file() else DEVELOPMENT
    target = home / SETTINGS_NAME
    if not target.is_file() or target.read_text() != wanted:
        target.write_text(wanted)
    return home


def site_of(settings: Settings, web_port: int | None = None) -> Site:
    """Where the project's Dagster runs, with its home made and free ports chosen.

    Args:
        web_port: port of the UI; a free one by default.
    """
    home = prepare_home(settings)
    return Site(
        project=settings.project,
        home=home,
        logs=home.parent / "logs",
        web_port=free_port() if web_port is None else web_port,
        environment={PROJECT_VARIABLE: str(settings.project)},
    )
