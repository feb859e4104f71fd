"""`size`: satisfied from the arrival at which the collected partitions were first large enough.

A partition that arrives twice counts once, with its newest size, unless the trigger says
`distinct: false`; every update of a dataset without partitions adds its size. Once reached, the sum
stays reached, even if a partition is written again and is smaller. Events without a reported size
count as zero, and the summary says so.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import groupby

from tidegate.domain.model import SizeTrigger
from tidegate.scheduler.decision.triggers.collected import Collected
from tidegate.scheduler.decision.triggers.leaf import Counting, Deliveries, LeafKind
from tidegate.scheduler.model.event import Event
from tidegate.scheduler.model.verdict import Count

UNITS = ("TB", 10**12), ("GB", 10**9), ("MB", 10**6), ("KB", 10**3)
"""In powers of 1000, as `domain.size` reads them."""


def _since(trigger: SizeTrigger, deliveries: Deliveries, collected: Collected) -> datetime | None:
    wanted = _wanted(trigger)
    return next((at for at, total in _totals(trigger, deliveries, collected) if total >= wanted), None)


def _summary(trigger: SizeTrigger, deliveries: Deliveries, collected: Collected, now: datetime) -> str:
    total, wanted = _total(trigger, deliveries, collected), _wanted(trigger)
    summary = f"{_text(trigger, total)} of {_text(trigger, wanted)} of {trigger.dataset}"
    unknown = sum(_size(trigger, event) is None for event in _counted(trigger, deliveries, collected))
    return f"{summary}; {unknown} of unknown size" if unknown else summary


def _count(trigger: SizeTrigger, deliveries: Deliveries, collected: Collected) -> Count:
    unit = "rows" if trigger.bytes is None else "bytes"
    return Count(_total(trigger, deliveries, collected), _wanted(trigger), unit)


def _needs(trigger: SizeTrigger, deliveries: Deliveries, collected: Collected, now: datetime) -> str:
    lacking = _wanted(trigger) - _total(trigger, deliveries, collected)
    return f"{_text(trigger, lacking)} more of {trigger.dataset}"


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


def _total(trigger: SizeTrigger, deliveries: Deliveries, collected: Collected) -> int:
    """Return the sum so far."""
    return sum(_size(trigger, event) or 0 for event in _counted(trigger, deliveries, collected))


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


KIND = LeafKind(_since, _summary, _needs, Counting(_wanted, _adds, _by_key), _count)
