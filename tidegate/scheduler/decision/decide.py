"""Decide: what becomes of one waiting job at one instant.

This is the only place where Tidegate chooses. It is a pure function of a job view and an instant,
and the tick, the scenarios, `why` and the replay all call it, so they cannot disagree. It acts
on nothing: the answer is a value which `scheduler.tick.tick` writes down.
"""

from datetime import datetime

import msgspec

from tidegate.domain.value import Value
from tidegate.scheduler.decision.constraints import check_all, overridable
from tidegate.scheduler.decision.job_view import JobView
from tidegate.scheduler.decision.timeout import deadline as deadline_of
from tidegate.scheduler.decision.triggers import dropped, evaluate
from tidegate.scheduler.decision.triggers.collected import Collected, collected
from tidegate.scheduler.model.event import Delivery
from tidegate.scheduler.model.job import ByHand, JobState
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.verdict import Verdict, earliest


class Wait(Value, kw_only=True):
    """Leave the job where it is and look again.

    Attributes:
        dropped: what it had collected and is now too old for its `collect_within`; whoever writes the
            decision down takes these out of the job.
    """

    state: JobState
    reason: Reason
    next_check: datetime | None
    blocked_on: str | None = None
    dropped: tuple[Delivery, ...] = ()


class Discard(Value, kw_only=True):
    """Give the job up."""

    reason: Reason


class Launch(Value, kw_only=True):
    """Launch the job. `overridden` names the waiting constraints that a timeout or a person overrode."""

    overridden: tuple[Reason, ...] = ()


Outcome = Wait | Discard | Launch


class Decision(Value, kw_only=True):
    """The outcome, and the verdicts it rests on.

    Attributes:
        satisfied_at: when the trigger was satisfied, None while it is not.
        deadline: when the timeout strikes, None while its clock has not begun, or stands still.
    """

    outcome: Outcome
    satisfied_at: datetime | None
    deadline: datetime | None
    trigger: Verdict
    constraints: tuple[Verdict, ...]


def decide(view: JobView, now: datetime) -> Decision:
    """What becomes of the job at `now`.

    The order is rule 4: trigger, then the constraints that wait, then those that skip,
    which are judged only at the moment all else holds. The constraints are judged before the
    timeout (rule 14), and a timeout or a person never overrides concurrency (rules 5 and 17).
    While its suspended schedule holds the job, it is not launched, and its timeout stands still.
    """
    has = collected(view)
    trigger = evaluate(view.schedule.trigger, has, now)
    satisfied_at = view.job.satisfied_at or (trigger.since if trigger.met else None)
    view = msgspec.structs.replace(view, job=msgspec.structs.replace(view.job, satisfied_at=satisfied_at))
    constraints = check_all(view, now)
    deadline = deadline_of(
        view.schedule.timeout, view.job, held=any(verdict.kind == "held" for verdict in constraints)
    )
    if satisfied_at is None:
        outcome = _unsatisfied(view, has, trigger, deadline, now)
    else:
        outcome = _constrained(view, constraints, deadline, now)
    return Decision(
        outcome=outcome,
        satisfied_at=satisfied_at,
        deadline=deadline,
        trigger=trigger,
        constraints=constraints,
    )


def _unsatisfied(
    view: JobView, has: Collected, trigger: Verdict, deadline: datetime | None, now: datetime
) -> Outcome:
    """A half-collected job ages only when its timeout counts from the first event (rule 20)."""
    if deadline is not None and now >= deadline:
        return Discard(reason=Reason.D_TIMEOUT)
    return Wait(
        state=JobState.PENDING_TRIGGER,
        reason=trigger.reason or Reason.W_TRIGGER,
        next_check=earliest((trigger.next_check, deadline)),
        dropped=dropped(view.schedule.trigger, has, now),
    )


def _constrained(
    view: JobView, constraints: tuple[Verdict, ...], deadline: datetime | None, now: datetime
) -> Outcome:
    unmet = tuple(verdict for verdict in constraints if not verdict.met)
    forced: tuple[Verdict, ...] = ()
    if view.job.by_hand is ByHand.FORCE:
        forced = tuple(verdict for verdict in unmet if overridable(verdict))
        unmet = tuple(verdict for verdict in unmet if not overridable(verdict))
    waits = tuple(verdict for verdict in unmet if verdict.discard is None)
    skips = tuple(verdict.discard for verdict in unmet if verdict.discard is not None)
    late = deadline is not None and now >= deadline
    if waits and not late:
        return _wait(waits, deadline)
    if waits and view.schedule.timeout.then == "discard":
        return Discard(reason=Reason.D_TIMEOUT)
    full = tuple(verdict for verdict in waits if not overridable(verdict))
    if full:
        return _wait(full, None)
    if skips:
        return Discard(reason=skips[0])
    return Launch(overridden=_reasons((*forced, *waits)))


def _wait(unmet: tuple[Verdict, ...], deadline: datetime | None) -> Wait:
    """Waits for the first unmet constraint, and looks again as soon as any of them may change.

    All that are blocked on a slot are woken by the first one's resource: a job needs every one
    of them, so the others cannot let it go before that one does.
    """
    return Wait(
        state=JobState.PENDING_CONSTRAINT,
        reason=_reasons(unmet)[0],
        next_check=earliest((*(verdict.next_check for verdict in unmet), deadline)),
        blocked_on=next((v.blocked_on for v in unmet if v.blocked_on is not None), None),
    )


def _reasons(unmet: tuple[Verdict, ...]) -> tuple[Reason, ...]:
    return tuple(verdict.reason for verdict in unmet if verdict.reason is not None)
