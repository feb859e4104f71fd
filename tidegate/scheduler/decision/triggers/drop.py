"""Drop: which collected events are too old for a `collect_within` to count ever again.

While a job's trigger is not satisfied, what is as old as the stretch has not helped and never
will; it leaves the job, one by one (rule 2: with a reason). What some part of the trigger
rests on stays, although it is old: a member of a `sequence` whose turn is over, and a trigger
that waits only for its `quiet`, need what came then as evidence. If there is a `wait_at_most` in
such a part, the evidence includes what came for the others, since the wait may run from that.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta

from tidegate.domain.model import Composite, Trigger, child_path
from tidegate.scheduler.decision.triggers.collected import Collected, Limits, Scope, in_order, is_below
from tidegate.scheduler.decision.triggers.judged import Judged
from tidegate.scheduler.decision.triggers.sequence import steps
from tidegate.scheduler.decision.triggers.spans import TICK
from tidegate.scheduler.decision.triggers.tree import judge, judge_kind, limits_of
from tidegate.scheduler.decision.triggers.wait_at_most import waits
from tidegate.scheduler.model.event import Delivery

Stretches = tuple[tuple[str, timedelta], ...]
"""The `collect_within` on the way down to a part: path and length, from the top."""


def dropped(trigger: Trigger, collected: Collected, now: datetime) -> tuple[Delivery, ...]:
    """What a job whose trigger is not satisfied at `now` has no more use for, in order of arrival."""
    found = [
        delivery
        for leaf, limit in _Use(trigger, collected, now).limits()
        for delivery in collected.by_leaf.get(leaf, ())
        if now - delivery.event.arrived >= limit
    ]
    return tuple(sorted(found, key=in_order))


def next_drop(trigger: Trigger, collected: Collected, now: datetime) -> datetime | None:
    """The first instant after `now` at which something is to be dropped if nothing comes."""
    instants = (
        delivery.event.arrived + limit
        for leaf, limit in _Use(trigger, collected, now).limits()
        for delivery in collected.by_leaf.get(leaf, ())
    )
    return min((instant for instant in instants if instant > now), default=None)


class _Use:
    """How old what came for each leaf may be, and still be of use at an instant."""

    def __init__(self, trigger: Trigger, collected: Collected, now: datetime) -> None:
        self._limits: Limits = limits_of(trigger)
        self._above: dict[str, Stretches] = {}
        self._resting: list[tuple[str, Stretches]] = []
        if any(self._limits.values()):
            self._visit(trigger, "", (), Scope(collected, now, self._limits))

    def limits(self) -> Iterator[tuple[str, timedelta]]:
        """The limits, by leaf; a leaf that has none, for now or for ever, is left out."""
        for leaf, stretches in self._above.items():
            for part, above in self._resting:
                if not is_below(leaf, part):
                    stretches = tuple(each for each in above if each in stretches)
            if stretches:
                yield leaf, min(length for _, length in stretches)

    def _visit(self, trigger: Trigger, path: str, above: Stretches, scope: Scope) -> None:
        if trigger.collect_within is not None:
            above = (*above, (path, trigger.collect_within))
            # What is exactly as old as that goes now, and nothing rests on it any more.
            scope = scope.since(path, scope.now - trigger.collect_within + TICK)
        if trigger.quiet is not None and _held(judge_kind(trigger, path, scope), scope.now):
            self._rest(trigger, path, above)
        elif not isinstance(trigger, Composite):
            self._above[path] = above
        elif trigger.in_turn:
            for step in steps(trigger, path, scope, judge):
                if step.done is not None and step.done <= scope.now:
                    self._rest(step.trigger, step.path, above)
                else:
                    self._visit(step.trigger, step.path, above, step.scope)
        else:
            for index, member in enumerate(trigger.of):
                self._visit(member, child_path(path, index), above, scope)

    def _rest(self, trigger: Trigger, path: str, above: Stretches) -> None:
        """A part that rests on all that came below it, as long as the stretches above let it be."""
        for leaf in self._limits:
            if is_below(leaf, path):
                self._above[leaf] = above
        if waits(trigger):
            self._resting.append((path, above))


def _held(judged: Judged, now: datetime) -> bool:
    """Whether it came to hold at some moment up to `now`."""
    return bool(judged.spans) and judged.spans[0].start <= now
