"""Withheld events: facts on checks are folded into the records of partitions, in the caller's transaction.

What nothing holds back is released: its event arrives, under the key to which `checks: passed` listens.
Folding a fact twice, by two processes or after a crash, changes nothing.
"""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime

import msgspec

from tidegate.scheduler.decision.asset_checks import (
    CheckFact,
    Evaluated,
    Materialised,
    RunEnded,
    ended,
    evaluated,
    materialised,
)
from tidegate.scheduler.intake.observe import heard_of_runs
from tidegate.scheduler.model.event import SUBSCRIPTIONS, Event, checked_event_key, dataset_of_key
from tidegate.scheduler.model.records.withheld import WITHHELD_EVENTS, WithheldEvent
from tidegate.scheduler.store.engine_rows import RecordRows
from tidegate.scheduler.store.protocol import EngineTransaction

Place = tuple[str, str]
"""A dataset and a partition of it."""


def waited_for(reader: RecordRows, datasets: Collection[str]) -> frozenset[str]:
    """Return those of some datasets ("app/name") for whose checks a schedule waits."""
    keys = [checked_event_key(dataset) for dataset in datasets]
    heard = reader.records(SUBSCRIPTIONS, event_key=keys) if keys else ()
    return frozenset(dataset_of_key(each.event_key) for each in heard)


def fold_checks(transaction: EngineTransaction, facts: Sequence[CheckFact], now: datetime) -> None:
    """Fold facts on materialisations and their checks; release what nothing holds back."""
    if not facts:
        return
    records = _Records(transaction, facts)
    made = heard_of_runs(transaction, [fact.event for fact in facts if isinstance(fact, Materialised)])
    events = {event.id: event for event in made}
    for fact in facts:
        match fact:
            case Materialised():
                place = (fact.dataset, fact.event.partition or "")
                whole = msgspec.structs.replace(fact, event=events[fact.event.id])
                records.put(materialised(records.found.get(place), whole, now))
            case Evaluated():
                for each in records.aimed_at_by(fact):
                    records.put(evaluated(each, fact))
            case RunEnded():
                for each in records.of_run(fact.run_id):
                    records.put(ended(each, fact))
    release(transaction, records.changed(), now)


def release(transaction: EngineTransaction, changed: Iterable[WithheldEvent], now: datetime) -> None:
    """Write changed records, and let the events of those that nothing holds back arrive."""
    kept: list[WithheldEvent] = []
    events: list[Event] = []
    for each in changed:
        if each.released_at is None and each.may_go:
            events.append(each.released(now))
            each = msgspec.structs.replace(each, withheld_since=None, released_at=now)
        kept.append(each)
    transaction.put_records(WITHHELD_EVENTS, kept)
    transaction.add_events(events)


class _Records:
    """The records that some facts may be about."""

    def __init__(self, reader: RecordRows, facts: Sequence[CheckFact]) -> None:
        self.found: dict[Place, WithheldEvent] = {}
        self._by_run: dict[str, set[Place]] = {}
        runs, partitions = _named(facts)
        for each in reader.records(WITHHELD_EVENTS, run_id=runs) if runs else ():
            self.put(each)
        for dataset, keys in partitions.items():
            for each in reader.records(WITHHELD_EVENTS, dataset=dataset, partition=keys):
                self.put(each)
        self._before = dict(self.found)

    def put(self, each: WithheldEvent) -> None:
        place = (each.dataset, each.partition)
        self.found[place] = each
        self._by_run.setdefault(each.run_id or "", set()).add(place)

    def of_run(self, run: str) -> list[WithheldEvent]:
        """Return the materialisations of a run."""
        places = sorted(self._by_run.get(run, ()))
        return [each for place in places if (each := self.found[place]).run_id == run]

    def aimed_at_by(self, fact: Evaluated) -> list[WithheldEvent]:
        """Return the materialisations at which an evaluation may aim."""
        if fact.partition is not None:
            return [each for each in (self.found.get((fact.dataset, fact.partition)),) if each is not None]
        runs = {fact.result.run_id, "" if fact.target is None else fact.target[0]} - {""}
        return [each for run in sorted(runs) for each in self.of_run(run)]

    def changed(self) -> list[WithheldEvent]:
        """Return the records that the facts have changed."""
        return [each for place, each in sorted(self.found.items()) if each != self._before.get(place)]


def _named(facts: Sequence[CheckFact]) -> tuple[set[str], dict[str, set[str]]]:
    """Return the runs, and the partitions by dataset, that some facts name."""
    runs: set[str] = set()
    partitions: dict[str, set[str]] = {}
    for fact in facts:
        match fact:
            case Materialised():
                partitions.setdefault(fact.dataset, set()).add(fact.event.partition or "")
            case Evaluated():
                runs |= {fact.result.run_id, "" if fact.target is None else fact.target[0]}
                if fact.partition is not None:
                    partitions.setdefault(fact.dataset, set()).add(fact.partition)
            case RunEnded():
                runs.add(fact.run_id)
    return runs - {""}, partitions
