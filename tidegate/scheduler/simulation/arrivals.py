"""What arrives in a simulation: the events of given partitions, and what becomes of the checks of assets.

What is given without `checks` passes them at once, as a report without a run does. One whose checks fail is
withheld as if a run had made it, until its checks pass or it is given again.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime

import msgspec

from tidegate.compiler.scenarios.model.scenario import PartitionsArrive
from tidegate.domain.part_name import whole_name
from tidegate.scheduler.decision.asset_checks import CheckFact, Evaluated, Materialised
from tidegate.scheduler.intake.asset_checks import waited_for
from tidegate.scheduler.intake.observe import RunObservation
from tidegate.scheduler.model.event import (
    PARTITION_KEY,
    Event,
    EventKind,
    dataset_of_key,
    partition_event_key,
)
from tidegate.scheduler.model.records.withheld import CheckResult
from tidegate.scheduler.store.engine_rows import RecordRows

Report = Event | RunObservation | Materialised | Evaluated

CHECK = "given"
"""The name of the check of a scenario."""


def arrivals(app: str, action: PartitionsArrive, when: datetime, number: int) -> list[Report]:
    """Return what is reported when partitions arrive.

    Args:
        number: of the arrival in the scenario.
    """
    dataset = whole_name(app, action.dataset)
    if action.checks == "released":
        return [_evaluated(dataset, key, when, f"given:{number}", passed=True) for key in action.keys]
    found: list[Report] = []
    for key in action.keys:
        event = Event(
            id=f"given:{number}:{action.dataset}:{key}",
            kind=EventKind.PARTITION,
            key=partition_event_key(app, action.dataset),
            time=when,
            arrived=when,
            partition=key,
            bytes=action.bytes,
            rows=action.rows,
        )
        found.append(event)
        if action.checks == "failed":
            run = f"given:{number}"
            failed = _evaluated(dataset, key, when, run, passed=False)
            made = msgspec.structs.replace(event, run_id=run)
            found.append(Materialised(dataset=dataset, event=made, at=when, evaluated=(failed,), ended=True))
    return found


def _evaluated(dataset: str, key: str, when: datetime, run: str, *, passed: bool) -> Evaluated:
    result = CheckResult(passed=passed, run_id=run, at=when)
    return Evaluated(dataset=dataset, check=CHECK, partition=key, target=None, result=result)


def check_facts(reader: RecordRows, reports: Sequence[Report]) -> list[CheckFact]:
    """Return what reports say of the checks for which schedules wait."""
    told = {each.event.id for each in reports if isinstance(each, Materialised)}
    written = {each.id: each for each in _written(reports) if each.id not in told}
    names = {dataset_of_key(each.key) for each in written.values()}
    names |= {each.dataset for each in reports if isinstance(each, Materialised | Evaluated)}
    waited = waited_for(reader, names)
    found: list[CheckFact] = []
    for each in reports:
        if isinstance(each, Materialised | Evaluated):
            found += [each] if each.dataset in waited else []
        elif isinstance(each, Event) and each.id in written and dataset_of_key(each.key) in waited:
            found.append(Materialised(dataset=dataset_of_key(each.key), event=each, at=each.time))
    return found


def _written(reports: Sequence[Report]) -> Iterator[Event]:
    return (each for each in reports if isinstance(each, Event) and each.key.startswith(PARTITION_KEY))
