"""What can be changed in what a story expects, one thing at a time.

An expectation is left out, moved by a second or given another value, and what was observed is judged again.
"""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import msgspec

from tests.scheduler.simulation.stories import Judged
from tidegate.compiler.scenarios.model.maintenance import (
    ExpectDebt,
    ExpectDiscardedOperation,
    ExpectDue,
    ExpectMaintain,
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
from tidegate.compiler.scenarios.model.tasks import ExpectInstance, ExpectInstances
from tidegate.domain.model import Operation
from tidegate.scheduler.simulation.expectation import judge

SECOND = timedelta(seconds=1)


def other_values(expected: Expected, within: timedelta) -> Iterator[tuple[str, Expected]]:
    """The same expectation with one thing changed, and what was changed."""
    replace = msgspec.structs.replace
    if isinstance(expected, ExpectNone):
        yield "a job where there is none", ExpectWaiting(schedule=expected.schedule, when=expected.when)
        return
    if isinstance(expected, ExpectInstance | ExpectInstances):
        yield from other_instances(expected)
        return
    if isinstance(expected, ExpectWithheld):
        yield "another key", replace(expected, key="2013-01-01")
        return
    if isinstance(expected, ExpectDue | ExpectDebt):
        yield from other_states_of_tables(expected, within)
        return
    if isinstance(expected, ExpectWaiting):
        yield "no job where one waits", ExpectNone(schedule=expected.schedule, when=expected.when)
        if expected.next_check is not None:
            yield "a later check", replace(expected, next_check=expected.next_check + within + SECOND)
        if expected.collected is not None:
            yield "one more collected", replace(expected, collected=expected.collected + 1)
    elif expected.when is not None:
        yield "a second later", replace(expected, when=expected.when + within + SECOND)
        yield "a second sooner", replace(expected, when=expected.when - within - SECOND)
    if (
        isinstance(expected, ExpectWaiting | ExpectDiscarded | ExpectDiscardedOperation)
        and expected.reason is not None
    ):
        yield "another reason", replace(expected, reason="W-NEVER")
    if isinstance(expected, ExpectLate) and expected.key is not None:
        yield "another key", replace(expected, key=f"{expected.key}_2")
    if isinstance(expected, ExpectRefused):
        yield "another code", replace(expected, code="X999")
    if isinstance(expected, ExpectMaintain):
        yield from other_starts(expected)
    if isinstance(expected, ExpectLaunch):
        if expected.partitions is not None:
            yield "a partition more", replace(expected, partitions=(*expected.partitions, "2013-01-01"))
        for key in ("scheduled", "business_date"):
            if getattr(expected, key) is not None:
                yield f"another {key}", replace(expected, **{key: "2013-01-01"})
        for key in expected.args or {}:
            yield f"another {key}", replace(expected, args={**(expected.args or {}), key: "another"})


def other_starts(expected: ExpectMaintain) -> Iterator[tuple[str, Expected]]:
    """The same start of an operation with one thing changed, and what was changed."""
    replace = msgspec.structs.replace
    yield "another operation", replace(expected, operation=other_operation(expected.operation))
    yield "another table", replace(expected, table=f"{expected.table}_2")
    if expected.policy is not None:
        yield "another policy", replace(expected, policy=f"{expected.policy}_2")
    for key in ("probe", "forced"):
        if getattr(expected, key) is not None:
            yield f"the opposite of {key}", replace(expected, **{key: not getattr(expected, key)})
    if expected.excluded is not None:
        yield "one more left out", replace(expected, excluded=(*expected.excluded, "2013-01-01"))


def other_states_of_tables(
    expected: ExpectDue | ExpectDebt, within: timedelta
) -> Iterator[tuple[str, Expected]]:
    """The same state of a table with one thing changed, and what was changed."""
    replace = msgspec.structs.replace
    if isinstance(expected, ExpectDebt):
        yield "a greater debt", replace(expected, score=expected.score + 0.02)
        if expected.parts is not None:
            issues = expected.parts.get("issues", 0) + 1
            yield "more issues", replace(expected, parts={**expected.parts, "issues": issues})
        return
    if expected.is_due:
        yield "not due", replace(expected, reason=None, next=expected.when)
        yield "another reason", replace(expected, reason="M-NEVER")
    else:
        yield "due", replace(expected, reason=None, next=None)
    if expected.next is not None:
        yield "a later next time", replace(expected, next=expected.next + within + SECOND)


def other_operation(operation: Operation) -> Operation:
    return next(each for each in Operation if each is not operation)


def other_instances(expected: ExpectInstance | ExpectInstances) -> Iterator[tuple[str, Expected]]:
    """The same expectation of instances with one thing changed, and what was changed."""
    replace = msgspec.structs.replace
    if isinstance(expected, ExpectInstances):
        for key in ("count", "empty"):
            if getattr(expected, key) is not None:
                yield f"one more {key}", replace(expected, **{key: getattr(expected, key) + 1})
        return
    if expected.status is not None:
        yield (
            "another status",
            replace(expected, status="failed" if expected.status != "failed" else "paused"),
        )
    for key in ("reason", "diagnostic"):
        if getattr(expected, key) is not None:
            yield f"another {key}", replace(expected, **{key: "E-NEVER"})
    for key in ("empty", "marked"):
        if getattr(expected, key) is not None:
            yield f"the opposite of {key}", replace(expected, **{key: not getattr(expected, key)})
    if expected.attempt is not None:
        yield "one more attempt", replace(expected, attempt=expected.attempt + 1)
    for task, keys in (expected.upstream or {}).items():
        upstream = {**(expected.upstream or {}), task: (*keys, "2013-01-01")}
        yield f"one more upstream of {task}", replace(expected, upstream=upstream)


def without(scenario: Scenario, number: int) -> Scenario:
    kept = (*scenario.expect[:number], *scenario.expect[number + 1 :])
    return msgspec.structs.replace(scenario, expect=kept)


def with_other(scenario: Scenario, number: int, expected: Expected) -> Scenario:
    changed: Expectation = msgspec.structs.replace(scenario.expect[number], expected=expected)
    return msgspec.structs.replace(
        scenario, expect=(*scenario.expect[:number], changed, *scenario.expect[number + 1 :])
    )


def mutations(scenario: Scenario) -> Iterator[tuple[str, Scenario, int | None]]:
    """Scenarios with one thing changed: what was changed, and which expectation was left out."""
    for number, expectation in enumerate(scenario.expect):
        expected = expectation.expected
        if isinstance(expected, ExpectLaunch | ExpectMaintain | ExpectDiscarded | ExpectRefused):
            only = scenario.expect_only
            if only is None or isinstance(expected, ExpectRefused) or subject(expected) in only:
                yield f"{expectation.at}: left out", without(scenario, number), number
        for what, other in other_values(expected, expectation.within):
            yield f"{expectation.at}: {what}", with_other(scenario, number, other), None


def subject(expected: ExpectLaunch | ExpectMaintain | ExpectDiscarded) -> str:
    return expected.table if isinstance(expected, ExpectMaintain) else expected.schedule


def judged_again(scenario: Scenario, found: Judged, left_out: int | None) -> Any:
    """Judge what was observed again. States are observed by the place of their expectation."""
    states = found.states
    if left_out is not None:
        states = {number - (number > left_out): each for number, each in states.items() if number != left_out}
    return judge(scenario, found.moments, found.snapshots, found.zone, states)
