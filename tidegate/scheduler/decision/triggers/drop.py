"""Drop: the collected events that are too old for their `collect_within` and can never count again.

While a job's trigger is not satisfied, events as old as the period leave the job, one by one
(rule 2: with a reason). Old events that a part of the trigger still uses as evidence stay: those of a
`sequence` member whose turn is over, and those of a trigger that waits only for its `quiet`. If
such a part has a `wait_at_most`, the evidence includes the events of other parts, since the wait
may count from them.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta

from tidegate.domain.model import Composite, Trigger, child_path
from tidegate.scheduler.decision.triggers.collected import Scope, is_below
from tidegate.scheduler.decision.triggers.judged import Judged
from tidegate.scheduler.decision.triggers.sequence import steps
from tidegate.scheduler.decision.triggers.spans import TICK
from tidegate.scheduler.decision.triggers.tree import judge, judge_kind
from tidegate.scheduler.decision.triggers.wait_at_most import waits

Stretches = tuple[tuple[str, timedelta], ...]
"""The `collect_within` on the way down to a part: path and length, from the top."""


def stays_in_job(trigger: Trigger, scope: Scope) -> dict[str, timedelta | None]:
    """Return the age at which the events of each leaf leave the job, as far as an instant shows.

    Args:
        scope: of the whole trigger.
    """
    return dict(_Use(trigger, scope).limits())


class _Use:
    """The largest age of each leaf's events at which they are still of use at an instant."""

    def __init__(self, trigger: Trigger, scope: Scope) -> None:
        self._leaves = tuple(scope.limits)
        self._above: dict[str, Stretches] = {}
        self._resting: list[tuple[str, Stretches]] = []
        self._visit(trigger, "", (), scope)

    def limits(self) -> Iterator[tuple[str, timedelta | None]]:
        """Return the limit of each leaf; None without one."""
        for leaf, stretches in self._above.items():
            for part, above in self._resting:
                if not is_below(leaf, part):
                    stretches = tuple(each for each in above if each in stretches)
            yield leaf, min((length for _, length in stretches), default=None)

    def _visit(self, trigger: Trigger, path: str, above: Stretches, scope: Scope) -> None:
        if trigger.collect_within is not None:
            above = (*above, (path, trigger.collect_within))
            # Events exactly that old are dropped now, so no part may use them.
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
        """Keep all events below a part as evidence, up to the periods above it."""
        for leaf in self._leaves:
            if is_below(leaf, path):
                self._above[leaf] = above
        if waits(trigger):
            self._resting.append((path, above))


def _held(judged: Judged, now: datetime) -> bool:
    """Return whether it held at any instant up to `now`."""
    return bool(judged.spans) and judged.spans[0].start <= now
