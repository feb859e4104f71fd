"""`quiet`: the trigger holds only after a time without new arrivals.

The time counts from the last arrival below it. If nothing new came for that long before the trigger would
hold without it, it holds at once; else every arrival starts the time again, at most until
`quiet_at_most` after that instant. An arrival at the very end of the quiet time does not extend it.
"""

from datetime import datetime, timedelta

import msgspec

from tidegate.domain.duration import duration_text
from tidegate.domain.model import Trigger
from tidegate.scheduler.decision.triggers.collected import Scope
from tidegate.scheduler.decision.triggers.judged import Judged
from tidegate.scheduler.decision.triggers.spans import always_from, next_start, span_at, union
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.verdict import Verdict


def with_quiet(trigger: Trigger, path: str, scope: Scope, inner: Judged) -> Judged:
    """Apply the `quiet` of a trigger.

    Args:
        inner: the same trigger without it.
    """
    if trigger.quiet is None:
        return inner
    quiet = duration_text(trigger.quiet)
    begun = inner.spans[0].start if inner.spans else None
    if begun is not None and scope.collected.begins is not None:
        # What held before a repair began does not end the quiet of the repair.
        begun = max(begun, scope.collected.begins)
    end = None if begun is None else quiet_end(trigger.quiet, trigger.quiet_at_most, begun, path, scope)
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
            summary=f"{verdict.summary}; waits for {quiet} without new events, until {end.isoformat()}",
        )

    # From the instant at which only `quiet` is missing, the arrivals up to it are evidence.
    return Judged(
        spans=spans, evidence=lambda: union((*inner.evidence(), *always_from(begun))), explain=explain
    )


def quiet_end(
    quiet: timedelta, at_most: timedelta | None, begun: datetime, path: str, scope: Scope
) -> datetime:
    """Return the end of the quiet time, by the known arrivals.

    Args:
        begun: when the trigger started to hold without its `quiet`.
        path: of the trigger; every arrival below it counts.
    """
    tally = scope.collected.tally
    arrivals = scope.arrivals_below(path) if tally is None else ()
    last = begun if tally is None else tally.last.get(path, begun)
    last = max((arrival for arrival in arrivals if arrival <= begun), default=last)
    for arrival in arrivals:
        if arrival >= max(last + quiet, begun):
            break
        last = max(last, arrival)
    end = max(last + quiet, begun)
    return end if at_most is None else min(end, begun + at_most)
