"""A trigger in one line, for tables: what would make the schedule run, without its options."""

from typing import assert_never

from tidegate.domain.model import (
    AllTrigger,
    AnyTrigger,
    AtLeastTrigger,
    CronTrigger,
    ElapsedTrigger,
    PartitionsTrigger,
    RunTrigger,
    SequenceTrigger,
    SizeTrigger,
    Trigger,
)
from tidegate.domain.size import size_text
from tidegate.domain.time.duration import duration_text


def trigger_line(trigger: Trigger) -> str:
    """A trigger in one line."""
    match trigger:
        case CronTrigger():
            return _cron(trigger)
        case PartitionsTrigger(dataset=dataset, count=count, keys=keys, complete=complete):
            if keys:
                return f"partitions of {dataset}: {', '.join(keys)}"
            if complete is not None:
                return f"a complete {complete} of {dataset}"
            return f"{count} partition{'s' if count > 1 else ''} of {dataset}"
        case SizeTrigger(dataset=dataset, bytes=size, rows=rows):
            return f"{size_text(size)} of {dataset}" if size is not None else f"{rows} rows of {dataset}"
        case RunTrigger(program=program, status=status, count=count):
            return f"{count} run{'s' if count > 1 else ''} of {program} {status}"
        case ElapsedTrigger(for_=duration, since=since, dataset=dataset, program=program):
            of = dataset if since == "last_event" else program
            return f"{duration_text(duration)} since the {since.replace('_', ' ')}{f' of {of}' if of else ''}"
        case AllTrigger(of=members):
            return f"all ({_members(members)})"
        case AnyTrigger(of=members):
            return f"any ({_members(members)})"
        case AtLeastTrigger(n=n, of=members):
            return f"at least {n} of ({_members(members)})"
        case SequenceTrigger(of=members):
            return f"in sequence ({_members(members)})"
        case _:
            assert_never(trigger)


def _members(members: tuple[Trigger, ...]) -> str:
    return "; ".join(map(trigger_line, members))


def _cron(trigger: CronTrigger) -> str:
    line = f"cron {trigger.cron} {trigger.timezone}"
    if trigger.calendar is None:
        return line
    nth = trigger.nth_business_day
    days = "business days" if nth is None else f"business day {nth} of the month"
    return f"{line}, {days} of {trigger.calendar.name}"
