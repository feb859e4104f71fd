"""Within the constraints: what becomes of a job whose trigger is satisfied.

The order is rule 4: the constraints that wait, then those that skip. Pure.
"""

from datetime import datetime

from tidegate.scheduler.decision.constraints import needs_of, overridable
from tidegate.scheduler.decision.outcome import Discard, Launch, Outcome, Wait
from tidegate.scheduler.decision.view.job_view import JobView
from tidegate.scheduler.model.job import ByHand, JobState
from tidegate.scheduler.model.queue import Needs
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.verdict import Verdict, earliest


def decide_constrained(
    view: JobView, constraints: tuple[Verdict, ...], deadline: datetime | None, now: datetime
) -> Outcome:
    """Return the outcome for a job whose trigger is satisfied.

    Args:
        constraints: the verdicts on all its constraints.
        deadline: when it times out; None while its timeout is paused.
    """
    unmet = tuple(verdict for verdict in constraints if not verdict.met)
    forced: tuple[Verdict, ...] = ()
    if view.job.by_hand is ByHand.FORCE:
        forced = tuple(verdict for verdict in unmet if overridable(verdict))
        unmet = tuple(verdict for verdict in unmet if not overridable(verdict))
    waits = tuple(verdict for verdict in unmet if verdict.discard is None)
    skips = tuple(verdict.discard for verdict in unmet if verdict.discard is not None)
    late = deadline is not None and now >= deadline
    if waits and not late:
        by_force = view.job.by_hand is ByHand.FORCE
        discards = view.schedule.timeout.then == "discard"
        return wait_for(waits, deadline, needs_of(view, forced=by_force), discards=discards)
    if waits and view.schedule.timeout.then == "discard":
        return Discard(reason=Reason.D_TIMEOUT, since=deadline)
    full = tuple(verdict for verdict in waits if not overridable(verdict))
    if full:
        return wait_for(full, None, needs_of(view, forced=True))
    if skips:
        # What a timeout has overridden would have been skipped at the deadline.
        return Discard(reason=skips[0], since=deadline if waits else now)
    return Launch(overridden=_reasons((*forced, *waits)))


def wait_for(
    unmet: tuple[Verdict, ...], deadline: datetime | None, needs: Needs, *, discards: bool = False
) -> Wait:
    """Wait for the first unmet constraint, and decide again as soon as any of them may change.

    Args:
        needs: the slots that the launch needs (`needs_of`); the job waits in their queue.
        discards: at the deadline the job is discarded, not launched.
    """
    partitions = tuple((v.blocked_on, 1) for v in unmet if v.kind == "partition" and v.blocked_on is not None)
    return Wait(
        state=JobState.PENDING_CONSTRAINT,
        reason=_reasons(unmet)[0],
        next_check=earliest((*(verdict.next_check for verdict in unmet), deadline)),
        blocked_on=next((v.blocked_on for v in unmet if v.blocked_on is not None), None),
        needs=(*needs, *partitions),
        discarded_at=deadline if discards else None,
    )


def _reasons(unmet: tuple[Verdict, ...]) -> tuple[Reason, ...]:
    return tuple(verdict.reason for verdict in unmet if verdict.reason is not None)
