"""Expectations: compare what a scenario expects with what was observed (docs/scenarios.md).

Every launch and every discard needs its own expectation; if several of them fit several expectations, they
are matched so that as many as possible agree. States are compared as of the end of their instant.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import assert_never

from tidegate.compiler.scenarios.model.maintenance import (
    DisablePolicy,
    ExpectDebt,
    ExpectDiscardedOperation,
    ExpectDue,
    ExpectMaintain,
    MaintainByHand,
    OperationEnds,
    TableWritten,
)
from tidegate.compiler.scenarios.model.scenario import (
    Expectation,
    ExpectDiscarded,
    Expected,
    ExpectLate,
    ExpectLaunch,
    ExpectNone,
    ExpectRefused,
    ExpectWaiting,
    ExpectWithheld,
    Scenario,
)
from tidegate.compiler.scenarios.model.tasks import (
    ActOnInstance,
    CancelBackfill,
    ExpectInstance,
    ExpectInstances,
    ReportInstances,
    ResumeBackfill,
    StartBackfill,
)
from tidegate.domain.model import At
from tidegate.domain.value import Value
from tidegate.scheduler.model.maintenance import Work
from tidegate.scheduler.simulation.launcher import WITHHELD
from tidegate.scheduler.simulation.moment import Moment, MomentKind
from tidegate.scheduler.simulation.observed import ObservedCount, ObservedInstance, ObservedWithheld
from tidegate.scheduler.simulation.observed_tables import ObservedDebt, ObservedOperation
from tidegate.scheduler.simulation.snapshot import Snapshot, WaitingJob
from tidegate.scheduler.simulation.wording import Observed, Wording

JUDGED: dict[MomentKind, tuple[type[Expected], ...]] = {
    "launched": (ExpectLaunch,),
    "maintained": (ExpectMaintain,),
    "discarded": (ExpectDiscarded, ExpectDiscardedOperation),
    "refused": (ExpectRefused,),
    "late": (ExpectLate,),
}
"""Kinds of moments that must be expected (`_must_be_expected`), and the expectations of each kind."""

_OF_THEM = (
    ActOnInstance,
    ReportInstances,
    StartBackfill,
    CancelBackfill,
    ResumeBackfill,
    TableWritten,
    OperationEnds,
    MaintainByHand,
    DisablePolicy,
    ExpectInstance,
    ExpectInstances,
    ExpectMaintain,
    ExpectDue,
    ExpectDebt,
    ExpectDiscardedOperation,
)
"""What names a task, a table or a policy."""

ExpectedMoment = (
    ExpectLaunch | ExpectMaintain | ExpectDiscarded | ExpectDiscardedOperation | ExpectRefused | ExpectLate
)

STATES = (
    ExpectWaiting,
    ExpectNone,
    ExpectWithheld,
    ExpectInstance,
    ExpectInstances,
    ExpectDue,
    ExpectDebt,
)
"""Expectations that are compared with the state at the end of an instant."""


class Failure(Value, kw_only=True):
    """One expectation that was not met, or one launch, start, discard or refusal that was not expected.

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
    states: Mapping[int, Observed] | None = None,
    tasks: frozenset[str] = frozenset(),
) -> tuple[Failure, ...]:
    """Return all failures of a scenario, by position.

    Args:
        states: what was observed for each expectation of instances and tables, by its place in the list.
        zone: time zone of the instants in the texts.
        tasks: the names of tasks, which start by themselves.
    """
    wording = Wording(zone)
    if not _names_tasks_or_tables(scenario, tasks):
        moments = [each for each in moments if each.work is None and each.schedule not in tasks]
    failures: list[Failure] = []
    for kind, expects in JUDGED.items():
        # An event that was dropped may be expected, behind the jobs, which must be.
        kinds = (kind, "dropped") if kind == "discarded" else (kind,)
        observed = [moment for each in kinds for moment in moments if moment.kind == each]
        expected = [each for each in scenario.expect if isinstance(each.expected, expects)]
        failures += _judge_moments(expected, observed, scenario, wording)
    for number, each in enumerate(scenario.expect):
        failure = None
        if isinstance(each.expected, ExpectWaiting | ExpectNone):
            failure = _judge_state(each, each.expected, snapshots, wording)
        elif isinstance(each.expected, STATES):
            failure = _judge_observed(each, (states or {}).get(number), moments, wording)
        if failure is not None:
            failures.append(failure)
    return tuple(sorted(failures, key=lambda failure: (failure.at.line, failure.at.column)))


def _names_tasks_or_tables(scenario: Scenario, tasks: frozenset[str]) -> bool:
    """Return whether an example is about tasks or tables: it names one, or a policy.

    In any other example of their app they start beside what it is about, and are not judged; `expect_only`
    names what is.
    """
    told = [each.action for each in scenario.given] + [each.expected for each in scenario.expect]
    if scenario.expect_only is not None or any(isinstance(each, _OF_THEM) for each in told):
        return True
    named = {getattr(each, field, "") for each in told for field in ("schedule", "name")}
    updated = {name for each in told for name in getattr(each, "changes", ())}
    return not tasks.isdisjoint(named | updated)


