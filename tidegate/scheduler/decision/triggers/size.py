"""`size`: satisfied from the arrival at which the collected partitions were first large enough.

A partition that arrives twice counts once, with its newest size, unless the trigger says
`distinct: false`; every update of a dataset without partitions adds its size. Once reached, the sum
stays reached, even if a partition is written again and is smaller. Events without a reported size
count as zero, and the summary says so.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import groupby
from typing import NamedTuple

from tidegate.domain.model import SizeTrigger
from tidegate.scheduler.decision.triggers.collected import Collected
from tidegate.scheduler.decision.triggers.leaf import Counting, Deliveries, LeafKind
from tidegate.scheduler.model.event import Event
from tidegate.scheduler.model.records.tally import LeafTally
from tidegate.scheduler.model.verdict import Count

UNITS = ("TB", 10**12), ("GB", 10**9), ("MB", 10**6), ("KB", 10**3)
"""In powers of 1000, as `domain.size` reads them."""


class Sum(NamedTuple):
    """What the events at a leaf add up to.

    Attributes:
        since: when it was enough; None while it is not.
        total: of the sizes that count.
        unknown: how many of the events that count report no size.
    """

    since: datetime | None
    total: int
    unknown: int


def _read(trigger: SizeTrigger, deliveries: Deliveries, collected: Collected) -> Sum:
    wanted = _wanted(trigger)
    since = next((at for at, total in _totals(trigger, deliveries, collected) if total >= wanted), None)
    sizes = [_size(trigger, event) for event in _counted(trigger, deliveries, collected)]
    known = [size for size in sizes if size is not None]
    return Sum(since, sum(known), len(sizes) - len(known))


def _of_count(trigger: SizeTrigger, count: LeafTally, path: str, collected: Collected) -> Sum | None:
    """Return the sum by a count; None if an event may report no size, which its text counts."""
    tally = collected.tally
    # Only a size above 0 is kept. With one for each delivery, these are all events.
    if tally is None or len(collected.keys_at(path)) != tally.deliveries:
        return None
    return Sum(None, count.amount, 0)


def _since(trigger: SizeTrigger, found: Sum, collected: Collected) -> datetime | None:
    return found.since


def _summary(trigger: SizeTrigger, found: Sum, collected: Collected, now: datetime) -> str:
    summary = f"{_text(trigger, found.total)} of {_text(trigger, _wanted(trigger))} of {trigger.dataset}"
    return f"{summary}; {found.unknown} of unknown size" if found.unknown else summary


def _count(trigger: SizeTrigger, found: Sum, collected: Collected) -> Count:
    unit = "rows" if trigger.bytes is None else "bytes"
    return Count(found.total, _wanted(trigger), unit)


def _needs(trigger: SizeTrigger, found: Sum, collected: Collected, now: datetime) -> str:
    return f"{_text(trigger, _wanted(trigger) - found.total)} more of {trigger.dataset}"


def _wanted(trigger: SizeTrigger) -> int:
    return trigger.bytes or trigger.rows or 0


def _size(trigger: SizeTrigger, event: Event) -> int | None:
    return event.bytes if trigger.bytes is not None else event.rows


def _by_key(trigger: SizeTrigger, collected: Collected) -> bool:
    return trigger.distinct and collected.scheme(trigger.dataset) is not None


def _totals(
    trigger: SizeTrigger, deliveries: Deliveries, collected: Collected
) -> Iterator[tuple[datetime, int]]:
    """Return the sum after all arrivals of an instant, for each instant."""
    by_key = _by_key(trigger, collected)
    sizes: dict[str, int] = {}
    total = 0
    for instant, together in groupby(deliveries, key=lambda each: each.event.arrived):
        for delivery in together:
            size = _size(trigger, delivery.event) or 0
            if by_key:
                key = delivery.event.partition or ""
                total -= sizes.get(key, 0)
                sizes[key] = size
            total += size
        yield instant, total


def _counted(trigger: SizeTrigger, deliveries: Deliveries, collected: Collected) -> Iterable[Event]:
    """Return the events whose sizes are in the sum so far."""
    if not _by_key(trigger, collected):
        return [each.event for each in deliveries]
    return {each.event.partition: each.event for each in deliveries}.values()


def _text(trigger: SizeTrigger, size: int) -> str:
    return f"{size:,} rows" if trigger.bytes is None else _amount(size)


def _amount(size: int) -> str:
    for unit, factor in UNITS:
        if size >= factor:
            return f"{size / factor:.1f}".removesuffix(".0") + f" {unit}"
    return f"{size} bytes"


def _adds(trigger: SizeTrigger, event: Event) -> int:
    return _size(trigger, event) or 0


KIND = LeafKind(
    _since, _summary, _needs, Counting(_wanted, _adds, _by_key), _count, read=_read, counted=_of_count
)
