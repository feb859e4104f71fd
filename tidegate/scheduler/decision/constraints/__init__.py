"""The kinds of constraints, one file each: whether it is met, and if not, when to check again.

A new kind is one new file here and one line in `KINDS`, whose order is the order of the checks
(rule 4); its YAML form is a line in `tidegate/compiler/constraints/`. A check is a
pure function of the job view and the instant. The first check, `retry`, and the last one, `held`, are not
constraints of the YAML, nor are `location` and `partition`. For an instance of a task `held` is checked
second.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Any

import msgspec

from tidegate.domain.model import (
    ConcurrencyConstraint,
    Constraint,
    DelayConstraint,
    LoadConstraint,
    RateConstraint,
    SinceLastRunConstraint,
    WindowConstraint,
)
from tidegate.scheduler.decision.constraints import (
    concurrency,
    delay,
    held,
    load,
    obstacle,
    partition,
    rate,
    retry,
    since_last_run,
    window,
)
from tidegate.scheduler.decision.view.job_view import JobView
from tidegate.scheduler.model.queue import Needs
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.verdict import Verdict


class Kind(msgspec.Struct, frozen=True):
    """A kind of constraint: its check, and the codes of the jobs that wait for it or are discarded by it.

    Attributes:
        needs: of a kind that counts slots, the resource and its limit.
        overridable: whether a timeout with `then: run`, or a person who forces the job, overrides it.
    """

    check: Callable[[Any, JobView, datetime], Verdict]
    waits: Reason
    discards: Reason
    needs: Callable[[Any, JobView], tuple[str, int] | None] | None = None
    overridable: bool = True


KINDS: dict[type, Kind] = {
    DelayConstraint: Kind(delay.check, Reason.W_DELAY, Reason.D_DELAY),
    WindowConstraint: Kind(window.check, Reason.W_WINDOW, Reason.D_WINDOW),
    SinceLastRunConstraint: Kind(
        since_last_run.check, Reason.W_LAST_RUN, Reason.D_LAST_RUN, since_last_run.needs
    ),
    RateConstraint: Kind(rate.check, Reason.W_RATE, Reason.D_RATE),
    LoadConstraint: Kind(load.check, Reason.W_LOAD, Reason.D_LOAD, load.needs),
    ConcurrencyConstraint: Kind(
        concurrency.check,
        Reason.W_CONCURRENCY,
        Reason.D_CONCURRENCY,
        concurrency.needs,
        overridable=False,
    ),
}

ORDER = tuple(KINDS)

COUNTING_RUNS = frozenset({"since_last_run", "rate", "load", "location", "concurrency", "partition"})
"""Constraints that may be unmet again once a launch is decided: by another job, or by a location."""

# A person who triggers the job ends its pause; one who forced an earlier attempt does not.
_NEVER_OVERRIDDEN = {
    Reason.W_RETRY,
    Reason.W_PARTITION,
    Reason.W_LOCATION,
    Reason.W_HOST,
    *(kind.waits for kind in KINDS.values() if not kind.overridable),
}


def check_all(view: JobView, now: datetime) -> tuple[Verdict, ...]:
    """Return the verdict on each constraint of the schedule, in the order of the checks."""
    ordered = sorted(view.schedule.constraints, key=lambda c: ORDER.index(type(c)))
    verdicts = [_check(constraint, view, now) for constraint in ordered]
    in_the_way = obstacle.check(view)
    if in_the_way is not None:
        slots = next((i for i, each in enumerate(verdicts) if each.kind == "concurrency"), len(verdicts))
        verdicts.insert(slots, in_the_way)
    again, holding, apart = retry.check(view, now), held.check(view), partition.check(view)
    if view.job.instance is not None:
        return tuple(each for each in (again, holding, *verdicts, apart) if each is not None)
    return tuple(each for each in (again, *verdicts, apart, holding) if each is not None)


def needs_of(view: JobView, *, forced: bool, skips: bool = False) -> Needs:
    """Return the slots that a job needs for its launch, each with the limit at which its resource is full.

    They count also where there is room at the moment: it may be gone when the slot comes that the job lacks.

    Args:
        forced: a person or a timeout overrides the constraints that can be overridden.
        skips: whether constraints that say `skip` keep the job waiting too.
    """
    found: list[tuple[str, int] | None] = []
    for constraint in view.schedule.constraints:
        kind = KINDS[type(constraint)]
        waits = skips or constraint.otherwise == "wait"
        if kind.needs is not None and waits and not (forced and kind.overridable):
            found.append(kind.needs(constraint, view))
    return tuple(each for each in found if each is not None)


def overridable(unmet: Verdict) -> bool:
    """Return whether a timeout or a person may override an unmet constraint."""
    return unmet.reason not in _NEVER_OVERRIDDEN


def _check(constraint: Constraint, view: JobView, now: datetime) -> Verdict:
    kind = KINDS[type(constraint)]
    verdict = kind.check(constraint, view, now)
    if verdict.met:
        return msgspec.structs.replace(verdict, at=constraint.at)
    discard = kind.discards if constraint.otherwise == "skip" else None
    return msgspec.structs.replace(verdict, at=constraint.at, reason=kind.waits, discard=discard)
