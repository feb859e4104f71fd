"""Unblock: what a waiting job still needs, from the verdicts on its trigger and its constraints.

Each missing condition is one line for people, with the instant at which time alone satisfies it, if
it does, and the position in the YAML that requires it. Pure.
"""

from collections.abc import Iterator
from datetime import datetime

from tidegate.domain.model import At
from tidegate.domain.value import Value
from tidegate.scheduler.decision.outcome import Decision, Launch
from tidegate.scheduler.model.verdict import Verdict


class Missing(Value, kw_only=True):
    """One missing condition.

    Attributes:
        at: where the YAML has it.
        kind: of the trigger or constraint that is unmet.
        what: for example "1 more new partition of raw", or "a slot of group nightly".
        by: when time alone satisfies it, if no event arrives.
    """

    kind: str
    what: str
    by: datetime | None = None
    at: At | None = None


def missing(decision: Decision) -> tuple[Missing, ...]:
    """Return the missing conditions of a job, in the order of the checks; empty for one that may run."""
    found: list[Missing] = []
    if decision.satisfied_at is None:
        found += _of_trigger(decision.trigger)
    found += [missing_of(verdict) for verdict in decision.constraints if not verdict.met]
    return tuple(found)


def _of_trigger(verdict: Verdict) -> Iterator[Missing]:
    """Return the missing conditions of the unmet leaves, with the instant if time alone is missing."""
    if verdict.met:
        return
    if verdict.kind == "time":
        yield Missing(kind=verdict.kind, what="time", by=verdict.next_check, at=verdict.at)
    elif verdict.kind == "task":
        # What it needs is that of its parts.
        pass
    elif verdict.holds_at is not None:
        yield Missing(
            kind=verdict.kind,
            what="time, if no event arrives" if verdict.needs is None else verdict.needs,
            by=verdict.holds_at,
            at=verdict.at,
        )
    elif verdict.needs is not None:
        yield Missing(kind=verdict.kind, what=verdict.needs, at=verdict.at)
    for part in verdict.parts:
        yield from _of_trigger(part)


def missing_of(verdict: Verdict) -> Missing:
    """Return what an unmet constraint needs, or an unmet check of an operation on a table."""
    if verdict.needs is not None:
        what = verdict.needs
    elif verdict.next_check is not None:
        what = "time"
    elif verdict.blocked_on is not None:
        what = _freed(verdict.kind, verdict.blocked_on)
    else:
        what = verdict.summary
    return Missing(kind=verdict.kind, what=what, by=verdict.next_check, at=verdict.at)


def can_run_at(decision: Decision, now: datetime) -> datetime | None:
    """Return the next instant at which the job can run if only time is missing; else None."""
    if isinstance(decision.outcome, Launch):
        return now
    unmet = [verdict for verdict in decision.constraints if not verdict.met]
    instants = [verdict.next_check for verdict in unmet]
    if not decision.trigger.met and decision.satisfied_at is None:
        instants += _opens_at(decision.trigger)
    known = [instant for instant in instants if instant is not None]
    return max(known) if known and len(known) == len(instants) else None


def _opens_at(trigger: Verdict) -> list[datetime | None]:
    """Return when time alone satisfies a trigger; of an instance only its start time can be missing then."""
    if trigger.kind != "task":
        return [trigger.holds_at]
    return [part.next_check for part in trigger.parts if not part.met]


def _freed(kind: str, resource: str) -> str:
    """Describe the release of a resource: "program:a/p", "group:nightly", "runs", "gauge:cpu"."""
    sort, _, name = resource.partition(":")
    match kind, sort:
        case "partition", _:
            return f"the end of the other instance that writes {name}"
        case "concurrency", _:
            return f"a free slot of {sort} {name}"
        case _, "gauge":
            return f"a lower report of gauge {name}"
        case _, "program":
            return f"the end of the active run of {name}"
        case _:
            return "the end of an active run"
