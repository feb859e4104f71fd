"""Examples of tasks where the stories do not go: an older backfill, and what cannot be observed."""

from datetime import UTC, datetime

from tidegate.compiler.compile import compile_files
from tidegate.compiler.scenarios.model.scenario import Expectation, Scenario
from tidegate.compiler.scenarios.model.tasks import ExpectInstance, ExpectInstances
from tidegate.domain.model import At
from tidegate.scheduler.simulation.expectation import judge
from tidegate.scheduler.simulation.observed import count_instances
from tidegate.scheduler.simulation.play import play
from tidegate.scheduler.store.memory.store import MemoryStore

NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)
HERE = At(file="a.yaml", line=1, column=1)
TEXT = """
app: a
programs: {p: {run: x.p}, q: {run: x.q}}
tasks:
  one: {program: p, cycle: day, status: suspended}
  two: {program: q, cycle: day, status: suspended}
examples:
  - name: the newest backfill of the named task is cancelled
    start: 2026-03-10T12:00:00Z
    given:
      - {at: +0s, backfill: {task: one, from: 2026-03-08, to: 2026-03-08}}
      - {at: +1m, backfill: {task: two, from: 2026-03-08, to: 2026-03-08}}
      - {at: +2m, cancel_backfill: {task: one}}
    expect:
      - {at: +2m, discarded: one, reason: D-CANCELLED}
      - {at: +3m, instance: two, business_date: 2026-03-08, number: 2, status: waiting, reason: W-HELD}
"""


def test_the_newest_backfill_of_the_named_task_is_cancelled() -> None:
    found = compile_files({"a.yaml": TEXT.encode()})
    assert found.ok, found.diagnostics
    (scenario,) = found.apps["a"].scenarios
    assert play(scenario, found.apps["a"]).failures == ()


def test_what_was_not_observed_does_not_hold() -> None:
    expected = Expectation(expected=ExpectInstance(task="t", when=NOON, scheduled="2026-03-10"), at=HERE)
    scenario = Scenario(name="x", start=NOON, until=NOON, expect=(expected,), at=HERE)
    (failure,) = judge(scenario, (), {}, "UTC")
    assert failure.observed == "nothing: the example ends before"


def test_a_task_that_does_not_exist_has_no_instances() -> None:
    with MemoryStore().reading() as reader:
        counted = count_instances(reader, "a", ExpectInstances(task="t", when=NOON, day="2026-03-10"))
    assert (counted.count, counted.empty) == (0, 0)
