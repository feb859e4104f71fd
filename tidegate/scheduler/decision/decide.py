"""Decide: wait, discard or launch, for one waiting job at one instant.

This is the only place that decides. It is a pure function of a job view and an instant; the tick,
the scenarios, `why` and the replay all call it, so they cannot disagree. It changes nothing: the
decision is a value (`scheduler.decision.outcome`).
"""

from datetime import datetime

import msgspec

from tidegate.scheduler.decision.constraints import COUNTING_RUNS, check_all, held, needs_of, overridable
from tidegate.scheduler.decision.instances.decide import decide_instance
from tidegate.scheduler.decision.outcome import Decision, Discard, Launch, Outcome, Wait
from tidegate.scheduler.decision.repairs import as_repair
from tidegate.scheduler.decision.timeout import deadline as deadline_of
from tidegate.scheduler.decision.triggers import dropped, evaluate
from tidegate.scheduler.decision.triggers.collected import Collected, collected
from tidegate.scheduler.decision.view.job_view import JobView
from tidegate.scheduler.decision.within import decide_constrained, wait_for
from tidegate.scheduler.model.job import ByHand, JobState
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.verdict import Verdict, earliest


def decide(view: JobView, now: datetime) -> Decision:
    """Decide about the job at `now`.

    The order is rule 4: the trigger, then the constraints that wait, then those that skip, which
    count only once everything else is met. Constraints are checked before the timeout (rule
    14), and neither a timeout nor a person overrides concurrency (rules 5 and 17). A held job is not
    launched, and its timeout is paused. A timeout from the first event with `then: run` satisfies a
    trigger that is still not satisfied.
    """
    if view.job.instance is not None:
        return decide_instance(view, now)
    has = collected(view)
    trigger = as_repair(view.job, evaluate(view.schedule.trigger, has, now), now)
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
        outcome = decide_constrained(view, constraints, deadline, now)
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
    if not unmet:
        return Launch()
    return wait_for(unmet, None, needs_of(view, forced=forced, skips=True))


def _unsatisfied(
    view: JobView, has: Collected, trigger: Verdict, deadline: datetime | None, now: datetime
) -> Outcome:
    """Decide before the trigger is satisfied; a timeout applies only if it counts from the first event."""
    if deadline is not None and now >= deadline:
        return Discard(reason=Reason.D_TIMEOUT, since=deadline)
    gone = dropped(view.schedule.trigger, has, now)
    if gone and len(gone) == view.collected:
        return Discard(reason=Reason.D_EXPIRED, dropped=gone)
    return Wait(
        state=JobState.PENDING_TRIGGER,
        reason=trigger.reason or Reason.W_TRIGGER,
        next_check=earliest((trigger.next_check, deadline)),
        discarded_at=deadline if view.schedule.timeout.then == "discard" else None,
        dropped=gone,
    )
