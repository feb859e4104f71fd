"""The texts of expectations and observations in one form, so that a reader sees where they differ."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, assert_never
from zoneinfo import ZoneInfo

from tidegate.compiler.scenarios.model.maintenance import (
    ExpectDebt,
    ExpectDiscardedOperation,
    ExpectDue,
    ExpectMaintain,
)
from tidegate.compiler.scenarios.model.scenario import (
    ExpectDiscarded,
    Expected,
    ExpectLate,
    ExpectLaunch,
    ExpectNone,
    ExpectRefused,
    ExpectWaiting,
    ExpectWithheld,
)
from tidegate.compiler.scenarios.model.tasks import ExpectInstance, ExpectInstances
from tidegate.scheduler.simulation.describe import describe_work
from tidegate.scheduler.simulation.moment import Moment
from tidegate.scheduler.simulation.observed import ObservedCount, ObservedInstance, ObservedWithheld
from tidegate.scheduler.simulation.observed_tables import ObservedDebt, ObservedOperation
from tidegate.scheduler.simulation.snapshot import WaitingJob

Observed = ObservedInstance | ObservedCount | ObservedWithheld | ObservedOperation | ObservedDebt
"""The state of what an expectation names, at the end of an instant."""


class Wording:
    """Formats expectations and moments in one form, so that a reader sees where they differ.

    Args:
        zone: time zone of the instants.
    """

    def __init__(self, zone: str) -> None:
        self._zone = ZoneInfo(zone)

    def instant(self, instant: datetime) -> str:
        """Format an instant in the zone."""
        return instant.astimezone(self._zone).isoformat(sep=" ")

    def moment(self, moment: Moment) -> str:
        """Format an observed launch, start, discard or refusal."""
        name = f"{moment.schedule}[{moment.key}]" if moment.key else moment.schedule
        parts = [f"{self.instant(moment.when)} {moment.kind}", name, moment.reason or ""]
        if moment.kind == "launched":
            parts += [
                f"partitions {_listed(moment.partitions)}",
                f"args {moment.args}" if moment.args else "",
                "provisional" if moment.provisional else "",
                "repair" if moment.repair else "",
            ]
        if moment.work is not None and moment.kind == "maintained":
            parts.append(describe_work(moment.work))
        if moment.kind == "refused":
            parts.append(f"({moment.text})")
        return " ".join(part for part in parts if part)

    def waiting(self, waiting: WaitingJob) -> str:
        """Format an observed waiting job."""
        name = f"{waiting.schedule}[{waiting.key}]" if waiting.key else waiting.schedule
        check = (
            "no next check"
            if waiting.next_check is None
            else f"next check {self.instant(waiting.next_check)}"
        )
        return f"waiting {name} {waiting.reason}, {check}, {waiting.collected} collected"

    def state(self, seen: Observed) -> str:
        """Format an observed instance, count of instances, operation or debt."""
        match seen:
            case ObservedInstance() | ObservedWithheld():
                return seen.one_line()
            case ObservedCount(count=count, empty=empty):
                return f"{count} instances, {empty} of them empty"
            case ObservedOperation():
                return self._operation(seen)
            case ObservedDebt(known=known):
                return f"debt {seen.score:g}, {_parts(seen.parts)}" if known else "there is no such table"
            case _:
                assert_never(seen)

    def _operation(self, seen: ObservedOperation) -> str:
        if not seen.known:
            return "no policy has this operation for the table"
        parts = ["running"] if seen.running else []
        parts.append(f"due {seen.reason or 'for the next poll'}" if seen.due else "not due")
        parts.append("no next time" if seen.next is None else f"next {self.instant(seen.next)}")
        return ", ".join(parts)

    def expected(self, expected: Expected) -> str:
        """Format an expectation."""
        when = "at any time" if expected.when is None else self.instant(expected.when)
        match expected:
            case ExpectLaunch(schedule=schedule, partitions=partitions, args=args):
                schedule = " ".join(
                    each for each in (schedule, expected.scheduled, expected.business_date) if each
                )
                keys = "" if partitions is None else f" partitions {_listed(partitions)}"
                of = "" if args is None else f" args {args}"
                for word, wanted in (("provisional", expected.provisional), ("repair", expected.repair)):
                    of += "" if wanted is None else f" {'' if wanted else 'no '}{word}"
                return f"{when} launched {schedule}{keys}{of}"
            case ExpectDiscarded(schedule=schedule, reason=reason):
                return f"{when} discarded {schedule} {reason or ''}".rstrip()
            case ExpectMaintain():
                return f"{when} maintained {_start(expected)}"
            case ExpectDiscardedOperation(table=table, operation=operation, reason=reason):
                return " ".join(part for part in (when, "discarded", table, operation, reason) if part)
            case ExpectDue():
                return f"{when} {self._due(expected)}"
            case ExpectDebt(table=table, score=score, parts=parts):
                return f"{when} debt {score:g} of {table}" + ("" if parts is None else f", {_parts(parts)}")
            case ExpectLate(name=name, key=key):
                return f"{when} late {name}" + ("" if key is None else f"[{key}]")
            case ExpectRefused(code=code):
                return f"{when} refused {code}"
            case ExpectWithheld(schedule=schedule, key=key):
                return f"{when} withheld {schedule}" + ("" if key is None else f"[{key}]")
            case ExpectNone(schedule=schedule):
                return f"{when} no job of {schedule}"
            case ExpectInstance():
                return f"{when} {expected_instance(expected)}"
            case ExpectInstances(task=task, day=day, count=count, empty=empty):
                counted = ("" if count is None else f" {count}") + (
                    "" if empty is None else f", {empty} empty"
                )
                return f"{when} instances of {task} on {day}:{counted}"
            case ExpectWaiting():
                return f"{when} waiting {self._wait(expected)}"
            case _:
                assert_never(expected)

    def _wait(self, expected: ExpectWaiting) -> str:
        parts = [f"{expected.schedule} {expected.reason or 'for any reason'}"]
        if expected.next_check is not None:
            parts.append(f"next check {self.instant(expected.next_check)}")
        if expected.collected is not None:
            parts.append(f"{expected.collected} collected")
        return ", ".join(parts)

    def _due(self, expected: ExpectDue) -> str:
        subject = f"{expected.table}[{expected.operation}]"
        due = f"due {expected.reason or 'for any reason'}" if expected.is_due else "not due"
        following = "" if expected.next is None else f", next {self.instant(expected.next)}"
        return f"{subject} {due}{following}"


def _start(expected: ExpectMaintain) -> str:
    parts = [f"{expected.table}[{expected.operation}]"]
    parts += [] if expected.policy is None else [f"policy {expected.policy}"]
    for name, value in (("probe", expected.probe), ("forced", expected.forced)):
        parts += [] if value is None else [name if value else f"not {name}"]
    parts += [] if expected.excluded is None else [f"without {_listed(expected.excluded)}"]
    return ", ".join(parts)


def _parts(parts: Mapping[Any, float]) -> str:
    return ", ".join(f"{name} {value:g}" for name, value in sorted(parts.items())) or "no parts"


def expected_instance(expected: ExpectInstance) -> str:
    """Format an expected instance."""
    name = expected.scheduled or f"of business date {expected.business_date}"
    facts = [
        f"{key} {value}"
        for key in ("status", "reason", "empty", "marked", "attempt", "diagnostic", "number")
        if (value := getattr(expected, key)) is not None
    ]
    facts += [f"upstream {task} {_listed(keys)}" for task, keys in (expected.upstream or {}).items()]
    return f"instance {expected.task} {name}: {', '.join(facts)}"


def _listed(keys: Sequence[str]) -> str:
    return f"[{', '.join(sorted(keys))}]"
