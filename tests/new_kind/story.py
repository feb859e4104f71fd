"""A schedule with the new kind of trigger, from its YAML to a launch; run in a copy that has the kind."""

import os
import sys
from pathlib import Path

from tests.tidegate.project import Project

KEY = "sales/report_daily"


def play(folder: Path) -> None:
    """Take the schedule through lint, plan, deploy, the tick, `why` and the command line."""
    os.chdir(folder)
    project = Project(folder)
    project.edit("trigger: {partitions: {dataset: orders, count: 2}}", "trigger: {streak: {dataset: orders}}")
    print(project.run("lint"))
    project.run("deploy", "--no-imports")
    project.edit("streak: {dataset: orders}", "streak: {dataset: orders, length: 3}")
    print(project.run("plan", "--no-imports", exit_code=2))
    project.run("deploy", "--no-imports")
    print(project.json("schedules", "list")[1]["trigger"])
    print(project.run("schedules", "show", KEY))
    project.arrive("2026-01-02", "2026-01-04", "2026-01-05")
    print(project.run("why", KEY))
    project.arrive("2026-01-03")
    print(project.run("jobs", "list"))
    project.edit("  orders: {", "  sold: {renamed_from: orders, ")
    project.edit("dataset: orders", "dataset: sold")
    project.edit("reads: [orders]", "reads: [sold]")
    print(project.run("plan", "--no-imports", exit_code=1))
    project.edit("streak: {dataset: sold, length: 3}", "streak: {dataset: report}")
    project.edit("trigger: {partitions: {dataset: sold}}", "trigger: {streak: {dataset: sole}}")
    print(project.run("lint", exit_code=1))


def define(folder: Path) -> None:
    """Build the Dagster definitions of the deployed project, as a code server does."""
    from tidegate.dagster_defs.definitions.definitions import build_definitions
    from tidegate.definitions import location_of
    from tidegate.project.settings.settings import load_settings

    os.chdir(folder)
    repository = build_definitions(location_of(load_settings())).get_repository_def()
    print(sorted(each.name for each in (*repository.sensor_defs, *repository.schedule_defs)))


if __name__ == "__main__":
    {"play": play, "define": define}[sys.argv[1]](Path(sys.argv[2]))
