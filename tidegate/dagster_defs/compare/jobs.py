"""The jobs of the loaded locations, and what a schedule over each of them needs."""

from collections.abc import Iterable, Iterator

import msgspec
from dagster import PartitionsDefinition, TimeWindowPartitionsDefinition

from tidegate.dagster_defs.compare.partitions import cycle_of, spelled
from tidegate.dagster_defs.compare.question import UNKNOWN, TheirJob
from tidegate.dagster_defs.deployed.names import PREFIX
from tidegate.dagster_defs.internals.remote_jobs import CodeLocation, RemoteJob, RemoteRepository
from tidegate.dagster_defs.internals.run_config import validate_config_from_snap

HIDDEN = ("__", PREFIX)
"""How the names of jobs begin that are Dagster's own, or ours."""


def jobs_of(locations: Iterable[CodeLocation]) -> Iterator[TheirJob]:
    """Yield the jobs of some locations."""
    jobs = [
        job
        for location in locations
        for repository in location.get_repositories().values()
        for job in _jobs_of(location.name, repository)
    ]
    names = [each.name for each in jobs]
    for each in jobs:
        yield msgspec.structs.replace(each, unique=names.count(each.name) == 1)


def _jobs_of(location: str, repository: RemoteRepository) -> Iterator[TheirJob]:
    schedules = {
        each.job_name: each for each in repository.get_schedules() if isinstance(each.cron_schedule, str)
    }
    sets = {each.job_name: each for each in repository.get_partition_sets()}
    for job in repository.get_all_jobs():
        if job.name.startswith(HIDDEN):
            continue
        schedule, cut = schedules.get(job.name), sets.get(job.name)
        partitions = ""
        if cut is not None:
            partitions = (
                _line(cut.get_partitions_definition()) if cut.has_partitions_definition() else UNKNOWN
            )
        yield TheirJob(
            name=job.name,
            location=location,
            partitions=partitions,
            # One with partitions has its config from its own code.
            needs_config=not partitions and _needs_config(job),
            schedule="" if schedule is None else schedule.name,
            cron="" if schedule is None else str(schedule.cron_schedule),
            timezone="" if schedule is None else schedule.execution_timezone or "",
        )


def _needs_config(job: RemoteJob) -> bool:
    root = job.root_config_key
    return root is not None and not validate_config_from_snap(job.config_schema_snapshot, root, {}).success


def _line(partitions: PartitionsDefinition) -> str:
    """Return partitions as a dataset spells them, in one line; UNKNOWN if a cron cannot choose one."""
    if not isinstance(partitions, TimeWindowPartitionsDefinition) or cycle_of(partitions) != "day":
        return UNKNOWN
    if partitions.end_offset or partitions.end is not None:
        return UNKNOWN
    return f"{{{spelled(partitions)}}}"
