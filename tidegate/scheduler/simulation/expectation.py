"""Expectations: compare what a scenario expects with what was observed (docs/scenarios.md).

Every launch and every discard needs its own expectation; if several of them fit several
expectations, they are matched so that as many as possible agree. States are compared with the
snapshot at the end of their instant.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import assert_never
from zoneinfo import ZoneInfo

from tidegate.compiler.scenarios.scenario import (
    Expectation,
    ExpectDiscarded,
    Expected,
    ExpectInstance,
    ExpectInstances,
    ExpectLaunch,
    ExpectNone,
    ExpectRefused,
    ExpectWaiting,
    Scenario,
)
from tidegate.domain.model import At
from tidegate.domain.value import Value
from tidegate.scheduler.simulation.moment import Moment
from tidegate.scheduler.simulation.observed import ObservedCount, ObservedInstance

JUDGED = {"launched": ExpectLaunch, "discarded": ExpectDiscarded, "refused": ExpectRefused}
"""Kinds of moments that must all be expected, and the expectations of each kind."""


STATES = (ExpectWaiting, ExpectNone, ExpectInstance, ExpectInstances)
"""Expectations that are compared with the state at the end of an instant."""


class WaitingJob(Value, kw_only=True):
    """One waiting job in a snapshot."""

    schedule: str
    key: str
    reason: str | None
    next_check: datetime | None
    collected: int


class Snapshot(Value, kw_only=True):
    """The unfinished jobs at the end of an instant; `active` names the schedule of each launched one."""

    waiting: tuple[WaitingJob, ...] = ()
    active: tuple[str, ...] = ()


class Failure(Value, kw_only=True):
    """One expectation that was not met, or one launch, discard or refusal that was not expected.

    Attributes:
        at: the position of the expectation; of the scenario for an unexpected moment.
    """

    at: At
    expected: str
    observed: str


def judge(
    scenario: Scenario,
    moments: Sequence[Moment],
    snapshots: Mapping[datetime, Snapshot],
    zone: str,
    observed_instances: Mapping[int, ObservedInstance | ObservedCount] | None = None,
) -> tuple[Failure, ...]:
    """Return all failures of a scenario, by position.

    Args:
        observed_instances: what was observed for each expectation of instances, by its place in the list.
        zone: time zone of the instants in the texts.
    """
    wording = Wording(zone)
    failures: list[Failure] = []
    for kind, expects in JUDGED.items():
        observed = [moment for moment in moments if moment.kind == kind]
        expected = [each for each in scenario.expect if isinstance(each.expected, expects)]
        failures += _judge_moments(expected, observed, scenario, wording)
    for number, each in enumerate(scenario.expect):
        if isinstance(each.expected, ExpectInstance | ExpectInstances):
            failure = _judge_instance(each, (observed_instances or {}).get(number), wording)
        else:
            failure = _judge_state(each, snapshots, wording)
        if failure is not None:
            failures.append(failure)
    return tuple(sorted(failures, key=lambda failure: (failure.at.line, failure.at.column)))


def _must_be_expected(moment: Moment, scenario: Scenario) -> bool:
    only = scenario.expect_only
    return only is None or moment.kind == "refused" or moment.schedule in only


# --- launches, discards, refusals -------------------------------------------------------


def _judge_moments(
    expected: Sequence[Expectation], observed: Sequence[Moment], scenario: Scenario, wording: "Wording"
) -> list[Failure]:
    pairs = matched([[agrees(each, moment) for moment in observed] for each in expected])
    failures: list[Failure] = []
    shown: list[Moment] = []
    left = [moment for number, moment in enumerate(observed) if number not in pairs.values()]
    for number, each in enumerate(expected):
        if number not in pairs:
            near = [moment for moment in left if _same_subject(each.expected, moment)]
            shown += near
            seen = "; ".join(wording.moment(moment) for moment in near) or "nothing of the kind"
            failures.append(Failure(at=each.at, expected=wording.expected(each.expected), observed=seen))
    for moment in left:
        # A moment that is shown beside a failed expectation of its schedule is not reported twice.
        if moment not in shown and _must_be_expected(moment, scenario):
            nothing = "no launch, discard or refusal that is not listed"
            failures.append(Failure(at=scenario.at, expected=nothing, observed=wording.moment(moment)))
    return failures


def agrees(expectation: Expectation, moment: Moment) -> bool:
    """Return whether a moment fits an expectation."""
    expected = expectation.expected
    if isinstance(expected, STATES) or not _same_subject(expected, moment):
        return False
    if expected.when is not None and abs(moment.when - expected.when) > expectation.within:
        return False
    match expected:
        case ExpectLaunch(partitions=partitions, args=args):
            same_keys = partitions is None or set(partitions) == set(moment.partitions)
            return same_keys and _same_instance(expected, moment) and (args is None or args == moment.args)
        case ExpectDiscarded(reason=reason):
            return reason is None or reason == moment.reason
        case ExpectRefused(code=code):
            return code in (moment.reason or "").split()
        case _:
            assert_never(expected)


def _same_instance(expected: ExpectLaunch, moment: Moment) -> bool:
    """Return whether a launch is of the instance that is expected; what is left out is not compared."""
    pairs = (
        (expected.scheduled, moment.key),
        (expected.business_date, moment.business_date),
        (expected.number, moment.number),
    )
    return all(wanted is None or wanted == seen for wanted, seen in pairs)


def _same_subject(expected: Expected, moment: Moment) -> bool:
    if isinstance(expected, ExpectRefused):
        return True
    return not isinstance(expected, STATES) and expected.schedule == moment.schedule


def matched(agree: Sequence[Sequence[bool]]) -> dict[int, int]:
    """Return a largest matching of expectations to moments, by augmenting paths.

    Args:
        agree: for each expectation, whether each moment fits it.

    Returns:
        The index of the moment of each matched expectation.
    """
    owner: dict[int, int] = {}

    def place(expectation: int, tried: set[int]) -> bool:
        for moment, possible in enumerate(agree[expectation]):
            if not possible or moment in tried:
                continue
            tried.add(moment)
            if moment not in owner or place(owner[moment], tried):
                owner[moment] = expectation
                return True
        return False

    for expectation in range(len(agree)):
        place(expectation, set())
    return {expectation: moment for moment, expectation in owner.items()}


# --- states -----------------------------------------------------------------------------


def _judge_state(
    expectation: Expectation, snapshots: Mapping[datetime, Snapshot], wording: "Wording"
) -> Failure | None:
    expected = expectation.expected
    if not isinstance(expected, ExpectWaiting | ExpectNone):
        return None
    snapshot = snapshots[expected.when]
    mine = [waiting for waiting in snapshot.waiting if waiting.schedule == expected.schedule]
    running = expected.schedule in snapshot.active
    if isinstance(expected, ExpectNone):
        met = not mine and not running
    else:
        met = any(_waits_so(expected, waiting, expectation.within) for waiting in mine)
    if met:
        return None
    seen = [wording.waiting(waiting) for waiting in mine] + (["a launched job"] if running else [])
    return Failure(
        at=expectation.at, expected=wording.expected(expected), observed="; ".join(seen) or "no job at all"
    )


def _judge_instance(
    expectation: Expectation, seen: ObservedInstance | ObservedCount | None, wording: "Wording"
) -> Failure | None:
    expected = expectation.expected
    if isinstance(expected, ExpectInstance) and isinstance(seen, ObservedInstance):
        if not seen.differences(expected):
            return None
        observed = seen.one_line()
    elif isinstance(expected, ExpectInstances) and isinstance(seen, ObservedCount):
        if expected.count in (None, seen.count) and expected.empty in (None, seen.empty):
            return None
        observed = f"{seen.count} instances, {seen.empty} of them empty"
    else:
        observed = "nothing: the example ends before"
    return Failure(at=expectation.at, expected=wording.expected(expected), observed=observed)


def _waits_so(expected: ExpectWaiting, waiting: WaitingJob, within: timedelta) -> bool:
    if expected.reason is not None and expected.reason != waiting.reason:
        return False
    if expected.collected is not None and expected.collected != waiting.collected:
        return False
    if expected.next_check is None:
        return True
    return waiting.next_check is not None and abs(waiting.next_check - expected.next_check) <= within


# --- texts ------------------------------------------------------------------------------


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
        """Format an observed launch, discard or refusal."""
        name = f"{moment.schedule}[{moment.key}]" if moment.key else moment.schedule
        parts = [f"{self.instant(moment.when)} {moment.kind}", name, moment.reason or ""]
        if moment.kind == "launched":
            parts += [
                f"partitions {_listed(moment.partitions)}",
                f"args {moment.args}" if moment.args else "",
            ]
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

    def expected(self, expected: Expected) -> str:
        """Format an expectation."""
        when = "at any time" if expected.when is None else self.instant(expected.when)
        match expected:
            case ExpectLaunch(schedule=schedule, partitions=partitions, args=args):
                schedule = " ".join(
                    each for each in (schedule, expected.scheduled, expected.business_date) if each
                )
                keys = "" if partitions is None else f" partitions {_listed(partitions)}"
                return f"{when} launched {schedule}{keys}" + ("" if args is None else f" args {args}")
            case ExpectDiscarded(schedule=schedule, reason=reason):
                return f"{when} discarded {schedule} {reason or ''}".rstrip()
            case ExpectRefused(code=code):
                return f"{when} refused {code}"
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
