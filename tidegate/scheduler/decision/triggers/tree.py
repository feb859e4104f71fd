"""The tree of a trigger, evaluated from the leaves up.

On one node the options apply in a fixed order, each to the result of the one before:

    collect_within filters ──► the kind ──► quiet ──► wait_at_most, which overrides quiet too

A new kind is one new file here and one line in `LEAVES` or `COMPOSITES`; its YAML form is a file
of the same name in `tidegate/compiler/triggers/`.
"""

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

from tidegate.domain.model import (
    AllTrigger,
    AnyTrigger,
    AtLeastTrigger,
    Composite,
    CronTrigger,
    ElapsedTrigger,
    PartitionsTrigger,
    RunTrigger,
    SequenceTrigger,
    SizeTrigger,
    Trigger,
    child_path,
)
from tidegate.scheduler.decision.triggers import (
    at_least,
    cron,
    elapsed,
    partitions,
    run,
    sequence,
    size,
)
from tidegate.scheduler.decision.triggers.collect_within import with_collect_within
from tidegate.scheduler.decision.triggers.collected import Limits, Scope
from tidegate.scheduler.decision.triggers.judged import Judged, Member
from tidegate.scheduler.decision.triggers.leaf import LeafKind, judge_leaf
from tidegate.scheduler.decision.triggers.quiet import with_quiet
from tidegate.scheduler.decision.triggers.wait_at_most import with_wait_at_most

LEAVES: dict[type, LeafKind] = {
    CronTrigger: cron.KIND,
    ElapsedTrigger: elapsed.KIND,
    PartitionsTrigger: partitions.KIND,
    RunTrigger: run.KIND,
    SizeTrigger: size.KIND,
}

COMPOSITES: dict[type, Callable[[Any, str, Scope, Member], Judged]] = {
    AllTrigger: at_least.judge,
    AnyTrigger: at_least.judge,
    AtLeastTrigger: at_least.judge,
    SequenceTrigger: sequence.judge,
}
"""(trigger, path, scope, evaluation of a member) -> when it holds."""


def judge(trigger: Trigger, path: str, scope: Scope) -> Judged:
    """Evaluate a trigger with all its members and options."""

    def filtered(recent: Scope) -> Judged:
        return with_quiet(trigger, path, recent, judge_kind(trigger, path, recent))

    return with_wait_at_most(trigger, scope, with_collect_within(trigger, path, scope, filtered))


def judge_kind(trigger: Trigger, path: str, scope: Scope) -> Judged:
    """Evaluate a trigger without its own options; those of its members apply."""
    if isinstance(trigger, Composite):
        return COMPOSITES[type(trigger)](trigger, path, scope, judge)
    return judge_leaf(LEAVES[type(trigger)], trigger, path, scope)


def limits_of(trigger: Trigger) -> Limits:
    """Return the largest age of each leaf's events: the shortest `collect_within` on the way to it."""
    return dict(_limits(trigger, "", None))


def _limits(trigger: Trigger, path: str, above: timedelta | None) -> Iterator[tuple[str, timedelta | None]]:
    limit = shorter(above, trigger.collect_within)
    if not isinstance(trigger, Composite):
        yield path, limit
        return
    for index, member in enumerate(trigger.of):
        yield from _limits(member, child_path(path, index), limit)


def shorter(first: timedelta | None, second: timedelta | None) -> timedelta | None:
    """Return the shorter of two periods; None is unlimited."""
    return min((each for each in (first, second) if each is not None), default=None)
