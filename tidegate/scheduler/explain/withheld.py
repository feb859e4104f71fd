"""Withheld: the materialisations that `checks: passed` does not count yet, with what holds them back."""

from collections.abc import Collection, Iterator

from tidegate.domain.model import leaves
from tidegate.domain.part_name import app_of, whole_name
from tidegate.domain.withheld import WithheldCheck, WithheldPartition
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.records.withheld import WITHHELD_EVENTS, CheckResult, WithheldEvent
from tidegate.scheduler.store.engine_reader import EngineReader

WITHHELD_SHOWN = 20
"""So many of a dataset are explained, those that wait longest; a list has all."""

WITHHELD_READ = 10_000
"""The most of a list."""


def withheld_from(reader: EngineReader, state: ScheduleState) -> tuple[WithheldPartition, ...]:
    """Return what is withheld from a schedule, for each dataset what waits longest."""
    datasets = {
        whole_name(state.app, leaf.trigger.dataset_heard)
        for leaf in leaves(state.spec.trigger)
        if leaf.trigger.counts_checked and leaf.trigger.dataset_heard is not None
    }
    return tuple(each for name in sorted(datasets) for each in withheld_of(reader, name))


def withheld_of(reader: EngineReader, dataset: str) -> tuple[WithheldPartition, ...]:
    """Return what is withheld of a dataset ("app/name"): what waits longest first."""
    found = reader.due_records(WITHHELD_EVENTS, None, WITHHELD_SHOWN, dataset=dataset)
    return tuple(withheld_partition(each) for each in found)


def withheld_events(reader: EngineReader, apps: Collection[str] | None) -> Iterator[WithheldEvent]:
    """Yield all that is withheld of some apps; None: of all."""
    for each in reader.due_records(WITHHELD_EVENTS, None, WITHHELD_READ):
        if apps is None or app_of(each.dataset) in apps:
            yield each


def withheld_partition(record: WithheldEvent) -> WithheldPartition:
    """Return a record as all faces show it."""
    checks = tuple(_check(name, each, record) for name, each in record.lacking.items())
    said = [_said(each) for each in checks]
    if not record.ended:
        said = [f"run {record.run_id}, which made it, has not ended", *said]
    name = f"{record.dataset} {record.partition}".strip()
    return WithheldPartition(
        dataset=record.dataset,
        partition=record.partition,
        time=record.time,
        run_id=record.run_id or "",
        running=not record.ended,
        checks=checks,
        text=f"{name}: {'; '.join(said)}",
    )


def _check(name: str, result: CheckResult, record: WithheldEvent) -> WithheldCheck:
    if result.passed is None:
        return WithheldCheck(check=name, state="missing", description="", run_id=record.run_id or "")
    return WithheldCheck(check=name, state="failed", description=result.description, run_id=result.run_id)


def _said(check: WithheldCheck) -> str:
    run = f" (run {check.run_id})" if check.run_id else ""
    if check.state == "missing":
        return f"check {check.check} was not evaluated{run}"
    because = f": {check.description}" if check.description else ""
    return f"check {check.check} failed{because}{run}"
