"""`sequence`: satisfied when its members have held one after the other.

A member counts only arrivals strictly later than the instant at which the member before it started
to hold. It has to hold once; later changes to it do not matter.
"""

from collections.abc import Iterator
from dataclasses import replace
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
from tidegate.scheduler.model.verdict import Count, Verdict

BEGINNING = datetime.min.replace(tzinfo=UTC)
"""When the turn of the first member begins."""


class Step(NamedTuple):
    """A member, evaluated in its turn.

    Attributes:
        scope: the arrivals that it may count; none before its turn.
        begins: when its turn begins; None while that is not known.
        done: when it starts to hold; in the future if only time is missing.
    """

    trigger: Trigger
    path: str
    scope: Scope
    judged: Judged
    begins: datetime | None
    done: datetime | None


def steps(trigger: Composite, path: str, scope: Scope, member: Member) -> Iterator[Step]:
    """Evaluate the members in order; the first cannot hold by waiting before an event has arrived."""
    begins: datetime | None = BEGINNING
    # Of a repair too each member counts from when it held: what was done in turn stays done.
    shown = scope = replace(scope, collected=msgspec.structs.replace(scope.collected, begins=None))
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
    found = tuple(steps(trigger, path, scope, member))
    spans = always_from(found[-1].done)

    def evidence() -> Spans:
        # The evidence of the members that are done counts from the instant at which the first one was done.
        return union((*_came(path, scope), *found[0].judged.evidence(), *always_from(found[0].done)))

    def explain(as_of: datetime) -> Verdict:
        parts = tuple(_explained(step, as_of) for step in found)
        done = sum(part.met for part in parts)
        summary = f"{done} of {len(parts)} members held one after the other"
        count = Count(done, len(parts), "members")
        waits_for_quiet = done == len(parts) - 1 and parts[-1].reason is Reason.W_QUIET
        reason = Reason.W_QUIET if waits_for_quiet else None
        return verdict_on(trigger, spans, as_of, summary, parts=parts, reason=reason, count=count)

    return Judged(spans=spans, evidence=evidence, explain=explain)


def _came(path: str, scope: Scope) -> Spans:
    """Return when any member's deliveries count, in or out of turn."""
    if scope.collected.tally is not None:
        return always_from(scope.collected.tally.came.get(path))
    return union(
        span for leaf in scope.leaves_below(path) for span in evidence_of(leaf, scope.at(leaf), scope)
    )


def _explained(step: Step, as_of: datetime) -> Verdict:
    """Return a member's verdict: as of the instant at which it was done, or unmet before its turn."""
    if step.done is None or step.done > as_of:
        verdict = step.judged.explain(as_of)
        if step.begins is not None and step.begins <= as_of:
            return verdict
        waits = f"{verdict.summary}; its turn comes after the member before it"
        return msgspec.structs.replace(verdict, met=False, since=None, reason=None, summary=waits)
    holds_still = span_at(step.judged.spans, as_of) is not None
    verdict = step.judged.explain(as_of if holds_still else step.done)
    return msgspec.structs.replace(verdict, since=step.done)
