"""`partitions`: satisfied when enough partitions, named ones, or all of a period have arrived.

A key counts once in one job, however often it is written, unless the trigger says
`distinct: false` (rules 3 and 15).
"""

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from functools import lru_cache
from typing import cast

from tidegate.domain.model import Cycle, PartitionScheme, PartitionsTrigger
from tidegate.domain.partition_key import enclosing_key, expected_keys
from tidegate.domain.wording import first_of, plural
from tidegate.scheduler.decision.triggers.collected import Collected
from tidegate.scheduler.decision.triggers.leaf import Counting, Deliveries, LeafKind
from tidegate.scheduler.model.event import Delivery, Event
from tidegate.scheduler.model.verdict import Count

MISSING_KEYS_SHOWN = 5
"""The most missing keys that a summary names; it counts the others."""

PERIODS_KEPT = 256
"""Of how many periods the number of keys is kept: it is asked for with each event."""

PERIODS_OF_KEYS_KEPT = 4
"""Of how many periods the keys are kept: one decision asks for those of its own several times."""


def _since(trigger: PartitionsTrigger, deliveries: Deliveries, collected: Collected) -> datetime | None:
    if trigger.complete is not None:
        periods = _periods(trigger, deliveries, collected)
        complete = (_all_came(wanted, first) for wanted, first in periods.values())
        return min((moment for moment in complete if moment is not None), default=None)
    if trigger.keys:
        return _all_came(trigger.keys, _first_arrivals(deliveries))
    arrived = _counted(trigger, deliveries)
    return arrived[trigger.count - 1] if len(arrived) >= trigger.count else None


def _summary(trigger: PartitionsTrigger, deliveries: Deliveries, collected: Collected, now: datetime) -> str:
    if trigger.complete is not None:
        return _completeness(trigger, deliveries, collected)
    if trigger.keys:
        noun = f"partitions of {trigger.dataset} named in keys"
        return _progress(trigger.keys, _first_arrivals(deliveries), noun)
    have, need, unit = _count_of_any(trigger, deliveries)
    noun = "new partitions" if trigger.distinct else f"{unit} of partitions"
    return f"{have} of {need} {noun} of {trigger.dataset}"


def _count(trigger: PartitionsTrigger, deliveries: Deliveries, collected: Collected) -> Count | None:
    if trigger.complete is not None:
        shown = _shown_period(trigger, deliveries, collected)
        return None if shown is None else _count_of(shown[1], shown[2], "parts")
    if trigger.keys:
        return _count_of(trigger.keys, _first_arrivals(deliveries), "partitions")
    return _count_of_any(trigger, deliveries)


def _count_of(wanted: Collection[str], first: Mapping[str, datetime], unit: str) -> Count:
    return Count(sum(key in first for key in wanted), len(wanted), unit)


def _count_of_any(trigger: PartitionsTrigger, deliveries: Deliveries) -> Count:
    unit = "partitions" if trigger.distinct else "writes"
    return Count(len(_counted(trigger, deliveries)), trigger.count, unit)


def _needs(trigger: PartitionsTrigger, deliveries: Deliveries, collected: Collected, now: datetime) -> str:
    if trigger.complete is not None:
        periods = _periods(trigger, deliveries, collected)
        if not periods:
            return f"all parts of one {trigger.complete} of {trigger.dataset}"
        period, (wanted, first) = next(iter(periods.items()))
        missing = [key for key in wanted if key not in first]
        named = first_of(missing, MISSING_KEYS_SHOWN)
        return f"{plural(len(missing), 'part')} of {trigger.dataset} of {period}: {named}"
    if trigger.keys:
        missing = [key for key in trigger.keys if key not in _first_arrivals(deliveries)]
        named = first_of(missing, MISSING_KEYS_SHOWN)
        return f"{plural(len(missing), 'partition')} of {trigger.dataset}: {named}"
    noun = "more new partition" if trigger.distinct else "more write"
    return f"{plural(trigger.count - len(_counted(trigger, deliveries)), noun)} of {trigger.dataset}"


def _counted(trigger: PartitionsTrigger, deliveries: Deliveries) -> list[datetime]:
    """Return the arrival of each partition that counts."""
    if trigger.distinct:
        return list(_first_arrivals(deliveries).values())
    return [delivery.event.arrived for delivery in deliveries]


def _first_arrivals(deliveries: Iterable[Delivery]) -> dict[str, datetime]:
    """Return the first arrival of each key, in order of arrival."""
    first: dict[str, datetime] = {}
    for delivery in deliveries:
        first.setdefault(delivery.event.partition or "", delivery.event.arrived)
    return first


def _all_came(wanted: Collection[str], first: dict[str, datetime]) -> datetime | None:
    """Return when the last of the wanted keys arrived; None while one is missing."""
    return max(map(first.__getitem__, wanted)) if all(map(first.__contains__, wanted)) else None


