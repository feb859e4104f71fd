"""Drop: which collected events are too old for a `collect_within` to count ever again.

While a job's trigger is not satisfied, what is as old as the stretch has not helped and never
will; it leaves the job, one by one (DESIGN rule 2: with a reason). What some part of the trigger
rests on stays, although it is old: a member of a `sequence` whose turn is over, and a trigger
that waits only for its `quiet`, need what came then as evidence.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta

from compiler.model import Composite, SequenceTrigger, Trigger, child_path
from scheduler.event import Delivery
from scheduler.triggers.collected import Collected, Sight, in_order, is_below
from scheduler.triggers.judged import Judged
from scheduler.triggers.sequence import steps
from scheduler.triggers.tree import judge, judge_kind, limits_of, shorter
from scheduler.triggers.wait_at_most import Limits


def dropped(trigger: Trigger, collected: Collected, now: datetime) -> tuple[Delivery, ...]:
    """What a job whose trigger is not satisfied at `now` has no more use for, in order of arrival."""
    limits = limits_of(trigger)
    if not any(limits.values()):
        return ()
    found = [
        delivery
        for leaf, limit in _usable_for(trigger, "", None, Sight(collected, now), limits)
        for delivery in collected.by_leaf.get(leaf, ())
        if limit is not None and now - delivery.event.arrived >= limit
    ]
    return tuple(sorted(found, key=in_order))


def next_drop(trigger: Trigger, collected: Collected, now: datetime) -> datetime | None:
    """The first instant after `now` at which something is to be dropped if nothing comes."""
    limits = limits_of(trigger)
    if not any(limits.values()):
        return None
    instants = (
        delivery.event.arrived + limit
        for leaf, limit in _usable_for(trigger, "", None, Sight(collected, now), limits)
        if limit is not None
        for delivery in collected.by_leaf.get(leaf, ())
    )
    return min((instant for instant in instants if instant > now), default=None)


def _usable_for(
    trigger: Trigger, path: str, above: timedelta | None, sight: Sight, limits: Limits
) -> Iterator[tuple[str, timedelta | None]]:
    """How old what came for each leaf may be and still be of use; None for as old as it likes.

    Args:
        above: the shortest `collect_within` on the way down that counts.
    """
    limit = shorter(above, trigger.collect_within)
    if trigger.collect_within is not None:
        # What is exactly as old as that goes now, and nothing rests on it any more.
        sight = sight.after(sight.now - trigger.collect_within)
    rests = trigger.quiet is not None and _held(judge_kind(trigger, path, sight, limits), sight.now)
    if rests or not isinstance(trigger, Composite):
        yield from ((leaf, limit) for leaf in limits if is_below(leaf, path))
    elif isinstance(trigger, SequenceTrigger):
        yield from _usable_in_sequence(trigger, path, limit, sight, limits)
    else:
        for index, member in enumerate(trigger.of):
            yield from _usable_for(member, child_path(path, index), limit, sight, limits)


def _usable_in_sequence(
    trigger: SequenceTrigger, path: str, limit: timedelta | None, sight: Sight, limits: Limits
) -> Iterator[tuple[str, timedelta | None]]:
    def member(inner: Trigger, inner_path: str, seen: Sight) -> Judged:
        return judge(inner, inner_path, seen, limits)

    for step in steps(trigger, path, sight, member):
        if step.done is not None and step.done <= sight.now:
            yield from ((leaf, limit) for leaf in limits if is_below(leaf, step.path))
        else:
            yield from _usable_for(step.trigger, step.path, limit, step.sight, limits)


def _held(judged: Judged, now: datetime) -> bool:
    """Whether it came to hold at some moment up to `now`."""
    return bool(judged.spans) and judged.spans[0].start <= now
