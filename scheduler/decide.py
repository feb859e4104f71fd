"""Decide: what becomes of one waiting job at one instant.

This is the only place where Tidegate chooses. It is a pure function of a slice and an instant,
and the tick, the scenarios, `why` and the replay all call it, so they cannot disagree. It acts
on nothing: the answer is a value which `scheduler.tick` writes down.
"""

from datetime import datetime

import msgspec

from compiler.value import Value
from scheduler.constraints import check_all
from scheduler.job import ByHand, JobState
from scheduler.reason import Reason
from scheduler.slice import Slice
from scheduler.triggers import evaluate
from scheduler.triggers.collected import collected
from scheduler.verdict import Verdict, earliest


class Wait(Value, kw_only=True):
    """Leave the job where it is and look again."""

    state: JobState
    reason: Reason
    next_check: datetime | None
    blocked_on: str | None = None


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
        deadline: when the timeout strikes, None while its clock has not begun.
    """

    outcome: Outcome
    satisfied_at: datetime | None
    deadline: datetime | None
    trigger: Verdict
    constraints: tuple[Verdict, ...]


def decide(part: Slice, now: datetime) -> Decision:
    """What becomes of the slice's job at `now`.

    The order is DESIGN rule 4: trigger, then the constraints that wait, then those that skip,
    which are judged only at the moment all else holds. The constraints are judged before the
    timeout (rule 14), and a timeout or a person never overrides concurrency (rules 5 and 17).
    """
    trigger = evaluate(part.schedule.trigger, collected(part), now)
    satisfied_at = part.job.satisfied_at or (trigger.since if trigger.met else None)
    part = msgspec.structs.replace(part, job=msgspec.structs.replace(part.job, satisfied_at=satisfied_at))
    deadline = _deadline(part)
    constraints = check_all(part, now)
    if satisfied_at is None:
        outcome = _unsatisfied(trigger, deadline, now)
    else:
        outcome = _constrained(part, constraints, deadline, now)
    return Decision(
        outcome=outcome,
        satisfied_at=satisfied_at,
        deadline=deadline,
        trigger=trigger,
        constraints=constraints,
    )


def _deadline(part: Slice) -> datetime | None:
    timeout = part.schedule.timeout
    start = part.job.satisfied_at
    if timeout.from_ == "first_event" and part.job.first_event_at is not None:
        start = part.job.first_event_at
    return None if start is None else start + timeout.after


def _unsatisfied(trigger: Verdict, deadline: datetime | None, now: datetime) -> Outcome:
    """A half-collected job ages only when its timeout counts from the first event (rule 20)."""
    if deadline is not None and now >= deadline:
        return Discard(reason=Reason.D_TIMEOUT)
    return Wait(
        state=JobState.PENDING_TRIGGER,
        reason=Reason.W_TRIGGER,
        next_check=earliest((trigger.next_check, deadline)),
    )


def _constrained(
    part: Slice, constraints: tuple[Verdict, ...], deadline: datetime | None, now: datetime
) -> Outcome:
    unmet = tuple(verdict for verdict in constraints if not verdict.met)
    forced: tuple[Verdict, ...] = ()
    if part.job.by_hand is ByHand.FORCE:
        forced = tuple(verdict for verdict in unmet if verdict.kind != "concurrency")
        unmet = tuple(verdict for verdict in unmet if verdict.kind == "concurrency")
    waits = tuple(verdict for verdict in unmet if verdict.discard is None)
    skips = tuple(verdict for verdict in unmet if verdict.discard is not None)
    late = deadline is not None and now >= deadline
    if waits and not late:
        return _wait(waits, deadline)
    if waits and part.schedule.timeout.then == "discard":
        return Discard(reason=Reason.D_TIMEOUT)
    full = tuple(verdict for verdict in waits if verdict.kind == "concurrency")
    if full:
        return _wait(full, None)
    for verdict in skips:
        if verdict.discard is not None:
            return Discard(reason=verdict.discard)
    return _launch((*forced, *waits))


def _launch(overridden: tuple[Verdict, ...]) -> Launch:
    return Launch(overridden=tuple(v.reason for v in overridden if v.reason is not None))


def _wait(unmet: tuple[Verdict, ...], deadline: datetime | None) -> Wait:
    """Waits for the first unmet constraint, and looks again as soon as any of them may change.

    All that are blocked on a slot are woken by the first one's resource: a job needs every one
    of them, so the others cannot let it go before that one does.
    """
    first = unmet[0]
    if first.reason is None:
        raise ValueError(f"an unmet constraint without a reason: {first}")
    return Wait(
        state=JobState.PENDING_CONSTRAINT,
        reason=first.reason,
        next_check=earliest((*(verdict.next_check for verdict in unmet), deadline)),
        blocked_on=next((v.blocked_on for v in unmet if v.blocked_on is not None), None),
    )
