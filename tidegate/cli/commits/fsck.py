"""`tidegate commits fsck`: checks commits, staging, tables and watermarks for damage.

It prints the findings of `spark_jobs.repair.fsck`. `--clean` closes dead attempts and removes their
staging, and nothing else: a person decides about everything that may hold needed data.
"""

from typing import Annotated

import typer

from tidegate.cli.commits.project import CommitsProject, now, opened_project
from tidegate.cli.printing import Format, FormatOption, print_json
from tidegate.spark_jobs.repair.fsck import Examined, Finding
from tidegate.spark_jobs.repair.fsck import fsck as find
from tidegate.spark_jobs.repair.orphans import expire_dead_attempts, find_orphans, remove_orphans

FOUND_EXIT_CODE = 1


def fsck(
    clean: Annotated[
        bool, typer.Option("--clean", help="Close dead attempts, and remove orphaned staging.")
    ] = False,
    format: FormatOption = Format.TEXT,
) -> None:
    """Check commits, staging, tables and watermarks; exit code 1 when something is wrong."""
    with opened_project() as project:
        removed = _clean(project) if clean else []
        findings = find(_examined(project), project.commits.torn())
    if format is Format.JSON:
        print_json({"removed": removed, "findings": findings})
    else:
        for place in removed:
            typer.echo(f"removed {place}")
        for finding in findings:
            _print(finding)
        if not findings:
            typer.echo("no problems found")
    if findings:
        raise typer.Exit(FOUND_EXIT_CODE)


def _clean(project: CommitsProject) -> list[str]:
    """Close dead attempts, remove orphaned staging, and return the removed places."""
    examined = _examined(project)
    expire_dead_attempts(project.commits, now())
    orphans = find_orphans(examined.refs, examined.warehouse, examined.store, project.spark)
    remove_orphans(orphans, examined.refs, examined.warehouse, project.spark)
    return [one.place for one in orphans]


def _examined(project: CommitsProject) -> Examined:
    return Examined(
        apps=project.apps(),
        warehouse=project.warehouse,
        store=project.commits,
        context=project.context,
        now=now(),
    )


def _print(finding: Finding) -> None:
    typer.echo(f"{finding.kind}: {finding.where}: {finding.what}")
    if finding.remedy:
        typer.echo(f"    {finding.remedy}")
