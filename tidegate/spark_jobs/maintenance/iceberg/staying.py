"""Why each snapshot of a table stays that an expiry leaves: something needs it, or it is a new one."""

from collections.abc import Collection, Iterator, Mapping
from itertools import islice

from tidegate.spark_jobs.iceberg.catalog.java_texts import each
from tidegate.spark_jobs.maintenance.iceberg.history import Snapshots, ancestors
from tidegate.spark_jobs.maintenance.kept import among_the_last, younger_than


def staying(
    snapshots: Snapshots, expirable: Collection[int], kept: Mapping[int, str], retain: int, older_than: float
) -> Iterator[tuple[int, str]]:
    """Yield each snapshot that stays with its reason, the oldest first.

    Args:
        expirable: those that are old enough, and beyond the last ones of every branch.
        kept: those of them that something needs, each with the reason.
        older_than: seconds.
    """
    last, times = _last(snapshots, retain), snapshots.committed
    for one in sorted(times, key=lambda one: (times[one], one)):
        if one in kept:
            yield one, kept[one]
        elif one not in expirable:
            yield one, among_the_last(retain) if one in last else younger_than(older_than)


def _last(snapshots: Snapshots, retain: int) -> set[int]:
    """Return the newest snapshots of each branch."""
    java = snapshots.table
    found = {one.id for one in snapshots.history[:retain]}
    refs = java.refs()
    for name in each(refs.keySet()):
        ref = refs.get(name)
        if ref.isBranch() and int(ref.snapshotId()) not in found:
            found |= {one.id for one in islice(ancestors(java, java.snapshot(ref.snapshotId())), retain)}
    return found
