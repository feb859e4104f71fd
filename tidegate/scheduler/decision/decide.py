"""Decide: wait, discard or launch, for one waiting job at one instant.

This is the only place that decides. It is a pure function of a job view and an instant; the tick,
the scenarios, `why` and the replay all call it, so they cannot disagree. It changes nothing: the
decision is a value, which `scheduler.tick.apply` writes.
"""

from datetime import datetime

import msgspec

from tidegate.domain.value import Value
from tidegate.scheduler.decision.constraints import COUNTING_RUNS, check_all, held, overridable
from tidegate.scheduler.decision.job_view import JobView
from tidegate.scheduler.decision.timeout import deadline as deadline_of
from tidegate.scheduler.decision.triggers import dropped, evaluate
from tidegate.scheduler.decision.triggers.collected import Collected, collected
from tidegate.scheduler.model.event import Delivery
from tidegate.scheduler.model.job import ByHand, JobState
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.verdict import Verdict, earliest


class Wait(Value, kw_only=True):
    """Keep the job waiting and decide again later.

    Attributes:
        dropped: collected events that are too old for their `collect_within`; the writer of the decision
            removes them from the job.
    """

    state: JobState
    reason: Reason
    next_check: datetime | None
    blocked_on: str | None = None
    dropped: tuple[Delivery, ...] = ()


class Discard(Value, kw_only=True):
    """Discard the job. `dropped` are as in `Wait`: all that the job has left."""

    reason: Reason
    dropped: tuple[Delivery, ...] = ()


class Launch(Value, kw_only=True):
    """Launch the job. `overridden` lists the unmet constraints that a timeout or a person overrode."""

    overridden: tuple[Reason, ...] = ()


Outcome = Wait | Discard | Launch


class Decision(Value, kw_only=True):
    """The outcome, and the verdicts that it follows from.

    Attributes:
        satisfied_at: when the trigger was satisfied; None while it is not.
        deadline: when the job times out; None while the timeout has not started or is paused.
    """

    outcome: Outcome
    satisfied_at: datetime | None
    deadline: datetime | None
    trigger: Verdict
    constraints: tuple[Verdict, ...]


def decide(view: JobView, now: datetime) -> Decision:
    """Decide about the job at `now`.

    The order is rule 4: the trigger, then the constraints that wait, then those that skip, which
    count only once everything else is met. Constraints are checked before the timeout (rule
    14), and neither a timeout nor a person overrides concurrency (rules 5 and 17). A held job is not
    launched, and its timeout is paused. A timeout from the first event with `then: run` satisfies a
    trigger that is still not satisfied.
    """
    has = collected(view)
    trigger = evaluate(view.schedule.trigger, has, now)
    satisfied_at = view.job.satisfied_at or (trigger.since if trigger.met else None)
    timeout = view.schedule.timeout
    if satisfied_at is None and timeout.then == "run":
        over = deadline_of(timeout, view.job, held=held.check(view) is not None)
        satisfied_at = over if over is not None and now >= over else None
    view = msgspec.structs.replace(view, job=msgspec.structs.replace(view.job, satisfied_at=satisfied_at))
    constraints = check_all(view, now)
    deadline = deadline_of(timeout, view.job, held=held.check(view) is not None)
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


def decide_again(view: JobView, now: datetime) -> Wait | Launch:
    """Decide when a job whose launch is decided, and that gave back its slots, takes them again.

    The decision to launch stays, so `delay`, `window` and `otherwise: skip` are not asked again. The
    constraints that count other runs are, since other jobs may have been launched in the meantime.
    """
    over = deadline_of(view.schedule.timeout, view.job, held=False)
    late = over is not None and now >= over and view.schedule.timeout.then == "run"
    forced = late or view.job.by_hand is ByHand.FORCE
    unmet = tuple(
        verdict
        for verdict in check_all(view, now)
        if not verdict.met and verdict.kind in COUNTING_RUNS and not (forced and overridable(verdict))
    )
    return _wait(unmet, None) if unmet else Launch()


def _unsatisfied(
    view: JobView, has: Collected, trigger: Verdict, deadline: datetime | None, now: datetime
) -> Outcome:
    """Decide before the trigger is satisfied; a timeout applies only if it counts from the first event."""
    if deadline is not None and now >= deadline:
        return Discard(reason=Reason.D_TIMEOUT)
    gone = dropped(view.schedule.trigger, has, now)
    if gone and len(gone) == len(view.deliveries):
        return Discard(reason=Reason.D_EXPIRED, dropped=gone)
    return Wait(
        state=JobState.PENDING_TRIGGER,
        reason=trigger.reason or Reason.W_TRIGGER,
        next_check=earliest((trigger.next_check, deadline)),
        dropped=gone,
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
    """Wait for the first unmet constraint, and decide again as soon as any of them may change.

    The first resource that blocks wakes the job: it needs all of them, so the others cannot help
    before that one.
    """
    return Wait(
        state=JobState.PENDING_CONSTRAINT,
        reason=_reasons(unmet)[0],
        next_check=earliest((*(verdict.next_check for verdict in unmet), deadline)),
        blocked_on=next((v.blocked_on for v in unmet if v.blocked_on is not None), None),
    )


def _reasons(unmet: tuple[Verdict, ...]) -> tuple[Reason, ...]:
    return tuple(verdict.reason for verdict in unmet if verdict.reason is not None)
