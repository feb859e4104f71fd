"""A dataset of the new table format, from its YAML to the format that reads it; run in a copy that has it."""

import os
import sys
from pathlib import Path

from tests.tidegate.project import Project
from tidegate.scheduler.model.deployed import APPS

DATED = "report: {partitions: {cycle: day, start: 2026-01-01}"
PROGRAM = "writes: [report]}"
FOLLOWER = "  follow: {run: programs.follow, reads: [{dataset: report, incremental: true}], writes: [seen]}"


def play(folder: Path) -> None:
    """Take the dataset through settings, lint, plan and deploy, and ask the registries for its format."""
    from tidegate.spark_jobs.datasets.dataset_ref import dataset_ref
    from tidegate.spark_jobs.maintenance.formats import maintained_format
    from tidegate.spark_jobs.maintenance.request import TableTarget
    from tidegate.spark_jobs.publication.formats import format_of

    os.chdir(folder)
    project = Project(folder)
    project.run("deploy", "--no-imports")
    project.edit(f"{DATED}}}", f"{DATED}, format: archive, path: there}}")
    print(project.run("lint", exit_code=1))
    project.edit("format: archive, path: there}", "format: archive, write: append}\n  seen: {write: append}")
    project.edit(PROGRAM, f"{PROGRAM}\n{FOLLOWER}")
    print(project.run("plan", "--no-imports", exit_code=2))
    project.run("deploy", "--no-imports")
    (folder / "tidegate.toml").write_text('[warehouse]\ndefault_format = "archive"\n')
    project.write(
        "stock", "app: stock\ndatasets: {bins: {}}\nprograms: {count: {run: p.count, writes: [bins]}}\n"
    )
    project.run("deploy", "--no-imports")
    with project.store().reading() as reader:
        for deployed in reader.records(APPS):
            for dataset in deployed.app.datasets.values():
                ref = dataset_ref(deployed.name, dataset)
                kinds = (format_of(ref), maintained_format(TableTarget(name=ref.id, ref=ref)))
                print(deployed.name, dataset.name, dataset.format, *(type(kind).__name__ for kind in kinds))


if __name__ == "__main__":
    play(Path(sys.argv[1]))
