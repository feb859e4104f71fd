"""An interval shorter than Dagster's round: one evaluation ticks several times."""

from dataclasses import replace

import pytest
from dagster import DagsterInstance

from tests.dagster_defs.instance import evaluate, report_day, repository_of
from tests.dagster_defs.sample import location_of
from tests.doubles.clock import Clock
from tests.doubles.reference.store import ReferenceStore
from tidegate.dagster_defs.definitions import definitions
from tidegate.dagster_defs.dispatch.pace import Rounds

pytestmark = pytest.mark.dagster


@pytest.mark.parametrize(
    ("interval", "work", "expected"),
    [
        (1, 0.1, [0, 1, 2, 3, 4]),
        (2, 0.1, [0, 2, 4]),
        (3, 0.1, [0, 3]),
        (5, 0.1, [0]),
        (60, 0.1, [0]),
        (1, 0.75, [0, 1, 2, 3]),  # a further tick would end after Dagster has looked for the next evaluation
        (1, 2, [0, 2]),
        (1, 3, [0]),
    ],
)
def test_an_evaluation_ticks_until_its_round_ends(interval: int, work: float, expected: list[float]) -> None:
    clock = Clock()
    began, ticked = clock.now, list[float]()

    for _ in Rounds(interval, clock, clock.let_pass).ticks():
        ticked.append(clock.now - began)
        clock.let_pass(work)

    assert ticked == expected


def test_one_evaluation_of_a_process_stays_and_the_others_tick_once() -> None:
    clock = Clock()
    shared = Rounds(1, clock, clock.let_pass)
    first = shared.ticks()
    next(first)
    next(first)

    assert len(list(shared.ticks())) == 1
    first.close()
    assert len(list(shared.ticks())) == 5


def test_what_arrives_during_an_evaluation_is_launched_by_it(
    instance: DagsterInstance, store: ReferenceStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()

    def sleep(seconds: float) -> None:
        clock.let_pass(seconds)
        if clock.now == 2:
            report_day(instance, "2023-03-09")

    monkeypatch.setattr(definitions, "Rounds", lambda seconds: Rounds(seconds, clock, sleep))
    repository = repository_of(replace(location_of(store), dispatch_interval_seconds=1))

    (request,) = evaluate(instance, repository).run_requests or []

    assert request.partition_key == "2023-03-09"
    assert len(clock.pauses) == 2
