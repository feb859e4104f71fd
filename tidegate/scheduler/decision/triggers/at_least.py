"""`at_least`: satisfied while at least a number of its members are; `all` and `any` are special cases.

A composite without any event is never satisfied: its members' waits alone are not enough (rule 16).
"""

from datetime import datetime
from functools import cache

from tidegate.domain.model import Composite, child_path
from tidegate.scheduler.decision.triggers.collected import Scope
from tidegate.scheduler.decision.triggers.judged import Judged, Member, verdict_on
from tidegate.scheduler.decision.triggers.spans import Spans, overlap, union
from tidegate.scheduler.decision.triggers.wait_at_most import waits
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.verdict import Count, Verdict


def judge(trigger: Composite, path: str, scope: Scope, member: Member) -> Judged:
    """Evaluate when enough members of a composite hold at once. See `scheduler.decision.triggers.tree`."""
    needed = trigger.needed
    members = tuple(member(inner, child_path(path, index), scope) for index, inner in enumerate(trigger.of))
    spans = overlap([each.spans for each in members], needed)

    @cache
    def evidence() -> Spans:
        return union(span for each in members for span in each.evidence())

    if spans and any(waits(inner) for inner in trigger.of):
        spans = overlap((spans, evidence()), 2)

    def explain(as_of: datetime) -> Verdict:
        parts = tuple(each.explain(as_of) for each in members)
        met = sum(part.met for part in parts)
        quiet = sum(part.reason is Reason.W_QUIET for part in parts)
        summary = f"{met} of {len(parts)} members hold"
        if needed < len(parts):
            summary += ", one is enough" if needed == 1 else f", {needed} are enough"
        count = Count(met, needed, "members")
        reason = Reason.W_QUIET if met < needed <= met + quiet else None
        return verdict_on(trigger, spans, as_of, summary, parts=parts, reason=reason, count=count)

    return Judged(spans=spans, evidence=evidence, explain=explain)
