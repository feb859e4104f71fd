"""One day of overrides, in steps: texts, statuses and holds by hand that expire, revert or are deployed away.

Every step is deterministic, and made of hands that can be interrupted anywhere.
"""

from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta

from tests.simulation.hands import Hands
from tests.simulation.long_scenario import Step, arriving, ending_all, later, ticking
from tests.simulation.people.deeds import ADA, BOB
from tidegate.compiler.compile import compile_files
from tidegate.domain.model import App
from tidegate.domain.time.expiry import Until
from tidegate.scheduler.commands.by_hand.held_apps import hold_app
from tidegate.scheduler.commands.by_hand.manual import resume, suspend
from tidegate.scheduler.commands.deployment.schedules import delete_schedules, put_schedule
from tidegate.scheduler.commands.reverts import revert
from tidegate.scheduler.model.refused import Refused
from tidegate.scheduler.store.protocol import EngineTransaction
from tidegate.scheduler.tick.held_apps import held_apps

START = datetime(2026, 3, 10, 6, tzinfo=UTC)
SEVEN, EIGHT = START + timedelta(hours=1), START + timedelta(hours=2)

APP = """
app: a
datasets:
  raw: {partitions: {cycle: day, start: 2026-01-01}}
  plain: {}
programs:
  p: {run: programs.p}
schedules:
  each: {program: p, status: active, batching: each, trigger: {partitions: {dataset: raw}}}
  carried: {program: p, status: active, on_update: carry, trigger: {partitions: {dataset: raw, count: 2}}}
  held: {program: p, status: active, on_suspend: hold, trigger: {partitions: {dataset: plain}}}
"""
BY_HAND = """
  carried: {program: p, status: active, on_update: carry, trigger: {partitions: {dataset: raw, count: 3}}}
  new: {program: p, status: active, trigger: {elapsed: {for: 20m, since: last_run}}}
"""


def app(text: str = APP) -> App:
    """An app of this text."""
    compilation = compile_files({"a.yaml": text.encode()})
    assert compilation.ok, compilation.diagnostics
    return compilation.apps["a"].app


CHANGED = app(APP[: APP.index("  each:")] + BY_HAND.lstrip("\n")).schedules


def scenario() -> list[Step]:
    """Every step, in order; at seven and at eight several overrides expire at the same instant."""
    by_hand = [
        _deploying(app()),
        arriving("raw", "2026-03-09"),
        ticking,
        _giving(lambda t, at: put_schedule(t, "a", CHANGED["carried"], at, ADA, Until(at=SEVEN))),
        _giving(lambda t, at: put_schedule(t, "a", CHANGED["new"], at, BOB, Until(at=EIGHT))),
        _giving(lambda t, at: suspend(t, "a/held", at, ADA, Until(at=SEVEN))),
        _giving(lambda t, at: suspend(t, "a/new", at, ADA)),
        _giving(lambda t, at: resume(t, "a/new", at, BOB, Until(at=SEVEN))),
        _giving(lambda t, at: delete_schedules(t, ["a/each"], at, by=BOB)),
        _giving(lambda t, at: hold_app(t, "a", at, ADA, Until(at=SEVEN))),
        arriving("raw", "2026-03-08"),
        arriving("plain", ""),
        later(minutes=7),
        ticking,
        _launching,
        _giving(lambda t, at: suspend(t, "a/held", at, BOB, Until(at=EIGHT))),
        later(minutes=50),
        arriving("raw", "2026-03-07"),
    ]
    first_expiry = [later(minutes=6), ticking, _launching, ending_all]
    away = [
        _giving(lambda t, at: revert(t, "a/each", at, ADA)),
        arriving("plain", ""),
        later(minutes=64),
        _giving(lambda t, at: suspend(t, "a/each", at, ADA)),
        ticking,
        _giving(lambda t, at: resume(t, "a/each", at, BOB)),
        _launching,
        ending_all,
        _giving(lambda t, at: put_schedule(t, "a", CHANGED["new"], at, BOB)),
        _deploying(app()),
        later(minutes=2),
        ticking,
    ]
    return by_hand + first_expiry + away


def _deploying(wanted: App) -> Step:
    return lambda hands: hands.deploy(wanted)


def _giving(deed: Callable[[EngineTransaction, datetime], object]) -> Step:
    def step(hands: Hands) -> None:
        # What a person gives twice, since the answer was lost, may be refused the second time.
        with suppress(Refused):
            hands.within(lambda transaction: deed(transaction, hands.now))

    return step


def _launching(hands: Hands) -> None:
    """What is offered is launched, unless the app is on hold."""
    with hands.store.reading() as reader:
        held = held_apps(reader)
    for request in () if held else hands.offer_launches():
        hands.start(request)
