"""The kinds of constraints, one file each: does it hold now, and if not, when to look again.

A new kind is one new file here and one line in `KINDS`, whose order is the order of the
checks (DESIGN rule 4); its YAML form is a file of the same name in `compiler/constraints/`.
A check is a pure function of the slice and the instant. Last of all comes `held`, which no
YAML names.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Any

import msgspec

from compiler.model import (
    ConcurrencyConstraint,
    Constraint,
    DelayConstraint,
    LoadConstraint,
    RateConstraint,
    SinceLastRunConstraint,
    WindowConstraint,
)
from scheduler.constraints import concurrency, delay, held, load, rate, since_last_run, window
from scheduler.reason import Reason
from scheduler.slice import Slice
from scheduler.verdict import Verdict


class Kind(msgspec.Struct, frozen=True):
    """A kind of constraint: its check, and the codes of those who wait for it or are given up for it."""

    check: Callable[[Any, Slice, datetime], Verdict]
    waits: Reason
    discards: Reason


KINDS: dict[type, Kind] = {
    DelayConstraint: Kind(delay.check, Reason.W_DELAY, Reason.D_DELAY),
    WindowConstraint: Kind(window.check, Reason.W_WINDOW, Reason.D_WINDOW),
    SinceLastRunConstraint: Kind(since_last_run.check, Reason.W_LAST_RUN, Reason.D_LAST_RUN),
    RateConstraint: Kind(rate.check, Reason.W_RATE, Reason.D_RATE),
    LoadConstraint: Kind(load.check, Reason.W_LOAD, Reason.D_LOAD),
    ConcurrencyConstraint: Kind(concurrency.check, Reason.W_CONCURRENCY, Reason.D_CONCURRENCY),
}

ORDER = tuple(KINDS)


def check_all(part: Slice, now: datetime) -> tuple[Verdict, ...]:
    """The verdict on each constraint of a slice's schedule, in the order of the checks."""
    ordered = sorted(part.schedule.constraints, key=lambda c: ORDER.index(type(c)))
    verdicts = tuple(_check(constraint, part, now) for constraint in ordered)
    holding = held.check(part)
    return verdicts if holding is None else (*verdicts, holding)


def _check(constraint: Constraint, part: Slice, now: datetime) -> Verdict:
    kind = KINDS[type(constraint)]
    verdict = kind.check(constraint, part, now)
    if verdict.met:
        return msgspec.structs.replace(verdict, at=constraint.at)
    discard = kind.discards if constraint.otherwise == "skip" else None
    return msgspec.structs.replace(verdict, at=constraint.at, reason=kind.waits, discard=discard)
