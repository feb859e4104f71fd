"""`sequence`: satisfied when its members have come to hold one after the other.

A member counts only what came strictly later than the moment at which the one before it came to hold,
and needs to have held once: what happens to it afterwards does not matter any more.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

import msgspec

from compiler.model import SequenceTrigger, Trigger, child_path
from scheduler.reason import Reason
from scheduler.triggers.collected import Sight
from scheduler.triggers.judged import Judged, Member, verdict_on
from scheduler.triggers.spans import FOREVER, always_from, first_from, overlap, span_at
from scheduler.verdict import Verdict


class Step(NamedTuple):
    """A member as its turn found it.

    Attributes:
        sight: what it may count; nothing before its turn has come.
        begins: when its turn comes; None while the moment is not in sight.
        done: when it came to hold; in the future where that is only a matter of time.
    """

    trigger: Trigger
    path: str
    sight: Sight
    judged: Judged
    begins: datetime | None
    done: datetime | None


def steps(trigger: SequenceTrigger, path: str, sight: Sight, member: Member) -> Iterator[Step]:
    """The members one after the other."""
    begins = sight.first_below(path)
    shown = sight
    for index, inner in enumerate(trigger.of):
        inner_path = child_path(path, index)
        judged = member(inner, inner_path, shown)
        done = None if begins is None else first_from(judged.spans, begins)
        yield Step(inner, inner_path, shown, judged, begins, done)
        begins = done
        shown = sight.after(FOREVER if done is None else done)


def judge(trigger: SequenceTrigger, path: str, sight: Sight, member: Member) -> Judged:
    """See `scheduler.triggers.tree`."""
    found = tuple(steps(trigger, path, sight, member))
    last = found[-1].done
    spans = overlap((always_from(last), always_from(sight.first_below(path))), 2)

    def explain(view: datetime) -> Verdict:
        parts = tuple(_explained(step, view) for step in found)
        done = sum(part.met for part in parts)
        summary = f"{done} of {len(parts)} members held one after the other"
        waits_for_quiet = done == len(parts) - 1 and parts[-1].reason is Reason.W_QUIET
        reason = Reason.W_QUIET if waits_for_quiet else None
        return verdict_on(trigger, "sequence", spans, view, summary, parts=parts, reason=reason)

    return Judged(spans=spans, explain=explain)


def _explained(step: Step, view: datetime) -> Verdict:
    """A member's verdict: as of the moment at which it was done, or before its turn unmet."""
    if step.done is None or step.done > view:
        verdict = step.judged.explain(view)
        if step.begins is not None and step.begins <= view:
            return verdict
        waits = f"{verdict.summary}; its turn comes after the member before it"
        return msgspec.structs.replace(verdict, met=False, since=None, reason=None, summary=waits)
    holds_still = span_at(step.judged.spans, view) is not None
    verdict = step.judged.explain(view if holds_still else step.done)
    return msgspec.structs.replace(verdict, since=step.done)
