"""`partitions`: satisfied when enough partitions, named ones, or all of a period have arrived.

A key counts once in one job, however often it is written, unless the trigger says
`distinct: false` (rules 3 and 15).
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from functools import cached_property, lru_cache
from typing import NamedTuple

from tidegate.domain.model import Cycle, PartitionScheme, PartitionsTrigger
from tidegate.domain.partition_key import enclosing_key, expected_keys
from tidegate.domain.wording import first_of, plural
from tidegate.scheduler.decision.triggers.collected import Collected
from tidegate.scheduler.decision.triggers.leaf import Counting, Deliveries, LeafKind
from tidegate.scheduler.model.event import Event
from tidegate.scheduler.model.records.tally import OF_A_PERIOD, LeafTally
from tidegate.scheduler.model.verdict import Count

MISSING_KEYS_SHOWN = 5
"""The most missing keys that a summary names; it counts the others."""

PERIODS_KEPT = 256
"""Of how many periods the number of keys is kept: it is asked for with each event."""

PERIODS_OF_KEYS_KEPT = 4
"""Of how many periods the keys are kept: one decision asks for those of its own several times."""


class Period:
    """The keys of a period, in order, each with its first arrival; None without one.

    A day may have a hundred thousand keys: what is asked of them is found without looking any of them up.
    """

    def __init__(self, keys: Mapping[str, None]) -> None:
        self.came: dict[str, datetime | None] = {**keys}

    @cached_property
    def missing(self) -> list[str]:
        """The keys that have not arrived."""
        return [key for key, arrived in self.came.items() if arrived is None]

    @cached_property
    def since(self) -> datetime | None:
        """When the last of the keys arrived; None while one is missing."""
        arrived = [each for each in self.came.values() if each is not None]
        return max(arrived) if arrived and len(arrived) == len(self.came) else None


class Arrived(NamedTuple):
    """What has arrived at a leaf.

    Attributes:
        counted: the arrival of each write that counts, of `distinct` the first one of each key.
        first: of `keys`, the first arrival of each key, in order of arrival.
        periods: of `complete`, every period with an arrival. With `for_each` that is the job's own period.
    """

    counted: Sequence[datetime] = ()
    first: Mapping[str, datetime] = {}
    periods: Mapping[str, Period] = {}


def _read(trigger: PartitionsTrigger, deliveries: Deliveries, collected: Collected) -> Arrived:
    if trigger.complete is not None:
        return Arrived(periods=_periods(trigger, deliveries, collected))
    first: dict[str, datetime] = {}
    for delivery in deliveries:
        first.setdefault(delivery.event.partition or "", delivery.event.arrived)
    if trigger.distinct:
        return Arrived(tuple(first.values()), first)
    return Arrived([delivery.event.arrived for delivery in deliveries], first)


def _of_count(
    trigger: PartitionsTrigger, count: LeafTally, path: str, collected: Collected
) -> Arrived | None:
    """Return what has arrived by a count; which of its events came first is not known, and not asked for."""
    some = count.newest
    if trigger.keys:
        return Arrived(first=dict.fromkeys(collected.keys_at(path), some))
    if trigger.complete is None:
        return Arrived(counted=[some] * count.amount)
    scheme, complete = _cut(trigger, collected)
    names = collected.keys_at(path + OF_A_PERIOD)
    if len(names) > 1:
        # That with the first event is shown.
        return None
    periods = {name: Period(_keys_of(scheme, complete, name)) for name in names}
    for period in periods.values():
        came = collected.keys_at(path)
        period.came.update((key, some) for key in came if key in period.came)
    return Arrived(periods=periods)


def _since(trigger: PartitionsTrigger, arrived: Arrived, collected: Collected) -> datetime | None:
    if trigger.complete is not None:
        complete = (period.since for period in arrived.periods.values())
        return min((moment for moment in complete if moment is not None), default=None)
    if trigger.keys:
        return _all_came(trigger.keys, arrived.first)
    counted = arrived.counted
    return counted[trigger.count - 1] if len(counted) >= trigger.count else None


def _summary(trigger: PartitionsTrigger, arrived: Arrived, collected: Collected, now: datetime) -> str:
    if trigger.complete is not None:
        return _completeness(trigger, arrived)
    if trigger.keys:
        missing = _lacking(trigger, arrived)
        return _progress(trigger.keys, missing, f"partitions of {trigger.dataset} named in keys")
    have, need, unit = _count_of_any(trigger, arrived)
    noun = "new partitions" if trigger.distinct else f"{unit} of partitions"
    return f"{have} of {need} {noun} of {trigger.dataset}"


def _count(trigger: PartitionsTrigger, arrived: Arrived, collected: Collected) -> Count | None:
    if trigger.complete is not None:
        shown = _shown_period(arrived)
        return None if shown is None else _count_of(shown[1].came, shown[1].missing, "parts")
    if trigger.keys:
        return _count_of(trigger.keys, _lacking(trigger, arrived), "partitions")
    return _count_of_any(trigger, arrived)


def _count_of(wanted: Collection[str], missing: Collection[str], unit: str) -> Count:
    return Count(len(wanted) - len(missing), len(wanted), unit)


def _count_of_any(trigger: PartitionsTrigger, arrived: Arrived) -> Count:
    unit = "partitions" if trigger.distinct else "writes"
    return Count(len(arrived.counted), trigger.count, unit)


def _needs(trigger: PartitionsTrigger, arrived: Arrived, collected: Collected, now: datetime) -> str:
    if trigger.complete is not None:
        if not arrived.periods:
            return f"all parts of one {trigger.complete} of {trigger.dataset}"
        period, missing = next((name, each.missing) for name, each in arrived.periods.items())
        named = first_of(missing, MISSING_KEYS_SHOWN)
        return f"{plural(len(missing), 'part')} of {trigger.dataset} of {period}: {named}"
    if trigger.keys:
        missing = _lacking(trigger, arrived)
        named = first_of(missing, MISSING_KEYS_SHOWN)
        return f"{plural(len(missing), 'partition')} of {trigger.dataset}: {named}"
    noun = "more new partition" if trigger.distinct else "more write"
    return f"{plural(trigger.count - len(arrived.counted), noun)} of {trigger.dataset}"


def _all_came(wanted: Collection[str], first: Mapping[str, datetime]) -> datetime | None:
    """Return when the last of the wanted keys arrived; None while one is missing."""
    return max(map(first.__getitem__, wanted)) if all(map(first.__contains__, wanted)) else None


def _lacking(trigger: PartitionsTrigger, arrived: Arrived) -> list[str]:
    """Return the keys named in the trigger that have not arrived."""
    return [key for key in trigger.keys if key not in arrived.first]


def _progress(wanted: Collection[str], missing: Sequence[str], noun: str) -> str:
    have, need, _ = _count_of(wanted, missing, noun)
    summary = f"{have} of {need} {noun}"
    return f"{summary}; missing {first_of(missing, MISSING_KEYS_SHOWN)}" if missing else summary


def _periods(trigger: PartitionsTrigger, deliveries: Deliveries, collected: Collected) -> dict[str, Period]:
    scheme, complete = _cut(trigger, collected)
    periods: dict[str, Period] = {}
    came = dict[str, datetime | None]()
    for delivery in deliveries:
        event = delivery.event
        key = event.partition or ""
        # Most keys are of the period of the one before, and to look one up is quicker than to parse it.
        if key not in came:
            period = enclosing_key(scheme, key, complete)
            if period not in periods:
                periods[period] = Period(_keys_of(scheme, complete, period))
            came = periods[period].came
        if came.get(key, event.arrived) is None:
            came[key] = event.arrived
    return periods


def _completeness(trigger: PartitionsTrigger, arrived: Arrived) -> str:
    shown = _shown_period(arrived)
    if shown is None:
        return f"no partition of {trigger.dataset} has arrived"
    name, period = shown
    noun = f"parts of {trigger.dataset} of {trigger.complete} {name}"
    return _progress(period.came, period.missing, noun)


def _shown_period(arrived: Arrived) -> tuple[str, Period] | None:
    """Return the period that was complete first, or else the one with the first arrival."""
    periods = arrived.periods
    complete = [(each.since, name) for name, each in periods.items() if each.since is not None]
    shown = min(complete)[1] if complete else next(iter(periods), None)
    return None if shown is None else (shown, periods[shown])


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
def _keys_of(scheme: PartitionScheme, complete: Cycle, period: str) -> Mapping[str, None]:
    """Return the keys of a period in order, to look up in."""
    return dict.fromkeys(expected_keys(scheme, complete, period))


@lru_cache(PERIODS_KEPT)
def _size_of(scheme: PartitionScheme, complete: Cycle, period: str) -> int:
    return len(expected_keys(scheme, complete, period))


def _missing(trigger: PartitionsTrigger, arrived: Arrived, collected: Collected) -> tuple[str, ...] | None:
    if trigger.keys:
        return tuple(_lacking(trigger, arrived))
    if trigger.complete is None:
        return None
    if (shown := _shown_period(arrived)) is not None:
        return tuple(shown[1].missing)
    return tuple(expected_keys(*_cut(trigger, collected), collected.key)) if collected.key else ()


KIND = LeafKind(
    _since, _summary, _needs, Counting(_wanted, _amount, _by_key, _period), _count, _missing, _read, _of_count
)
