"""Partition schemes as Dagster partitions definitions.

The keys equal those of `domain.partition_key`, character for character: an event reported
through Dagster, a manifest in the store and a folder of the warehouse use the same key for a
partition. The current period has a partition too, since today's files land today.
"""

from collections.abc import Mapping
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from dagster import (
    AllPartitionMapping,
    MultiPartitionsDefinition,
    PartitionMapping,
    PartitionsDefinition,
    StaticPartitionsDefinition,
    TimeWindowPartitionsDefinition,
)

from tidegate.domain.model import Cycle, PartitionScheme, TimeDimension
from tidegate.domain.partition_key import format_time_key, start_of
from tidegate.domain.time.cycle import DAYS_OF_WEEK

CURRENT_PERIOD = 1
"""Dagster's `end_offset`: one partition in addition to the completed periods."""


class _Clock(NamedTuple):
    cron: str
    format: str


SCHEMES_KEPT = 4_096
"""Size of the cache of definitions: schemes of a code location."""

CLOCKS: Mapping[Cycle, _Clock] = {
    "minute": _Clock("* * * * *", "%Y-%m-%d-%H:%M"),
    "hour": _Clock("0 * * * *", "%Y-%m-%d-%H:%M"),
    "day": _Clock("0 0 * * *", "%Y-%m-%d"),
    "week": _Clock("0 0 * * {week_starts}", "%Y-%m-%d"),
    "month": _Clock("0 0 1 * *", "%Y-%m-%d"),
    "year": _Clock("0 0 1 1 *", "%Y-%m-%d"),
}
"""The start of each cycle's partitions as a cron, and the format of its keys.

Dagster's `WeeklyPartitionsDefinition` with a `day_offset` has the same cron as a week here."""


@lru_cache(maxsize=SCHEMES_KEPT)
def partitions_of(scheme: PartitionScheme) -> PartitionsDefinition:
    """Return the partitions definition of a scheme: one for all datasets of equal schemes."""
    parts: dict[str, PartitionsDefinition] = {}
    if scheme.time is not None:
        parts[scheme.time.name] = _time(scheme.time)
    if scheme.static is not None:
        parts[scheme.static.name] = StaticPartitionsDefinition(list(scheme.static.keys))
    if len(parts) == 1:
        return next(iter(parts.values()))
    return MultiPartitionsDefinition(parts)


def mapping_between(
    downstream: PartitionScheme | None, upstream: PartitionScheme | None
) -> PartitionMapping | None:
    """Return how a partition depends on the partitions of an input; None selects Dagster's default.

    Dagster refuses to load a location in which two schemes cannot be mapped, so schemes that
    Dagster cannot map depend on all partitions.
    """
    if downstream is None or upstream is None or partitions_of(downstream) == partitions_of(upstream):
        return None
    if downstream.time is None or upstream.time is None:
        return AllPartitionMapping()
    if downstream.static is None and upstream.static is None:
        known = downstream.time.timezone == upstream.time.timezone
    else:
        one_has_both = (downstream.static is None) != (upstream.static is None)
        known = one_has_both and _time(downstream.time) == _time(upstream.time)
    return None if known else AllPartitionMapping()


def is_range(definition: PartitionsDefinition, keys: tuple[str, ...]) -> bool:
    """Return whether the keys, in the order of the definition, are a range without gaps.

    Two-dimensional keys never count as a range: Dagster's ranges of them are rectangles.
    """
    if len(keys) < 2 or isinstance(definition, MultiPartitionsDefinition):
        return False
    if isinstance(definition, TimeWindowPartitionsDefinition):
        return all(definition.get_next_partition_key(a) == b for a, b in pairwise(keys))
    known = list(definition.get_partition_keys())
    if keys[0] not in known:
        return False
    first = known.index(keys[0])
    return tuple(known[first : first + len(keys)]) == keys


def _time(dimension: TimeDimension) -> TimeWindowPartitionsDefinition:
    clock = CLOCKS[dimension.cycle]
    return TimeWindowPartitionsDefinition(
        start=format_time_key(start_of(dimension), dimension),
        fmt=clock.format,
        cron_schedule=clock.cron.format(week_starts=DAYS_OF_WEEK.index(dimension.week_starts)),
        timezone=dimension.timezone,
        end_offset=CURRENT_PERIOD,
    )
