"""Selects the input partitions that a run reads, given the partitions it writes.

The rule, dimension by dimension: an input partition is read when it lies inside, or
contains, one of the output partitions. An input with the same scheme gives the same keys; a
finer one all parts of the period (every airport of the day); a coarser one the period
that contains the output. A dimension that only one of the two has does not restrict
the selection, so outputs without partitions read all partitions of their inputs.
"""

from collections.abc import Iterable

from tidegate.domain.model import PartitionScheme
from tidegate.domain.partition_key import enclosing_key, split_key
from tidegate.domain.time.cycle import is_finer


class KeySelection:
    """The inputs of a run that writes `keys` of outputs with `scheme`."""

    def __init__(self, scheme: PartitionScheme | None, keys: Iterable[str]) -> None:
        self._scheme = scheme
        self._keys = tuple(keys)
        self._wanted: dict[PartitionScheme, frozenset[tuple[str | None, str | None]]] = {}

    def selects(self, scheme: PartitionScheme | None, key: str) -> bool:
        """Return whether the run reads this partition of an input with this scheme."""
        if scheme is None or self._scheme is None:
            return True
        if scheme not in self._wanted:
            self._wanted[scheme] = frozenset(_shared(self._scheme, scheme, key) for key in self._keys)
        return _shared(scheme, self._scheme, key) in self._wanted[scheme]

    def selects_all(self, scheme: PartitionScheme | None) -> bool:
        """Return whether the run reads every partition of an input with this scheme, even future ones."""
        if scheme is None or self._scheme is None:
            return True
        both_in_time = scheme.time is not None and self._scheme.time is not None
        mine, theirs = scheme.static, self._scheme.static
        return not (both_in_time or (mine is not None and theirs is not None and mine.name == theirs.name))


def _shared(scheme: PartitionScheme, other: PartitionScheme, key: str) -> tuple[str | None, str | None]:
    """Return the parts of a key that both schemes have: the coarser period, and the static value."""
    parts = split_key(scheme, key)
    period = None
    if scheme.time is not None and other.time is not None:
        finer = is_finer(scheme.time.cycle, other.time.cycle)
        period = parts[scheme.time.name]
        if finer:
            period = enclosing_key(scheme, key, other.time.cycle, other.time.week_starts)
    value = None
    if scheme.static is not None and other.static is not None and scheme.static.name == other.static.name:
        value = parts[scheme.static.name]
    return period, value
