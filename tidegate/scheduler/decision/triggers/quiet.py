"""`quiet`: the trigger holds only when nothing new has come for a while.

Once it would hold without it, every arrival below it starts the time anew, until `quiet_at_most`
after that moment. An arrival at the very end of the quiet time comes too late to prolong it.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

import msgspec

from tidegate.domain.model import Trigger
from tidegate.domain.time.duration import duration_text
from tidegate.scheduler.decision.triggers.collected import Scope
from tidegate.scheduler.decision.triggers.judged import Judged
from tidegate.scheduler.decision.triggers.spans import always_from, next_start, span_at, union
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.verdict import Verdict


def with_quiet(trigger: Trigger, path: str, scope: Scope, inner: Judged) -> Judged:
    """The trigger with its `quiet`.

    Args:
        inner: the same trigger without it.
    """
    if trigger.quiet is None:
        return inner
    quiet = duration_text(trigger.quiet)
    begun = inner.spans[0].start if inner.spans else None
    end = (
        None
        if begun is None
        else quiet_end(trigger.quiet, trigger.quiet_at_most, begun, scope.arrivals_below(path))
    )
    spans = always_from(end)

    def explain(as_of: datetime) -> Verdict:
        if begun is None or end is None or begun > as_of:
            verdict = inner.explain(as_of)
            coming = next_start(spans, as_of)
            return msgspec.structs.replace(verdict, next_check=coming, holds_at=coming)
        verdict = inner.explain(as_of if span_at(inner.spans, as_of) is not None else begun)
        if end <= as_of:
            return msgspec.structs.replace(
                verdict, since=end, summary=f"{verdict.summary}; was quiet for {quiet}"
            )
        return msgspec.structs.replace(
            verdict,
            met=False,
            since=None,
            next_check=end,
            holds_at=end,
            reason=Reason.W_QUIET,
            needs=f"nothing new for {quiet}",
            summary=f"{verdict.summary}; to be quiet for {quiet}, until {end.isoformat()} if nothing comes",
        )

    # From the moment at which it only has to be quiet it rests on what came until then.
    return Judged(
        spans=spans, evidence=lambda: union((*inner.evidence(), *always_from(begun))), explain=explain
    )


def quiet_end(
    quiet: timedelta, at_most: timedelta | None, begun: datetime, arrivals: Sequence[datetime]
) -> datetime:
    """When it has been quiet for long enough, as far as the arrivals tell.

    Args:
        begun: when the trigger came to hold without its `quiet`.
        arrivals: of everything below the trigger, in order.
    """
    last = begun
    for arrival in arrivals:
        if arrival >= last + quiet:
            break
        last = max(last, arrival)
    end = last + quiet
    return end if at_most is None else min(end, begun + at_most)
