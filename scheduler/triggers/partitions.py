"""`partitions`: satisfied when enough partitions, certain ones, or all of a period have come.

A key counts once in one job, whatever the number of times it is written, unless the trigger
says `distinct: false` (DESIGN rules 3 and 15).
"""

from collections.abc import Callable, Collection, Iterable
from datetime import datetime

from compiler.model import PartitionsTrigger, Trigger
from compiler.partition_key import enclosing_key, expected_keys
from scheduler.event import Delivery
from scheduler.triggers.collected import Collected
from scheduler.verdict import Verdict

MISSING_KEYS_SHOWN = 5
"""How many missing keys a summary names before it says how many more there are."""


def evaluate(
    trigger: PartitionsTrigger,
    collected: Collected,
    path: str,
    now: datetime,
    member: Callable[[Trigger, str], Verdict],
) -> Verdict:
    """See `scheduler.triggers.evaluate`."""
    deliveries = collected.at(path)
    if trigger.complete is not None:
        return _complete(trigger, collected, deliveries)
    if trigger.keys:
        return _all_keys(trigger, trigger.keys, deliveries, f"partitions of {trigger.dataset} named in keys")
    arrived = (
        list(_first_arrivals(deliveries).values())
        if trigger.distinct
        else [delivery.event.arrived for delivery in deliveries]
    )
    met = len(arrived) >= trigger.count
    noun = "new partitions" if trigger.distinct else "writes of partitions"
    return Verdict(
        kind="partitions",
        met=met,
        summary=f"{len(arrived)} of {trigger.count} {noun} of {trigger.dataset}",
        since=arrived[trigger.count - 1] if met else None,
        at=trigger.at,
    )


def _first_arrivals(deliveries: Iterable[Delivery]) -> dict[str, datetime]:
    """When each key came first, in order of arrival."""
    first: dict[str, datetime] = {}
    for delivery in deliveries:
        first.setdefault(delivery.event.partition or "", delivery.event.arrived)
    return first


def _all_keys(
    trigger: PartitionsTrigger, wanted: Collection[str], deliveries: Iterable[Delivery], noun: str
) -> Verdict:
    """Satisfied when each wanted key has come, from the moment the last of them did."""
    first = _first_arrivals(deliveries)
    missing = [key for key in wanted if key not in first]
    summary = f"{len(wanted) - len(missing)} of {len(wanted)} {noun}"
    if missing:
        shown = ", ".join(missing[:MISSING_KEYS_SHOWN])
        more = len(missing) - MISSING_KEYS_SHOWN
        summary += f"; missing {shown}" + (f" and {more} more" if more > 0 else "")
    return Verdict(
        kind="partitions",
        met=not missing,
        summary=summary,
        since=None if missing else max(first[key] for key in wanted),
        at=trigger.at,
    )


def _complete(trigger: PartitionsTrigger, collected: Collected, deliveries: tuple[Delivery, ...]) -> Verdict:
    """Satisfied when some period, with `for_each` the job's own, has all its parts."""
    scheme = collected.datasets[trigger.dataset].partitions
    if scheme is None or trigger.complete is None:
        raise ValueError(f"complete needs a dataset with partitions, {trigger.dataset} has none")
    by_period: dict[str, list[Delivery]] = {}
    for delivery in deliveries:
        period = enclosing_key(scheme, delivery.event.partition or "", trigger.complete)
        by_period.setdefault(period, []).append(delivery)
    if not by_period:
        nothing = f"no partition of {trigger.dataset} has come"
        return Verdict(kind="partitions", met=False, summary=nothing, at=trigger.at)
    verdicts = [
        _all_keys(
            trigger,
            expected_keys(scheme, trigger.complete, period),
            found,
            f"parts of {trigger.dataset} of {trigger.complete} {period}",
        )
        for period, found in by_period.items()
    ]
    met = [verdict for verdict in verdicts if verdict.since is not None]
    return min(met, key=lambda verdict: str(verdict.since)) if met else verdicts[0]