def _progress(wanted: Collection[str], first: dict[str, datetime], noun: str) -> str:
    missing = [key for key in wanted if key not in first]
    have, need, _ = _count_of(wanted, first, noun)
    summary = f"{have} of {need} {noun}"
    return f"{summary}; missing {first_of(missing, MISSING_KEYS_SHOWN)}" if missing else summary


def _periods(
    trigger: PartitionsTrigger, deliveries: Deliveries, collected: Collected
) -> dict[str, tuple[Collection[str], dict[str, datetime]]]:
    """Return every period with an arrival: its keys, and the first arrival of each key that has one.

    With `for_each` that is the job's own period.
    """
    scheme, complete = _cut(trigger, collected)
    periods: dict[str, tuple[Collection[str], dict[str, datetime]]] = {}
    wanted, first = cast("Collection[str]", ()), dict[str, datetime]()
    for delivery in deliveries:
        key = delivery.event.partition or ""
        # Most keys are of the period of the one before, and to look one up is quicker than to parse it.
        if key not in wanted:
            period = enclosing_key(scheme, key, complete)
            if period not in periods:
                periods[period] = (_keys_of(scheme, complete, period), {})
            wanted, first = periods[period]
        first.setdefault(key, delivery.event.arrived)
    return periods


def _completeness(trigger: PartitionsTrigger, deliveries: Deliveries, collected: Collected) -> str:
    shown = _shown_period(trigger, deliveries, collected)
    if shown is None:
        return f"no partition of {trigger.dataset} has arrived"
    period, wanted, first = shown
    return _progress(wanted, first, f"parts of {trigger.dataset} of {trigger.complete} {period}")


def _shown_period(
    trigger: PartitionsTrigger, deliveries: Deliveries, collected: Collected
) -> tuple[str, Collection[str], dict[str, datetime]] | None:
    """Return the period that was complete first, or else the one with the first arrival: its keys too."""
    periods = _periods(trigger, deliveries, collected)
    if not periods:
        return None
    complete = {period: _all_came(wanted, first) for period, (wanted, first) in periods.items()}
    moments = [(moment, period) for period, moment in complete.items() if moment is not None]
    period = min(moments)[1] if moments else next(iter(periods))
    return period, *periods[period]


def _cut(trigger: PartitionsTrigger, collected: Collected) -> tuple[PartitionScheme, Cycle]:
    """Return the partitions of a trigger's dataset, and the cycle that has to be complete."""
    scheme = collected.scheme(trigger.dataset)
    if scheme is None or trigger.complete is None:
        raise ValueError(f"complete needs a dataset with partitions, {trigger.dataset} has none")
    return scheme, trigger.complete


def _wanted(trigger: PartitionsTrigger) -> int | None:
    """Return how many keys or writes are enough; `complete` counts each period apart."""
    if trigger.complete is not None:
        return None
    return len(set(trigger.keys)) or trigger.count


def _amount(trigger: PartitionsTrigger, event: Event) -> int:
    return 1 if not trigger.keys or (event.partition or "") in trigger.keys else 0


def _by_key(trigger: PartitionsTrigger, collected: Collected) -> bool:
    return trigger.distinct or bool(trigger.keys) or trigger.complete is not None


def _period(trigger: PartitionsTrigger, event: Event, collected: Collected) -> tuple[str, int]:
    """Return the period that an event belongs to, and how many keys it has; each key is one of them."""
    scheme, complete = _cut(trigger, collected)
    period = enclosing_key(scheme, event.partition or "", complete)
    return period, _size_of(scheme, complete, period)


@lru_cache(PERIODS_OF_KEYS_KEPT)
def _keys_of(scheme: PartitionScheme, complete: Cycle, period: str) -> Collection[str]:
    """Return the keys of a period in order, to look up in."""
    return dict.fromkeys(expected_keys(scheme, complete, period)).keys()


@lru_cache(PERIODS_KEPT)
def _size_of(scheme: PartitionScheme, complete: Cycle, period: str) -> int:
    return len(expected_keys(scheme, complete, period))


def _missing(
    trigger: PartitionsTrigger, deliveries: Deliveries, collected: Collected
) -> tuple[str, ...] | None:
    if trigger.keys:
        wanted, first = trigger.keys, _first_arrivals(deliveries)
    elif trigger.complete is None:
        return None
    elif (shown := _shown_period(trigger, deliveries, collected)) is not None:
        _, wanted, first = shown
    elif collected.key:
        wanted, first = expected_keys(*_cut(trigger, collected), collected.key), {}
    else:
        return ()
    return tuple(key for key in wanted if key not in first)


KIND = LeafKind(_since, _summary, _needs, Counting(_wanted, _amount, _by_key, _period), _count, _missing)
