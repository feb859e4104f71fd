"""One long scenario of cycle tasks, in steps: all that can become of an instance, with a redeployment in it.

Every step is deterministic, and made of hands that can be interrupted anywhere. A person whose command was
not answered gives it again, and may hear that it is done already.
"""

from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime

from tests.simulation.hands import Hands
from tests.simulation.long_scenario import (
    Step,
    asking_twice,
    ending,
    ending_all,
    later,
    resuming,
    suspending,
    ticking,
)
from tests.worlds.by import CLI
from tidegate.compiler.compile import compile_files
from tidegate.domain.model import App
from tidegate.scheduler.commands.backfills.cancel import cancel_backfill
from tidegate.scheduler.commands.backfills.request import NEWEST, Wanted
from tidegate.scheduler.commands.backfills.start import start_backfill
from tidegate.scheduler.commands.deployment.schedules import delete_schedules
from tidegate.scheduler.commands.tasks.instances import InstanceName, act
from tidegate.scheduler.commands.tasks.reports import Times, report
from tidegate.scheduler.decision.instances.actions import Action
from tidegate.scheduler.model.journal import By
from tidegate.scheduler.model.refused import InstanceRefused
from tidegate.scheduler.model.run import RunStatus
from tidegate.scheduler.store.protocol import EngineTransaction

START = datetime(2026, 3, 9, 6, tzinfo=UTC)

HEAD = """
app: a
datasets:
  landed: {partitions: {cycle: hour, start: 2026-01-01-00:00}}
  hours: {partitions: {cycle: hour, start: 2026-01-01-00:00}}
  days: {partitions: {cycle: day, start: 2026-01-01}}
programs:
  clean: {run: x.clean, reads: [landed], writes: [hours]}
  sum_up: {run: x.sum_up, reads: [hours], writes: [days]}
  send: {run: x.send}
tasks:
  feed: {type: source, dataset: landed, cycle: hour, at: {every: 6h}, update: outside, status: active}
"""
BEFORE = """
  clean: {program: clean, cycle: hour, at: {every: 6h, minute: 10}, status: active,
          retries: {max: 1, wait: 5m}, constraints: [{concurrency: {max: 1}}]}
  daily: {program: sum_up, cycle: day, at: {time: "23:00"}, depends_on: [clean, self], status: active}
  weekly: {program: send, cycle: week, at: {time: "23:30", weekdays: [wed]}, status: active,
           depends_on: [daily]}
"""
AFTER = """
  clean: {program: clean, cycle: hour, at: {every: 4h, minute: 10}, status: active}
  daily: {program: sum_up, cycle: day, at: {time: "22:00"}, depends_on: [clean], status: active,
          valid_to: 2026-03-09}
  sent: {program: send, cycle: minute, at: {every: 30m, from: "04:00", to: "06:00"}, status: active,
         depends_on: [clean]}
"""
BY = By(actor="a person")
MORNING, NOON, EVENING = (f"2026-03-09-{hour}:00" for hour in ("06", "12", "18"))


def scenario() -> list[Step]:
    """Every step, in order."""
    first = [
        deploying(BEFORE),
        ticking,
        reporting("r1", MORNING),
        later(minutes=10),
        *working(),
        ending(RunStatus.FAILED),
        later(minutes=5),
        *working(),
        ending(RunStatus.SUCCEEDED),
        ticking,
        later(minutes=6 * 60),
        reporting("r2", NOON),
        *working(),
        acting("clean", NOON, Action.PAUSE),
        reporting("r2", NOON),
        acting("clean", NOON, Action.RESUME),
        *working(),
        ending(RunStatus.SUCCEEDED),
    ]
    again = [
        reporting("r3", MORNING, status="failed"),
        ticking,
        reporting("r4", MORNING),
        *working(),
        acting("feed", NOON, Action.RERUN, downstream=True),
        ending(RunStatus.SUCCEEDED),
        ticking,
        reporting_range("r5", MORNING, NOON),
        *working(),
        ending_all,
        *working(),
        ending_all,
        acting("clean", EVENING, Action.MARK_SUCCESSFUL),
        suspending("daily"),
        later(minutes=11 * 60),
        *working(),
        resuming("daily"),
        *working(),
        ending_all,
        *working(),
        acting("daily", "2026-03-09", Action.RERUN, downstream=True),
    ]
    backfills = [
        backfilling(1, "2026-03-05", "2026-03-06"),
        *working(),
        ending_all,
        backfilling(2, "2026-03-04", "2026-03-04"),
        *working(),
        cancelling(2),
        *[step for _ in range(6) for step in (*working(), ending_all)],
    ]
    changes = [
        deploying(AFTER),
        *working(),
        deleting("sent"),
        ticking,
        deploying(AFTER),
        later(minutes=26 * 60),
        *[step for _ in range(6) for step in (*working(), ending_all)],
    ]
    return first + again + backfills + changes


def working() -> list[Step]:
    """A tick, and what it has decided is launched."""
    return [ticking, *asking_twice()]


def deploying(tasks: str) -> Step:
    """The app is deployed."""
    compilation = compile_files({"a.yaml": (HEAD + tasks.lstrip("\n")).encode()})
    assert compilation.ok, compilation.diagnostics
    app: App = compilation.apps["a"].app
    return lambda hands: hands.deploy(app)


def reporting(request: str, *keys: str, status: str = "successful") -> Step:
    """The feed is reported, by a caller who repeats what was not answered."""
    return _reporting(Times(scheduled=keys), request, status)


def reporting_range(request: str, first: str, last: str) -> Step:
    """All times of the feed in a range are reported."""
    return _reporting(Times(from_=first, to=last), request, "successful")


def acting(task: str, key: str, action: Action, *, downstream: bool = False) -> Step:
    """A person does something to an instance."""
    name = InstanceName(scheduled=key)
    return _commanding(lambda t, now: act(t, f"a/{task}", name, action, now, BY, downstream=downstream))


def backfilling(number: int, first: str, last: str) -> Step:
    """A person starts a backfill, if it is not there yet."""
    wanted = Wanted(app="a", task="daily", from_=first, to=last, upstream=True)
    return _commanding(lambda t, now: (t.cursor(NEWEST) or 0) < number and start_backfill(t, wanted, now, BY))


def cancelling(number: int) -> Step:
    """A person cancels a backfill."""
    return _commanding(lambda t, now: cancel_backfill(t, number, now, BY))


def deleting(task: str) -> Step:
    """A person deletes a task, if it is there."""
    ref = f"a/{task}"
    return _commanding(lambda t, now: t.schedules(refs=[ref]) and delete_schedules(t, [ref], now, by=CLI))


def _reporting(times: Times, request: str, status: str) -> Step:
    return _commanding(lambda t, now: report(t, "a/feed", times, status, now, BY, request))


def _commanding(command: Callable[[EngineTransaction, datetime], object]) -> Step:
    def step(hands: Hands) -> None:
        with suppress(InstanceRefused):
            hands.within(lambda transaction: command(transaction, hands.now))

    return step
