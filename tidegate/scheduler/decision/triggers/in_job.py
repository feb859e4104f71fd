"""In job: the events that a job has at an instant, and how long each of them stays.

The scheduler removes events that are too old at the instant at which they become so
(`scheduler.decision.triggers.drop`), and a `wait_at_most` counts from the first event that is left. An
evaluation may come later, after the scheduler was away: so those instants are repeated here, in their
order. This is needed only where a trigger waits, and a part of it keeps old events as evidence;
elsewhere an event stays exactly as long as it may count.
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta

import msgspec

from tidegate.domain.model import Composite, Trigger, child_path
from tidegate.scheduler.decision.triggers.collect_within import keeps_evidence
from tidegate.scheduler.decision.triggers.collected import Collected, Scope, in_order
from tidegate.scheduler.decision.triggers.drop import stays_in_job
from tidegate.scheduler.decision.triggers.tree import judge, limits_of
from tidegate.scheduler.decision.triggers.wait_at_most import waits
from tidegate.scheduler.model.event import Delivery


def scope_at(trigger: Trigger, collected: Collected, now: datetime) -> Scope:
    """Return the scope of the whole trigger at an instant, with the events that the job has then.

    Once the trigger has held, no further event is removed.
    """
    limits = limits_of(trigger)
    if collected.tally is not None:
        # Events leave at their instants (`scheduler.decision.triggers.counting.counter`).
        return Scope(collected, now, limits, limits)
    if not any(limits.values()) or not keeps_evidence(trigger):
        return Scope(collected, now, limits, limits)
    for instant in sorted(set(_ages(trigger, collected))) if waits(trigger) else ():
        if instant >= now:
            break
        scope = _settled(trigger, Scope(collected, instant, limits, limits))
        spans = judge(trigger, "", scope).spans
        if spans and spans[0].start <= instant:
            return replace(scope, now=now)
        collected = _without(collected, tuple(_too_old(scope)))
    return _settled(trigger, Scope(collected, now, limits, limits))


def dropped(trigger: Trigger, collected: Collected, now: datetime) -> tuple[Delivery, ...]:
    """Return the events that a job with an unsatisfied trigger drops at `now`, in order of arrival."""
    if collected.tally is not None:
        return () if collected.leaving is None else collected.leaving.deliveries
    scope = scope_at(trigger, collected, now)
    gone = list(_too_old(scope))
    for leaf, found in collected.by_leaf.items():
        left = scope.collected.by_leaf[leaf]
        gone += [each for each in found if each not in left] if len(left) < len(found) else []
    return tuple(sorted(gone, key=in_order))


def next_drop(scope: Scope) -> datetime | None:
    """Return the first instant after that of the scope at which an event is dropped if no event arrives."""
    instants = (
        delivery.event.arrived + limit
        for leaf, limit in scope.stays.items()
        if limit is not None
        for delivery in scope.collected.by_leaf.get(leaf, ())
    )
    return min((instant for instant in instants if instant > scope.now), default=None)


def _too_old(scope: Scope) -> Iterator[Delivery]:
    """Return the events that stay no longer than until the instant of the scope."""
    for leaf, limit in scope.stays.items():
        if limit is not None:
            for delivery in scope.collected.by_leaf.get(leaf, ()):
                if scope.now - delivery.event.arrived >= limit:
                    yield delivery


def _settled(trigger: Trigger, scope: Scope) -> Scope:
    """Return the scope with how long events stay; what waits depend on that, and it depends on waits."""
    while (found := stays_in_job(trigger, scope)) != scope.stays:
        scope = replace(scope, stays=found)
    return scope


def _ages(trigger: Trigger, collected: Collected) -> Iterator[datetime]:
    """Return the instants at which any event may become too old."""
    for leaf, lengths in _lengths(trigger, "", ()):
        for delivery in collected.by_leaf.get(leaf, ()):
            for length in lengths:
                yield delivery.event.arrived + length


def _lengths(
    trigger: Trigger, path: str, above: tuple[timedelta, ...]
) -> Iterator[tuple[str, tuple[timedelta, ...]]]:
    """Return each leaf with the lengths of every `collect_within` on the way to it."""
    if trigger.collect_within is not None:
        above = (*above, trigger.collect_within)
    if not isinstance(trigger, Composite):
        yield path, above
        return
    for index, member in enumerate(trigger.of):
        yield from _lengths(member, child_path(path, index), above)


def _without(collected: Collected, gone: tuple[Delivery, ...]) -> Collected:
    left = {
        leaf: tuple(each for each in found if each not in gone) for leaf, found in collected.by_leaf.items()
    }
    return msgspec.structs.replace(collected, by_leaf=left)
