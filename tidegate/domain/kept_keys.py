"""Whether collected partition keys keep their meaning when the partitions of a dataset change.

A dimension that gains or loses keys, and another `start`, leave the other keys as they are. Another
cycle, zone or dimension changes what a key means, even where its text stays valid. Pure.
"""

import msgspec

from tidegate.domain.model import PartitionScheme


def keeps_keys(before: PartitionScheme | None, after: PartitionScheme | None) -> bool:
    """Return whether each key of both schemes names the same partition in both."""
    if before is None or after is None:
        return before is after
    same_static = (None if before.static is None else before.static.name) == (
        None if after.static is None else after.static.name
    )
    if before.time is None or after.time is None:
        return same_static and before.time is after.time
    return same_static and msgspec.structs.replace(before.time, start=after.time.start) == after.time
