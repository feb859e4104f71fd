"""A calendar of a dataset: what of each cell has landed, what became of it, and what is late. Pure.

landed      it was reported             published   a run of ours wrote it
consumed, failed   jobs that took its newest report have ended

Late is, of a dataset with a deadline, what was judged and has not landed: each period that ended after the
deadline was deployed, and whose own deadline has passed, until all its partitions are there. Without a
deadline it is a period that is over and has no partition, while an earlier one has. Nothing else is known to
be late.
"""

from collections import Counter
from collections.abc import Mapping

from tidegate.domain.model import PartitionScheme, TimeDimension
from tidegate.domain.partition_key import SEPARATOR, PartitionKeyError, join_key, parse_time_key
from tidegate.domain.value import Value
from tidegate.scheduler.store.answers import PartitionState
from tidegate.server.board.datasets.grid import Block, label_of
from tidegate.server.board.datasets.paging import Turned

ORDER = ("failed", "landed", "published", "consumed")
"""A cell shows the first of these that one of its partitions is."""

FIRST_PASS = 16
"""Length of a key that is not of the second pass through a repeated hour; those sort by their text."""

States = Mapping[str, PartitionState]
"""What has landed, by key."""


class Expectation(Value, kw_only=True):
    """What decides whether a period is late, as keys of time.

    Attributes:
        after: periods after this one are expected; None if none is.
        since: or from this one on.
        before: periods before this one are over, or were judged.
        whole: whether a period is late until all its partitions have landed, not only the first.
    """

    after: str | None = None
    since: str | None = None
    before: str = ""
    whole: bool = False


class Cell(Value, kw_only=True):
    """A cell of a calendar.

    Attributes:
        status: failed, landed, published or consumed; "" if nothing has landed.
        expected: the partitions that it has; the other numbers are of those that have landed.
    """

    key: str
    label: str
    status: str
    late: bool
    expected: int
    landed: int
    published: int
    consumed: int
    failed: int
    summary: str


class Row(Value, kw_only=True):
    """A row of a block."""

    label: str
    cells: tuple[Cell | None, ...]


class Filled(Value, kw_only=True):
    """A block with what is in its cells; None for a cell that is not on the page, or has no partitions."""

    name: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]


class Keys:
    """The keys of a dataset with dates: how those of time are joined with those of a list."""

    def __init__(self, scheme: PartitionScheme, time: TimeDimension) -> None:
        self.time = time
        self._scheme = scheme
        self._static = scheme.static
        self._time_first = scheme.dimension_names()[0] == time.name

    @property
    def parts(self) -> int:
        """How many partitions each key of time has."""
        return 1 if self._static is None else len(self._static.keys)

    def of(self, time_key: str) -> tuple[str, ...]:
        """Return the keys of partitions with a key of time."""
        if self._static is None:
            return (time_key,)
        of = {self.time.name: time_key}
        return tuple(join_key(self._scheme, {**of, self._static.name: key}) for key in self._static.keys)

    def prefixes(self) -> tuple[str, ...]:
        """Return what all keys begin with, up to the key of time: digits of a year, or a key of the list."""
        if self._static is None or self._time_first:
            return tuple("0123456789")
        return tuple(f"{key}{SEPARATOR}" for key in self._static.keys)

    def time_of(self, key: str) -> str:
        """Return the key of time in a key."""
        if self._static is None:
            return key
        return key.partition(SEPARATOR)[0] if self._time_first else key.rpartition(SEPARATOR)[2]

    def unit(self, time_keys: int) -> str:
        """Return what the partitions of a cell are called."""
        if self._static is None:
            return f"{self.time.cycle}s"
        return f"partitions by {self._static.name}" if time_keys == 1 else "partitions"


def status_of(state: PartitionState) -> str:
    """Return what became of a partition that has landed."""
    if state.failed:
        return "failed"
    if state.consumed:
        return "consumed"
    return "published" if state.published else "landed"


def filled(turned: Turned, keys: Keys, states: States, expectation: Expectation) -> tuple[Filled, ...]:
    """Return the blocks of a page."""
    return tuple(_block(block, turned, keys, states, expectation) for block in turned.blocks)


def cell(key: str, time_keys: tuple[str, ...], keys: Keys, states: States, expectation: Expectation) -> Cell:
    """Return a cell with these keys of time."""
    each = {time_key: [states[key] for key in keys.of(time_key) if key in states] for time_key in time_keys}
    counts = Counter(status_of(state) for found in each.values() for state in found)
    expected, landed = len(time_keys) * keys.parts, counts.total()
    late = any(_late(keys, time_key, len(found), expectation) for time_key, found in each.items())
    status = next((status for status in ORDER if counts[status]), "")
    if expected == 1:
        said = status or ("late" if late else "nothing has landed")
    else:
        numbers = [f"{counts[each]} {each}" for each in ("published", "consumed", "failed") if counts[each]]
        said = f"{landed} of {expected} {keys.unit(len(time_keys))} landed"
        said = ", ".join([said, *numbers, *(["late"] if late else [])])
    return Cell(
        key=key,
        label=label_of(keys.time.cycle, key),
        status=status,
        late=late,
        expected=expected,
        landed=landed,
        published=counts["published"],
        consumed=counts["consumed"],
        failed=counts["failed"],
        summary=said,
    )


def _block(block: Block, turned: Turned, keys: Keys, states: States, expectation: Expectation) -> Filled:
    def of(key: str | None) -> Cell | None:
        time_keys = turned.keys.get(key or "")
        return cell(key, time_keys, keys, states, expectation) if key and time_keys else None

    rows = tuple(Row(label=label, cells=tuple(of(key) for key in cells)) for label, cells in block.rows)
    return Filled(name=block.name, columns=block.columns, rows=rows)


def _late(keys: Keys, period: str, landed: int, expectation: Expectation) -> bool:
    if landed == keys.parts or (landed and not expectation.whole):
        return False
    time, after, since = keys.time, expectation.after, expectation.since
    begun = (after is not None and _is_before(time, after, period)) or (
        since is not None and not _is_before(time, period, since)
    )
    return begun and _is_before(time, period, expectation.before)


def _is_before(time: TimeDimension, period: str, other: str) -> bool:
    """Return whether a period is before another one."""
    if len(period) <= FIRST_PASS and len(other) <= FIRST_PASS:
        return period < other
    try:
        return parse_time_key(period, time).start < parse_time_key(other, time).start
    except PartitionKeyError:
        return period < other  # before the first partition: what landed with an earlier `start`
