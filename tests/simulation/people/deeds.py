"""What people do in production beside the YAML: single schedules by hand, statuses and holds that expire.

Drawn by dice of its own and given to any hands, so that the histories without it stay as they are, and a
list of inputs may have it too.
"""

import random
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime, time, timedelta
from typing import NamedTuple

from tests.simulation.chance.app import NUMBERS, compiled
from tests.simulation.chance.app import Refused as RefusedByLint
from tests.simulation.hands import Hands
from tests.simulation.people.expected import ORIGINS, ZONE
from tidegate.domain.model import Deadline, Schedule
from tidegate.domain.time.expiry import Until
from tidegate.scheduler.commands.by_hand.held_apps import hold_app, release_app
from tidegate.scheduler.commands.by_hand.manual import resume, suspend
from tidegate.scheduler.commands.deployment.schedules import delete_schedules, put_schedule
from tidegate.scheduler.commands.reverts import Part, revert
from tidegate.scheduler.model.event import Event, EventKind, partition_event_key
from tidegate.scheduler.model.journal import By
from tidegate.scheduler.model.refused import Refused
from tidegate.scheduler.store.protocol import EngineTransaction


class Deed(NamedTuple):
    """What a person does.

    Attributes:
        spec: the text that it gives to a schedule.
    """

    give: Callable[[Hands], None]
    spec: Schedule | None = None


ADA = By(actor="cli:ada", reason="late feed")
BOB = By(actor="rest:bob")

EXPIRIES = (
    timedelta(microseconds=1),
    timedelta(seconds=1),
    timedelta(minutes=7),
    timedelta(hours=1),
    timedelta(hours=5),
    timedelta(hours=30),
)
FULL_HOUR = timedelta(hours=1)

DEADLINES = (
    Deadline(by=time(8)),
    Deadline(by=time(0, 30)),
    Deadline(within=timedelta(minutes=10)),
    Deadline(within=timedelta(hours=3)),
)
DELAYS = (0, 0, 0, 5, 900)

EXPECTED = ("raw", "hourly", "chunks", "plain")
"""The datasets that may have a deadline: days, hours, days in two parts, and one without partitions."""


def some_deadlines(dice: random.Random) -> dict[str, Deadline]:
    """The deadlines with which a history begins."""
    return {name: dice.choice(DEADLINES) for name in EXPECTED if dice.random() < 0.6}


def text_by_chance(dice: random.Random, name: str) -> Schedule | None:
    """A schedule of this name; None if lint refuses it."""
    try:
        return compiled({name: dice.randrange(NUMBERS)}).schedules[name]
    except RefusedByLint:
        return None


def until_by_chance(dice: random.Random, now: datetime) -> Until | None:
    """When something ends by itself: never, soon, or at a full hour, where several may end together."""
    match dice.choice(("no", "never", "span", "span", "hour", "hour")):
        case "no":
            return None
        case "never":
            return Until()
        case "span":
            return Until(at=now + dice.choice(EXPIRIES))
        case _:
            hour = now.replace(minute=0, second=0, microsecond=0)
            return Until(at=hour + FULL_HOUR * dice.randint(1, 3))


def deed_by_chance(dice: random.Random, names: list[str], now: datetime) -> Deed:
    """Something that a person does to a schedule or to the app; it may be refused."""
    what = dice.choices(
        ("switch", "put", "create", "delete", "revert", "hold", "release"), (6, 6, 2, 2, 2, 1, 2)
    )[0]
    name, until, by = dice.choice(names), until_by_chance(dice, now), dice.choice((ADA, BOB))
    match what:
        case "switch":
            change = dice.choice((suspend, suspend, resume))
            return _given(lambda t, at: change(t, f"a/{name}", at, by, until))
        case "put" | "create":
            spec = text_by_chance(dice, name if what == "put" else f"by_hand{dice.randint(0, 1)}")
            if spec is None:
                return Deed(lambda hands: None)
            return _given(lambda t, at: put_schedule(t, "a", spec, at, by, until), spec)
        case "delete":
            return _given(lambda t, at: delete_schedules(t, [f"a/{name}"], at, by=by))
        case "revert":
            only: Part | None = dice.choice((None, "status", "text"))
            return _given(lambda t, at: revert(t, f"a/{name}", at, by, only))
        case "hold":
            return _given(lambda t, at: hold_app(t, "a", at, by, until))
        case _:
            return _given(lambda t, at: release_app(t, "a", at, by))


def arrival_by_chance(dice: random.Random, id: str, now: datetime, delays: Sequence[int] = DELAYS) -> Event:
    """A partition of a period of now, or of just before, so that some land in time and some do not.

    Args:
        delays: seconds since when it has arrived.
    """
    dataset = dice.choice(EXPECTED)
    at = now.astimezone(ZONE) - dice.choice(
        (timedelta(0), timedelta(0), timedelta(hours=1), timedelta(hours=20))
    )
    day = f"{at:%Y-%m-%d}"
    key = {"hourly": f"{at:%Y-%m-%d-%H}:00", "chunks": f"{day}|{dice.choice(ORIGINS)}", "plain": ""}
    arrived = now - timedelta(seconds=dice.choice(delays))
    return Event(
        id=id,
        kind=EventKind.PARTITION,
        key=partition_event_key("a", dataset),
        time=arrived,
        arrived=arrived,
        partition=key.get(dataset, day),
    )


def _given(deed: Callable[[EngineTransaction, datetime], object], spec: Schedule | None = None) -> Deed:
    def give(hands: Hands) -> None:
        with suppress(Refused):
            hands.within(lambda transaction: deed(transaction, hands.now))

    return Deed(give, spec)
