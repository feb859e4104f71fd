"""`sequence`: satisfied when its members have come to hold one after the other.

A member counts only what came strictly later than the moment at which the one before it came to hold,
and needs to have held once: what happens to it afterwards does not matter any more.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import NamedTuple

import msgspec

from tidegate.domain.model import Composite, Trigger, child_path
from tidegate.scheduler.decision.triggers.collected import Scope
from tidegate.scheduler.decision.triggers.judged import Judged, Member, verdict_on
from tidegate.scheduler.decision.triggers.leaf import evidence_of
from tidegate.scheduler.decision.triggers.spans import (
    FOREVER,
    Spans,
    always_from,
    first_from,
    overlap,
    span_at,
    union,
)
from tidegate.scheduler.decision.triggers.wait_at_most import waits
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.verdict import Verdict

BEGINNING = datetime.min.replace(tzinfo=UTC)
"""When the turn of the first member comes."""


class Step(NamedTuple):
    """A member as its turn found it.

    Attributes:
        scope: what it may count; nothing before its turn has come.
        begins: when its turn comes; None while the moment is not in scope.
        done: when it came to hold; in the future where that is only a matter of time.
    """

    trigger: Trigger
    path: str
    scope: Scope
    judged: Judged
    begins: datetime | None
    done: datetime | None


def steps(trigger: Composite, path: str, scope: Scope, member: Member) -> Iterator[Step]:
    """The members one after the other; the first cannot be done by waiting before anything has come."""
    begins: datetime | None = BEGINNING
    shown = scope
    for index, inner in enumerate(trigger.of):
        inner_path = child_path(path, index)
        judged = member(inner, inner_path, shown)
        holds = judged.spans
        if index == 0 and waits(inner):
            holds = overlap((holds, union((*judged.evidence(), *_came(path, scope)))), 2)
        done = None if begins is None else first_from(holds, begins)
        yield Step(inner, inner_path, shown, judged, begins, done)
        begins = done
        shown = scope.after(FOREVER if done is None else done)


def judge(trigger: Composite, path: str, scope: Scope, member: Member) -> Judged:
    """See `scheduler.decision.triggers.tree`."""
    found = tuple(steps(trigger, path, scope, member))
    spans = always_from(found[-1].done)

    def evidence() -> Spans:
        # What a member rests on that is done, it has from the moment at which the first one was.
        return union((*_came(path, scope), *found[0].judged.evidence(), *always_from(found[0].done)))

    def explain(as_of: datetime) -> Verdict:
        parts = tuple(_explained(step, as_of) for step in found)
        done = sum(part.met for part in parts)
        summary = f"{done} of {len(parts)} members held one after the other"
        waits_for_quiet = done == len(parts) - 1 and parts[-1].reason is Reason.W_QUIET
        reason = Reason.W_QUIET if waits_for_quiet else None
        return verdict_on(trigger, spans, as_of, summary, parts=parts, reason=reason)

    return Judged(spans=spans, evidence=evidence, explain=explain)


def _came(path: str, scope: Scope) -> Spans:
    """When something that came for any member counted, whether or not it was its turn."""
    return union(
        span for leaf in scope.leaves_below(path) for span in evidence_of(leaf, scope.at(leaf), scope)
    )


def _explained(step: Step, as_of: datetime) -> Verdict:
    """A member's verdict: as of the moment at which it was done, or before its turn unmet."""
    if step.done is None or step.done > as_of:
        verdict = step.judged.explain(as_of)
        if step.begins is not None and step.begins <= as_of:
            return verdict
        waits = f"{verdict.summary}; its turn comes after the member before it"
        return msgspec.structs.replace(verdict, met=False, since=None, reason=None, summary=waits)
    holds_still = span_at(step.judged.spans, as_of) is not None
    verdict = step.judged.explain(as_of if holds_still else step.done)
    return msgspec.structs.replace(verdict, since=step.done)
