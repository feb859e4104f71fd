"""Decide about an instance: the gate in place of the trigger, then the constraints of every job.

    gate closed ──► Not Run               gate open, nothing to run ──► Successful
    timeout     ──► Failed (D-TIMEOUT)    gate open                 ──► as `scheduler.decision.decide` says

Pure.
"""

from datetime import datetime

import msgspec

from tidegate.scheduler.decision.constraints import check_all, held
from tidegate.scheduler.decision.instances.gate import gate, launches, reporting_event
from tidegate.scheduler.decision.outcome import Decision, Discard, Outcome, Pass, Wait
from tidegate.scheduler.decision.timeout import deadline as deadline_of
from tidegate.scheduler.decision.view.job_view import JobView
from tidegate.scheduler.decision.within import decide_constrained
from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.verdict import Verdict, earliest


def decide_instance(view: JobView, now: datetime) -> Decision:
    """Decide about an instance at `now`; see `scheduler.decision.decide`."""
    trigger = gate(view, now)
    satisfied_at = view.job.satisfied_at or (now if trigger.met else None)
    instance = msgspec.structs.replace(view.job.of_task, began=began_at(view, now))
    job = msgspec.structs.replace(view.job, satisfied_at=satisfied_at, instance=instance)
    view = msgspec.structs.replace(view, job=job)
    deadline = deadline_of(view.schedule.timeout, view.job, held=held.check(view) is not None)
    constraints = check_all(view, now)
    return Decision(
        outcome=_outcome(view, trigger, constraints, deadline, now),
        satisfied_at=satisfied_at,
        deadline=deadline,
        trigger=trigger,
        constraints=constraints,
    )


def began_at(view: JobView, now: datetime) -> datetime | None:
    """Return when the lot of an instance of a backfill began; None before that, and of other instances."""
    instance = view.job.of_task
    waits = view.job.satisfied_at is None and any(each.lot for each in view.upstream)
    return instance.began or (now if instance.number and not waits else None)


def _outcome(
    view: JobView,
    trigger: Verdict,
    constraints: tuple[Verdict, ...],
    deadline: datetime | None,
    now: datetime,
) -> Outcome:
    if view.job.satisfied_at is not None:
        if launches(view):
            return decide_constrained(view, constraints, deadline, now)
        return Pass(event=reporting_event(view, now))
    # A timeout overrides constraints, but never an upstream instance.
    ends = deadline if view.schedule.timeout.then == "discard" else None
    if ends is not None and now >= ends:
        return Discard(reason=Reason.D_TIMEOUT)
    return Wait(
        state=JobState.PENDING_TRIGGER,
        reason=trigger.reason or Reason.W_UPSTREAM,
        next_check=earliest((trigger.next_check, ends)),
        discarded_at=ends,
        blocked_on=trigger.blocked_on,
    )