def _must_be_expected(moment: Moment, scenario: Scenario) -> bool:
    only = scenario.expect_only
    if moment.kind == "dropped" or (moment.kind == "discarded" and moment.work is not None):
        return False
    if moment.kind == "late":
        # Most examples are about something else: what is late counts where the example speaks of it.
        return any(
            isinstance(each.expected, ExpectLate) and each.expected.name == moment.schedule
            for each in scenario.expect
        )
    return only is None or moment.kind == "refused" or moment.schedule in only


# --- launches, starts, discards, refusals -----------------------------------------------


def _judge_moments(
    expected: Sequence[Expectation], observed: Sequence[Moment], scenario: Scenario, wording: Wording
) -> list[Failure]:
    pairs = matched([[agrees(each, moment) for moment in observed] for each in expected])
    failures: list[Failure] = []
    shown: list[Moment] = []
    left = [moment for number, moment in enumerate(observed) if number not in pairs.values()]
    for number, each in enumerate(expected):
        if number not in pairs:
            near = [moment for moment in left if _is_about(each.expected, moment)]
            shown += near
            seen = "; ".join(wording.moment(moment) for moment in near) or "nothing of the kind"
            failures.append(Failure(at=each.at, expected=wording.expected(each.expected), observed=seen))
    for moment in left:
        # A moment that is shown beside a failed expectation of its schedule is not reported twice.
        if moment not in shown and _must_be_expected(moment, scenario):
            nothing = "no launch, start, discard or refusal that is not listed"
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
        case ExpectMaintain():
            return moment.work is not None and _started_so(expected, moment.work)
        case ExpectDiscarded(reason=reason) | ExpectDiscardedOperation(reason=reason):
            return reason == moment.reason or (reason is None and moment.kind == "discarded")
        case ExpectLate(key=key):
            return key is None or key == moment.key
        case ExpectRefused(code=code):
            return code in (moment.reason or "").split()
        case _:
            assert_never(expected)


def _is_about(expected: Expected, moment: Moment) -> bool:
    return not isinstance(expected, STATES) and _same_subject(expected, moment)


def _same_instance(expected: ExpectLaunch, moment: Moment) -> bool:
    """Return whether a launch is of the expected instance, early and a repair; without what is left out."""
    pairs = (
        (expected.scheduled, moment.key),
        (expected.business_date, moment.business_date),
        (expected.number, moment.number),
        (expected.provisional, moment.provisional),
        (expected.repair, moment.repair),
    )
    return all(wanted is None or wanted == seen for wanted, seen in pairs)


def _started_so(expected: ExpectMaintain, work: Work) -> bool:
    """Return whether an operation started as expected; what is left out is not compared."""
    if expected.excluded is not None and set(expected.excluded) != set(work.excluded):
        return False
    return (
        expected.policy in (None, work.policy)
        and expected.probe in (None, work.probe)
        and expected.forced in (None, work.forced)
    )


def _same_subject(expected: ExpectedMoment, moment: Moment) -> bool:
    match expected:
        case ExpectRefused():
            return True
        case ExpectLate(name=name):
            return name == moment.schedule
        case ExpectMaintain(table=table, operation=operation):
            return (table, str(operation)) == (moment.schedule, moment.key)
        case ExpectDiscardedOperation(table=table, operation=operation):
            same = moment.work is not None and table == moment.schedule
            return same and (operation is None or str(operation) == moment.key)
        case ExpectLaunch(schedule=schedule) | ExpectDiscarded(schedule=schedule):
            return moment.work is None and schedule == moment.schedule
        case _:
            assert_never(expected)


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
    expectation: Expectation,
    expected: ExpectWaiting | ExpectNone,
    snapshots: Mapping[datetime, Snapshot],
    wording: Wording,
) -> Failure | None:
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
    observed = "; ".join(seen) or "no job at all"
    return Failure(at=expectation.at, expected=wording.expected(expected), observed=observed)


def _judge_observed(
    expectation: Expectation, seen: Observed | None, moments: Sequence[Moment], wording: Wording
) -> Failure | None:
    expected = expectation.expected
    match expected, seen:
        case ExpectWithheld(), ObservedWithheld():
            met = seen.fits(expected) or any(_was_withheld(expectation, expected, each) for each in moments)
        case ExpectInstance(), ObservedInstance():
            met = not seen.differences(expected)
        case ExpectInstances(), ObservedCount():
            met = expected.count in (None, seen.count) and expected.empty in (None, seen.empty)
        case ExpectDue(), ObservedOperation():
            met = seen.fits(expected, expectation.within)
        case ExpectDebt(), ObservedDebt():
            met = seen.fits(expected)
        case _:
            met = False
    if met:
        return None
    observed = "nothing: the example ends before" if seen is None else wording.state(seen)
    return Failure(at=expectation.at, expected=wording.expected(expected), observed=observed)


def _was_withheld(expectation: Expectation, expected: ExpectWithheld, moment: Moment) -> bool:
    """Return whether a moment is the end of a run, soon enough, whose publish was withheld."""
    return (
        (moment.kind, moment.text, moment.schedule) == ("ended", WITHHELD, expected.schedule)
        and expected.key in (None, moment.key)
        and abs(moment.when - expected.when) <= expectation.within
    )


def _waits_so(expected: ExpectWaiting, waiting: WaitingJob, within: timedelta) -> bool:
    if expected.reason is not None and expected.reason != waiting.reason:
        return False
    if expected.collected is not None and expected.collected != waiting.collected:
        return False
    if expected.next_check is None:
        return True
    return waiting.next_check is not None and abs(waiting.next_check - expected.next_check) <= within
