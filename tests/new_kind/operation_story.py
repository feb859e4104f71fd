"""A policy with the new operation, from its YAML to its run; played in a copy that has the operation."""

import os
import sys
from pathlib import Path

from tests.tidegate.project import Project
from tests.tidegate.tables import ORDERS, REPORT, TableProject

NAME = "rewrite_position_deletes"


def play(folder: Path) -> None:
    """Take the operation through lint, plan, deploy, its poll, `why`, the commands and a scenario."""
    from tidegate.project import imports

    imports.check_imports = lambda compilation, _project: compilation
    os.chdir(folder)
    tables = TableProject(Project(folder))
    project = tables.project
    written = f"    operations:\n      {NAME}: {{options: {{min_input_files: 2}}}}\n      rewrite_data_files:"
    text = tables.yaml.replace("    operations:\n      rewrite_data_files:", written, 1)
    project.write("shop", text.replace("min_input_files: 2", "min_input_file: 2"))
    print(project.run("lint", exit_code=1))
    project.write("shop", text)
    project.write("lake", SCENARIO)
    print(project.run("test"))
    print(project.run("plan", exit_code=2))
    project.run("deploy")
    tables.written(REPORT, "2026-01-01", "2026-01-02")
    tables.arrive("2026-01-02")
    tables.measured(ORDERS)
    tables.measured(REPORT)
    tables.poll()
    print(project.run("why", REPORT, NAME))
    print(project.run("maintenance", "explain", ORDERS))
    for job in tables.jobs():
        print(job.work.operation, job.work.table, job.state, "excluded", *job.work.excluded)
    formats()


SCENARIO = f"""
app: lake
policies:
  deletes: {{tables: sea.floor.sand, operations: {{{NAME}: {{interval: 6h}}}}}}
examples:
  - name: position deletes are rewritten
    start: 2026-03-01T00:00:00Z
    given:
      - {{at: +0s, table: sea.floor.sand}}
    until: +7h
    expect:
      - {{at: +0s, maintain: sea.floor.sand, operation: {NAME}}}
      - {{at: +6h, maintain: sea.floor.sand, operation: {NAME}}}
"""


def formats() -> None:
    """Print who carries it out on Iceberg tables, and what a Parquet table says of it."""
    from tidegate.domain.model import Operation
    from tidegate.spark_jobs.maintenance.iceberg.format import OPERATIONS
    from tidegate.spark_jobs.maintenance.parquet.format import MaintainedParquet
    from tidegate.spark_jobs.maintenance.progress import Progress
    from tidegate.spark_jobs.maintenance.request import MaintenanceContext, OperationRequest, TableTarget

    operation = Operation(NAME)
    print("iceberg:", OPERATIONS[operation].__name__)
    request = OperationRequest(table=TableTarget(name=REPORT, ref=None), operation=operation)
    progress = Progress(control=None)
    MaintainedParquet().run(MaintenanceContext(spark=lambda: None), request, progress)
    print("parquet:", progress.results)


if __name__ == "__main__":
    play(Path(sys.argv[1]))
