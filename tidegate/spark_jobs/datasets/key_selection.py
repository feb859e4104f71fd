"""Selects the input partitions that a run reads, given the partitions it writes.

The rule, dimension by dimension: an input partition is read when it lies inside, or
contains, one of the output partitions. An input with the same scheme gives the same keys; a
finer one all parts of the period (every airport of the day); a coarser one the period
that contains the output. A dimension that only one of the two has does not restrict
the selection, so outputs without partitions read all partitions of their inputs.

An instance of a task may be launched for other periods than its own: with `period: previous` for the day
before, an hour for the day that is done. So of an input with the same or longer periods than the outputs its
run reads the partitions of the upstream instances in their place, if there are any. A table that it writes
itself keeps its own partitions beside those, so that `self` adds the period before.
"""

from collections.abc import Collection, Iterable, Mapping

from tidegate.domain.model import PartitionScheme
from tidegate.domain.partition_key import enclosing_key, split_key
from tidegate.domain.time.cycle import is_finer
from tidegate.spark_jobs.errors import OutputError


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


class UpstreamSelection(KeySelection):
    """The inputs of a run that may be that of an instance of a task."""

    def __init__(
        self,
        scheme: PartitionScheme | None,
        keys: Iterable[str],
        upstream: Mapping[str, tuple[str, ...]],
        own: Collection[str] = (),
    ) -> None:
        """Args:
        upstream: the partitions that the upstream instances are about, by input; empty for other runs.
        own: the datasets that the run writes.
        """
        super().__init__(scheme, keys)
        self._upstream = {name: frozenset(found) for name, found in upstream.items()}
        self._own = own

    def reads(self, name: str, scheme: PartitionScheme | None, key: str) -> bool:
        """Return whether the run reads this partition of an input, which has this name and scheme."""
        upstream = self._upstream.get(name)
        if not upstream or not self._is_as_long(scheme):
            return self.selects(scheme, key)
        return key in upstream or (name in self._own and self.selects(scheme, key))

    def _is_as_long(self, scheme: PartitionScheme | None) -> bool:
        """Return whether an input has periods that are the same as those of the outputs, or longer."""
        mine, theirs = self._scheme, scheme
        if mine is None or theirs is None or mine.time is None or theirs.time is None:
            return False
        return not is_finer(theirs.time.cycle, mine.time.cycle)


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


def common_scheme(program: str, schemes: Mapping[str, PartitionScheme]) -> PartitionScheme | None:
    """Return the scheme of the outputs of a program; None if none has partitions.

    Args:
        schemes: of those that have partitions, by name.

    Raises:
        OutputError: they have different dimensions.
    """
    first = next(iter(schemes.values()), None)
    for scheme in schemes.values():
        if first is not None and scheme.dimension_names() != first.dimension_names():
            raise OutputError(
                f"program {program}: the outputs {', '.join(schemes)} have different partitions",
                "let one program write datasets with the same partitions, or without partitions",
            )
    return first
