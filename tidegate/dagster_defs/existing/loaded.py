"""What a loaded code location says of a job: the one reader of the locations of others.

    location ─► repositories with the job ─► Target ─┬─► cut_of: partitions, several in a run or not
                                                     └─► creation of runs (`existing.creation`)

The host and the dispatcher ask before each launch. `plan` compares programs with the same answers.
"""

from dataclasses import dataclass

from tidegate.dagster_defs.existing.request import Cut
from tidegate.dagster_defs.internals.remote_jobs import CodeLocation, RemoteRepository
from tidegate.domain.model import ExistingJob


@dataclass(frozen=True, slots=True)
class Target:
    """What a run is of, in a loaded location."""

    location: CodeLocation
    repository: RemoteRepository
    job: str

    @property
    def name(self) -> str:
        """How messages call it."""
        return f"job {self.job} of {self.location.name}"


def targets(location: CodeLocation, wanted: ExistingJob) -> list[Target]:
    """Return where a location has what a program launches; empty if it does not have it."""
    repositories = location.get_repositories().values()
    return [Target(location, each, wanted.job) for each in repositories if each.has_job(wanted.job)]


def cut_of(target: Target) -> Cut:
    """Return how the runs of a target are cut."""
    graph = target.repository.asset_graph
    assets = [graph.get(key) for key in target.repository.get_asset_keys_in_job(target.job)]
    cut = [each for each in assets if each.partitions_def is not None]
    sets = [each for each in target.repository.get_partition_sets() if each.job_name == target.job]
    definitions = [each.get_partitions_definition() for each in sets if each.has_partitions_definition()]
    definitions += [each.partitions_def for each in cut if each.partitions_def is not None]
    single = [
        each
        for each in cut
        if each.backfill_policy is not None and each.backfill_policy.max_partitions_per_run is None
    ]
    without = sorted(each.key.to_user_string() for each in cut if each not in single)
    return Cut(
        definition=definitions[0] if definitions else None,
        ranges=bool(cut) and not without,
        without_ranges=without,
    )


def configures_partitions(target: Target) -> bool:
    """Return whether the code of the job may have a config for each partition."""
    return any(each.job_name == target.job for each in target.repository.get_partition_sets())
