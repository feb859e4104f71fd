"""The given actions of a scenario in a few words, for its timeline."""

from typing import assert_never

from tidegate.compiler.scenarios.scenario import (
    ActOnInstance,
    CancelBackfill,
    Delete,
    Deploy,
    Down,
    FailLaunch,
    Given,
    PartitionsArrive,
    Replay,
    ReportGauges,
    ReportInstances,
    Restart,
    Resume,
    RunSeen,
    StartBackfill,
    Suspend,
    TriggerByHand,
    Update,
)
from tidegate.domain.size import size_text
from tidegate.domain.time.duration import duration_text


def _in_brackets(arrival: PartitionsArrive) -> str:
    """Format the size of an arrival, if given."""
    parts = [] if arrival.bytes is None else [size_text(arrival.bytes)]
    parts += [] if arrival.rows is None else [f"{arrival.rows} rows"]
    return f" ({', '.join(parts)})" if parts else ""


def describe(given: Given) -> tuple[str, str]:
    """Return the schedule of an action, "" for none, and the action in a few words."""
    match given.action:
        case PartitionsArrive(dataset=dataset, keys=keys) as arrival:
            what = f"{dataset}: {', '.join(keys)}" if keys != ("",) else f"{dataset} is updated"
            return "", what + _in_brackets(arrival)
        case RunSeen(program=program, id=id, status=status):
            return "", f"run {id} of {program} {status}"
        case Suspend(schedule=schedule):
            return schedule, "suspended"
        case Resume(schedule=schedule):
            return schedule, "resumed"
        case Delete(schedule=schedule):
            return schedule, "deleted"
        case Update(changes=changes):
            return ", ".join(changes), "updated"
        case Deploy(file=file):
            return "", f"deployed {file or 'another text'}"
        case TriggerByHand(schedule=schedule, key=key, force=force):
            return schedule, f"{'forced' if force else 'triggered'} by hand" + (f" for {key}" if key else "")
        case Replay(dataset=dataset, keys=keys):
            return "", f"events of {dataset} are replayed" + (f": {', '.join(keys)}" if keys else "")
        case ReportGauges(values=values):
            return "", ", ".join(f"{name} is at {value:g}" for name, value in values.items())
        case Restart():
            return "", "the scheduler restarts"
        case Down(duration=duration):
            return "", f"the scheduler is down for {duration_text(duration)}"
        case FailLaunch(schedule=schedule, times=times):
            return schedule, f"its next {times} launch(es) will fail"
        case ActOnInstance(task=task) as acted:
            which = acted.scheduled or f"of business date {acted.business_date}"
            return task, f"{acted.do.replace('_', ' ')} {which}"
        case ReportInstances(task=task) as reported:
            times = ", ".join(reported.scheduled) or f"{reported.from_} to {reported.to}"
            return task, f"{times} reported as {reported.status}"
        case StartBackfill(task=task) as wanted:
            return task or "", f"backfill of {wanted.from_} to {wanted.to}"
        case CancelBackfill(task=task):
            return task or "", "backfill cancelled"
        case _:
            assert_never(given.action)
