"""The request of a run of an existing job, and what its location says about the partitions that it takes.

    no keys                       the run has no partition
    one key                       `dagster/partition`, and of two dimensions `dagster/partition/DIMENSION`
    neighbouring keys             one run with a range, where every partitioned asset of the job takes ranges
    other keys                    refused: one job for each key, `for_each: partition`

Dagster takes a range for any job. An asset without `BackfillPolicy.single_run()` runs once for it, and is
recorded as materialised for all its keys.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dagster import (
    DagsterInstance,
    MultiPartitionsDefinition,
    PartitionsDefinition,
    partition_loading_context,
)

from tidegate.dagster_defs.deployed.partitions import is_range
from tidegate.dagster_defs.deployed.tags import (
    DAGSTER_MAX_RETRIES,
    DAGSTER_PARTITION,
    DAGSTER_RANGE_END,
    DAGSTER_RANGE_START,
    EXISTING,
    LOST,
)
from tidegate.dagster_defs.internals.remote_jobs import RUN_KEY_TAG
from tidegate.domain.error import UserError
from tidegate.domain.model import ExistingJob
from tidegate.domain.wording import first_of
from tidegate.scheduler.launch.outbox import LaunchRequest

KEYS_SHOWN = 3

ONE_EACH = "`for_each: partition` launches one run for each"


class Impossible(UserError):
    """A run that the job cannot have, whatever happens in its location meanwhile."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ExistingRequest:
    """A run of a job of another code location that is to be created.

    Attributes:
        program: "app/program".
        launch: the engine's request, with the partition keys and the config.
        tags: of the job of ours for which it runs.
    """

    program: str
    job: ExistingJob
    launch: LaunchRequest
    tags: Mapping[str, str]

    @property
    def own_tags(self) -> dict[str, str]:
        """The tags beside those of the job itself: of the program, then ours."""
        lost = self.launch.launch.lost
        return {
            **self.job.tags,
            **self.tags,
            EXISTING: self.job.title,
            # `retries` of the schedule decide; a run that Dagster retries would be external.
            DAGSTER_MAX_RETRIES: "0",
            RUN_KEY_TAG: self.launch.run_key,
            **({LOST: str(lost)} if lost else {}),
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class Cut:
    """How the runs of a job are cut, by its loaded location.

    Attributes:
        definition: the partitions of the job; None without any.
        ranges: whether it has assets, and each that has partitions takes ranges.
        without_ranges: the assets that do not.
    """

    definition: PartitionsDefinition | None = None
    ranges: bool = False
    without_ranges: Sequence[str] = ()


def partition_tags(name: str, keys: tuple[str, ...], cut: Cut, instance: DagsterInstance) -> dict[str, str]:
    """Return the tags of the partitions of a run.

    Args:
        name: of the job, for messages.
        keys: in the order of the engine.

    Raises:
        Impossible: the job cannot have one run of these keys.
        LookupError: the job does not have such a key yet.
    """
    if not keys:
        return {}
    if cut.definition is None:
        raise Impossible(
            f"{name} has no partitions, got {first_of(keys, KEYS_SHOWN)}",
            "delete `partitions` of the program",
        )
    with partition_loading_context(dynamic_partitions_store=instance):
        unknown = tuple(key for key in keys if not cut.definition.has_partition_key(key))
        if unknown:
            raise LookupError(f"{name} has no partition {first_of(unknown, KEYS_SHOWN)}")
        if len(keys) == 1:
            return _of_key(keys[0], cut.definition)
        return _of_range(name, keys, cut.definition, cut)


def _of_range(name: str, keys: tuple[str, ...], definition: PartitionsDefinition, cut: Cut) -> dict[str, str]:
    if not cut.ranges:
        wrong = f"a run of {name} has one partition, got {first_of(keys, KEYS_SHOWN)}"
        if cut.without_ranges:
            assets = first_of(cut.without_ranges, KEYS_SHOWN)
            wrong = (
                f"{assets} of {name} has no BackfillPolicy.single_run(), got a run of {len(keys)} partitions"
            )
        raise Impossible(wrong, ONE_EACH)
    if not is_range(definition, keys):
        raise Impossible(
            f"a run of {name} cannot have partitions with gaps, got {first_of(keys, KEYS_SHOWN)}", ONE_EACH
        )
    return {DAGSTER_RANGE_START: keys[0], DAGSTER_RANGE_END: keys[-1]}


def _of_key(key: str, definition: PartitionsDefinition) -> dict[str, str]:
    if isinstance(definition, MultiPartitionsDefinition):
        return dict(definition.get_tags_for_partition_key(definition.get_partition_key_from_str(key)))
    return {DAGSTER_PARTITION: key}
