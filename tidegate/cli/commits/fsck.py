"""`tidegate commits fsck`: whether everything about publishes stands as it should.

It prints what `spark_jobs.repair.fsck` finds. `--clean` closes dead attempts and removes what they
have staged, and nothing else: whatever holds data that somebody may want is left to a person.
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
            typer.echo("everything stands as it should")
    if findings:
        raise typer.Exit(FOUND_EXIT_CODE)


def _clean(project: CommitsProject) -> list[str]:
    """Returns what was removed."""
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
