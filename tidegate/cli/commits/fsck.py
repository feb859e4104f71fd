"""`tidegate commits fsck`: checks commits, staging, tables and watermarks for damage.

It prints the findings of `spark_jobs.repair.fsck`. `--clean` closes dead attempts, removes their
staging, shows the newest version to other readers, and nothing else: a person decides about everything that
may hold needed data.
"""

from typing import TYPE_CHECKING, Annotated

import typer

from tidegate.cli.commits.project import CommitsProject, now, opened_project
from tidegate.cli.printing import Format, FormatOption, print_json, print_line
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef, Warehouse
from tidegate.spark_jobs.errors import SparkJobError
from tidegate.spark_jobs.publication.formats import format_of
from tidegate.spark_jobs.repair.orphans import expire_dead_attempts, find_orphans, remove_orphans

if TYPE_CHECKING:
    from tidegate.spark_jobs.repair.fsck import Examined, Finding

FOUND_EXIT_CODE = 1


def fsck(
    clean: Annotated[
        bool,
        typer.Option(
            "--clean", help="Close dead attempts, remove orphaned staging, and repair the link `current`."
        ),
    ] = False,
    format: FormatOption = Format.TEXT,
) -> None:
    """Check commits, staging, tables and watermarks; exit code 1 when something is wrong."""
    from tidegate.spark_jobs.repair.fsck import fsck as find

    with opened_project() as project:
        removed, shown = _clean(project) if clean else ([], [])
        findings = (*_damaged(project), *find(_examined(project), project.commits.torn()))
    if format is Format.JSON:
        print_json({"removed": removed, "shown": shown, "findings": findings})
    else:
        for place in removed:
            print_line(f"removed {place}")
        for dataset in shown:
            print_line(f"showed the newest version of {dataset} to other readers")
        for finding in findings:
            _print(finding)
        if not findings:
            typer.echo("no problems found")
    if findings:
        raise typer.Exit(FOUND_EXIT_CODE)


def _damaged(project: CommitsProject) -> "list[Finding]":
    """Return what is damaged of the store; everything else goes on without it."""
    from tidegate.spark_jobs.repair.fsck import Finding

    with project.store.reading() as reader:
        damage = reader.damage()
    return [
        Finding(
            kind="store",
            where=f"row {one.key} of {one.table}" if one.table else "the database",
            what=one.what,
            remedy="deploy its app again, or restore the store from a backup",
        )
        for one in damage
    ]


def _clean(project: CommitsProject) -> tuple[list[str], list[str]]:
    """Close dead attempts, remove orphaned staging, and show the newest versions.

    Returns:
        The removed places, and the datasets whose readers now see a newer version.
    """
    examined = _examined(project)
    expire_dead_attempts(project.commits, now(), examined.others)
    orphans = find_orphans(examined.refs, examined.warehouse, examined.store, project.spark)
    remove_orphans(orphans, examined.refs, examined.warehouse, project.spark)
    return [one.place for one in orphans], [ref.id for ref in examined.refs if _show(ref, examined.warehouse)]


def _show(ref: DatasetRef, warehouse: Warehouse) -> bool:
    try:
        return format_of(ref).show(ref, warehouse)
    except (SparkJobError, OSError):
        # A version that is damaged, or whose files are lost, cannot be shown; it is one of the findings.
        return False


def _examined(project: CommitsProject) -> "Examined":
    from tidegate.spark_jobs.repair.fsck import Examined

    return Examined(
        apps=project.apps(),
        warehouse=project.warehouse,
        store=project.commits,
        context=project.context,
        now=now(),
        others=project.others(),
    )


def _print(finding: "Finding") -> None:
    print_line(f"{finding.kind}: {finding.where}: {finding.what}")
    if finding.remedy:
        print_line(f"    {finding.remedy}")
