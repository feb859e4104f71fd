"""The given actions of a scenario in a few words, for its timeline."""

from datetime import timedelta
from typing import assert_never

from tidegate.compiler.plan.forms import measured_form
from tidegate.compiler.scenarios.model.maintenance import (
    DisablePolicy,
    MaintainByHand,
    OperationEnds,
    TableWritten,
)
from tidegate.compiler.scenarios.model.scenario import (
    Delete,
    Deploy,
    Down,
    EndWithheld,
    FailLaunch,
    Given,
    PartitionsArrive,
    Replay,
    ReportGauges,
    Restart,
    Resume,
    RunSeen,
    Suspend,
    TriggerByHand,
    Update,
)
from tidegate.compiler.scenarios.model.tasks import (
    ActOnInstance,
    CancelBackfill,
    ReportInstances,
    ResumeBackfill,
    StartBackfill,
)
from tidegate.domain.duration import duration_text
from tidegate.domain.size import size_text
from tidegate.scheduler.model.maintenance import Work

_CHECKS = {"passed": "", "failed": ", whose checks fail", "released": ", whose checks pass now"}


def _in_brackets(arrival: PartitionsArrive) -> str:
    """Format the size of an arrival, if given."""
    parts = [] if arrival.bytes is None else [size_text(arrival.bytes)]
    parts += [] if arrival.rows is None else [f"{arrival.rows} rows"]
    return f" ({', '.join(parts)})" if parts else ""


def _table(written: TableWritten) -> str:
    if written.gone:
        return "the table is gone"
    if written.health is None:
        return "the table is written, and cannot be measured"
    measures = ", ".join(f"{name} {measured_form(name, value)}" for name, value in written.health.items())
    return f"the table is written ({measures or 'healthy'})"


def describe_work(work: Work) -> str:
    """Return the policy of an operation on a table, and how it was started."""
    parts = [f"policy {work.policy}"]
    parts += [
        text
        for text, holds in (("by hand", work.by_hand), ("probe", work.probe), ("forced", work.forced))
        if holds
    ]
    parts += [f"without {', '.join(work.excluded)}"] if work.excluded else []
    return ", ".join(parts)


def _for(expires: timedelta | None) -> str:
    return "" if expires is None else f" for {duration_text(expires)}"


def describe(given: Given) -> tuple[str, str]:
    """Return the schedule or table of an action, "" for none, and the action in a few words."""
    match given.action:
        case PartitionsArrive(dataset=dataset, keys=keys) as arrival:
            what = f"{dataset}: {', '.join(keys)}" if keys != ("",) else f"{dataset} is updated"
            return "", what + _in_brackets(arrival) + _CHECKS[arrival.checks]
        case RunSeen(program=program, id=id, status=status):
            return "", f"run {id} of {program} {status}"
        case Suspend(schedule=schedule, expires=expires):
            return schedule, f"suspended{_for(expires)}"
        case Resume(schedule=schedule, expires=expires):
            return schedule, f"resumed{_for(expires)}"
        case Delete(schedule=schedule):
            return schedule, "deleted"
        case Update(changes=changes, expires=expires):
            return ", ".join(changes), f"updated{_for(expires)}"
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
        case EndWithheld(schedule=schedule, key=key, do=do):
            return schedule, f"{do} what is withheld" + (f" of {key}" if key else "")
        case ActOnInstance(task=task) as acted:
            which = acted.scheduled or f"of business date {acted.business_date}"
            return task, f"{acted.do.replace('_', ' ')} {which}"
        case ReportInstances(task=task) as reported:
            times = ", ".join(reported.scheduled) or f"{reported.from_} to {reported.to}"
            return task, f"{times} reported as {reported.status}"
        case StartBackfill(task=task) as wanted:
            return task or "", f"backfill of {', '.join(wanted.keys) or f'{wanted.from_} to {wanted.to}'}"
        case CancelBackfill(task=task):
            return task or "", "backfill cancelled"
        case ResumeBackfill(task=task):
            return task or "", "backfill resumed"
        case TableWritten(table=table) as written:
            return table, _table(written)
        case OperationEnds(table=table, operation=operation):
            return table, f"how {operation} goes from here on"
        case MaintainByHand(table=table, operation=operation, policy=policy):
            of = f" of {policy}" if policy else ""
            return table, f"{operation or 'all operations'}{of} asked for by hand"
        case DisablePolicy(policy=policy):
            return "", f"policy {policy} disabled"
        case _:
            assert_never(given.action)
