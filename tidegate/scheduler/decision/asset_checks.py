"""Checks of assets: what a fact of Dagster's log makes of the withheld event of a partition. Pure.

Facts come in any order and more than once: the newest materialisation of a partition counts, and of each
check the newest evaluation that aims at it.
"""

from collections.abc import Mapping
from datetime import datetime

import msgspec

from tidegate.domain.value import Value
from tidegate.scheduler.model.event import NO_SCHEDULE, Event
from tidegate.scheduler.model.records.withheld import CheckResult, WithheldEvent


class Evaluated(Value, kw_only=True):
    """A check was evaluated.

    Attributes:
        dataset: "app/name" of the asset that was checked.
        partition: the partition that was checked; None for a check of the whole asset.
        target: run and instant of the materialisation at which it aims; None where it says none.
    """

    dataset: str
    check: str
    partition: str | None
    target: tuple[str, datetime] | None
    result: CheckResult


class Materialised(Value, kw_only=True):
    """A partition was materialised.

    Attributes:
        dataset: "app/name".
        event: of the materialisation.
        at: when, as Dagster's log has it.
        planned: the checks of the asset that its run had planned for the partition.
        evaluated: what the run has evaluated so far.
        ended: its run has ended.
    """

    dataset: str
    event: Event
    at: datetime
    planned: tuple[str, ...] = ()
    evaluated: tuple[Evaluated, ...] = ()
    ended: bool = False


class RunEnded(Value, kw_only=True):
    """A run has ended, with all that it has evaluated."""

    run_id: str
    evaluated: tuple[Evaluated, ...] = ()


CheckFact = Materialised | Evaluated | RunEnded


def materialised(known: WithheldEvent | None, fact: Materialised, now: datetime) -> WithheldEvent:
    """Return the record of a partition after a materialisation; an older one changes nothing.

    That of a backfill which starts no schedule is over at once: its event never comes.
    """
    event = fact.event
    if known is not None and (known.materialised_at > fact.at or _is_over(known, event.id)):
        return known
    if known is None or known.event != event.id:
        known = WithheldEvent(
            dataset=fact.dataset,
            partition=event.partition or "",
            event=event.id,
            materialised_at=fact.at,
            time=event.time,
            bytes=event.bytes,
            rows=event.rows,
            run_id=event.run_id,
            detail=event.detail,
            checks={name: CheckResult() for name in fact.planned},
            withheld_since=now,
        )
    if event.only_for == NO_SCHEDULE:
        return msgspec.structs.replace(known, withheld_since=None, released_at=now)
    for each in fact.evaluated:
        known = evaluated(known, each)
    return msgspec.structs.replace(known, ended=known.ended or fact.ended)


def _is_over(known: WithheldEvent, event: str) -> bool:
    """Return whether the event of a record is this one, and was released."""
    return known.event == event and known.released_at is not None


def ended(known: WithheldEvent, fact: RunEnded) -> WithheldEvent:
    """Return the record of a partition after the end of the run that made it."""
    if known.released_at is not None:
        return known
    for each in fact.evaluated:
        known = evaluated(known, each)
    return msgspec.structs.replace(known, ended=True)


def evaluated(known: WithheldEvent, fact: Evaluated) -> WithheldEvent:
    """Return the record of a partition after an evaluation; one that aims at another changes nothing."""
    result, before = fact.result, known.checks.get(fact.check)
    if (
        known.released_at is not None
        or not aims_at(fact, known)
        or (before is None and result.run_id != known.run_id)
    ):
        return known
    if before is not None and before.at is not None and result.at is not None and result.at < before.at:
        return known
    checks: Mapping[str, CheckResult] = {**known.checks, fact.check: result}
    return msgspec.structs.replace(known, checks=checks)


def aims_at(fact: Evaluated, known: WithheldEvent) -> bool:
    """Return whether an evaluation is about the materialisation of a record.

    That of the same run is, whichever partition it aims at, unless it is of another partition. A later one is
    if it names the run and the instant of the materialisation, or its partition.
    """
    if fact.dataset != known.dataset or fact.partition not in (None, known.partition):
        return False
    if known.run_id and fact.result.run_id == known.run_id:
        return True
    if fact.partition is not None:
        return fact.result.at is None or fact.result.at >= known.materialised_at
    return fact.target == (known.run_id or "", known.materialised_at)
