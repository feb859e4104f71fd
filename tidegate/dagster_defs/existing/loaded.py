"""What a loaded code location says of a job or of assets: the one reader of the locations of others.

    location ─► repositories with the job or the assets ─► Target ─┬─► cut_of: partitions, several or one
                                                                   └─► creation of runs (`existing.creation`)

The host and the dispatcher ask before each launch. `plan` compares programs with the same answers.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from dagster import AssetKey, AssetSelection, DagsterError, PartitionsDefinition

from tidegate.dagster_defs.deployed.asset_plan import Selected
from tidegate.dagster_defs.deployed.names import ALL_ASSETS_JOB
from tidegate.dagster_defs.existing.request import Cut, Impossible
from tidegate.dagster_defs.internals.remote_jobs import CodeLocation, RemoteRepository
from tidegate.domain.model import ExistingJob

SELECTIONS_KEPT = 1_000
"""Size of the cache of selected keys: programs of loaded locations."""


@dataclass(frozen=True, slots=True)
class Target:
    """What a run is of, in a loaded location.

    Attributes:
        assets: those that are selected; None for all of the job.
    """

    location: CodeLocation
    repository: RemoteRepository
    job: str
    title: str
    assets: frozenset[AssetKey] | None = None

    @property
    def name(self) -> str:
        """How messages call it."""
        return f"{self.title} of {self.location.name}"

    @property
    def keys(self) -> frozenset[AssetKey]:
        """The assets that a run materialises."""
        if self.assets is not None:
            return self.assets
        return frozenset(self.repository.get_asset_keys_in_job(self.job))


def targets(location: CodeLocation, wanted: ExistingJob) -> list[Target]:
    """Return where a location has what a program launches; empty if it does not have it."""
    repositories = location.get_repositories().values()
    if wanted.job:
        return [
            Target(location, each, wanted.job, wanted.title)
            for each in repositories
            if each.has_job(wanted.job)
        ]
    found = [(each, selected_keys(each, wanted.assets)) for each in repositories]
    return [Target(location, each, ALL_ASSETS_JOB, wanted.title, keys) for each, keys in found if keys]


@lru_cache(maxsize=SELECTIONS_KEPT)
def selected_keys(repository: RemoteRepository, selection: str) -> frozenset[AssetKey]:
    """Return the keys that a selection has in a repository; empty without any.

    No code of the location runs. A name that the repository does not have is an error in Dagster.
    """
    try:
        return frozenset(AssetSelection.from_string(selection).resolve(repository.asset_graph))
    except DagsterError:
        return frozenset()


@lru_cache(maxsize=SELECTIONS_KEPT)
def jobs_with(repository: RemoteRepository, keys: frozenset[AssetKey]) -> frozenset[str]:
    """Return the jobs that materialise at least one of some assets, each without a selection of its own."""
    names = [each.name for each in repository.get_all_jobs()]
    return frozenset(each for each in names if keys & frozenset(repository.get_asset_keys_in_job(each)))


def selected(target: Target) -> Selected:
    """Return by what the runs of others are known that materialise an asset of a selection."""
    return Selected(target.location.name, target.keys, jobs_with(target.repository, target.keys))


def nothing_selected(selection: str, where: str) -> Impossible:
    """Return the error of a selection without any asset."""
    hint = "correct `assets`, or add the assets to the location"
    if " and " in selection:
        hint = "`and` selects what both sides have; write `or` for what either has"
    return Impossible(f'assets "{selection}" matches nothing in {where}', hint)


def cut_of(target: Target) -> Cut:
    """Return how the runs of a target are cut.

    Raises:
        Impossible: a run cannot have all assets of a selection.
    """
    graph = target.repository.asset_graph
    assets = [graph.get(key) for key in sorted(target.keys)]
    if target.assets is not None:
        _check_one_run(target, assets)
    cut = [each for each in assets if each.partitions_def is not None]
    single = [
        each
        for each in cut
        if each.backfill_policy is not None and each.backfill_policy.max_partitions_per_run is None
    ]
    without = sorted(each.key.to_user_string() for each in cut if each not in single)
    definitions = [*_of_job(target), *(each.partitions_def for each in cut)]
    return Cut(
        definition=definitions[0] if definitions else None,
        ranges=bool(cut) and not without,
        without_ranges=without,
    )


def _check_one_run(target: Target, assets: Iterable[Any]) -> None:
    """Refuse a selection that no run can have.

    Raises:
        Impossible: with the assets.
    """
    external = [each.key.to_user_string() for each in assets if not each.is_executable]
    if external:
        wrong = f"a run makes each asset of {target.name}, got {', '.join(external)}, which no code makes"
        raise Impossible(wrong, "select without them")
    cut = {
        each.key.to_user_string(): each.partitions_def for each in assets if each.partitions_def is not None
    }
    others = [key for key, each in cut.items() if each != next(iter(cut.values()))]
    if others:
        first = next(iter(cut))
        wrong = f"the assets of a run have the same partitions, got {others[0]} with others than {first}"
        raise Impossible(wrong, "make a program of each")


def _of_job(target: Target) -> list[PartitionsDefinition]:
    """Return the partitions that the job has by itself."""
    if target.assets is not None:
        return []
    sets = [each for each in target.repository.get_partition_sets() if each.job_name == target.job]
    return [each.get_partitions_definition() for each in sets if each.has_partitions_definition()]


def configures_partitions(target: Target) -> bool:
    """Return whether the code of the job may have a config for each partition."""
    sets = target.repository.get_partition_sets()
    return target.assets is None and any(each.job_name == target.job for each in sets)
