"""The kinds of triggers, one file each: whether it is satisfied, since when, and what is missing.

`scheduler.decision.triggers.tree` lists them. An evaluation is a pure function of the job's collected
events and an instant. What it says of the past depends on the arrivals only: evaluated later, it
returns the same instant.
"""

from bisect import bisect_right
from datetime import datetime

import msgspec

from tidegate.domain.model import Trigger
from tidegate.scheduler.decision.triggers.collected import Collected, arrived_at
from tidegate.scheduler.decision.triggers.in_job import dropped, next_drop, scope_at
from tidegate.scheduler.decision.triggers.spans import last_instant
from tidegate.scheduler.decision.triggers.tree import judge
from tidegate.scheduler.model.verdict import Verdict, earliest

__all__ = ["dropped", "evaluate"]


def evaluate(trigger: Trigger, collected: Collected, now: datetime) -> Verdict:
    """Return the verdict on a trigger and all its members.

    Once satisfied it stays satisfied, even if events have dropped out since (rule 15); its
    members are then shown as they were when it last held.

    Args:
        trigger: the whole trigger of a schedule.
        collected: the events that the job has collected so far.
        now: the instant of the evaluation.
    """
    scope = scope_at(trigger, collected, now)
    judged = judge(trigger, "", scope)
    held_last = last_instant(judged.spans, now)
    if held_last is not None:
        verdict = judged.explain(held_last)
        return msgspec.structs.replace(
            verdict, met=True, since=judged.spans[0].start, next_check=None, holds_at=None, reason=None
        )
    verdict = judged.explain(now)
    if collected.leaving is not None:
        holds_at, next_at = collected.leaving.holds_at, collected.leaving.next_at
        return msgspec.structs.replace(verdict, holds_at=holds_at, next_check=earliest((holds_at, next_at)))
    check = earliest((verdict.holds_at, next_drop(scope), _next_arrival(collected, now)))
    return msgspec.structs.replace(verdict, next_check=check)


def _next_arrival(collected: Collected, now: datetime) -> datetime | None:
    """Return the first arrival after `now`, of an event that was stored by a clock ahead of this one."""
    coming = [found[bisect_right(found, now, key=arrived_at) :] for found in collected.by_leaf.values()]
    return min((found[0].event.arrived for found in coming if found), default=None)
