"""The inputs of `tests.simulation.paced` with overrides that expire and deadlines of datasets."""

import random
from collections.abc import Iterator
from datetime import datetime, timedelta

from tests.simulation.hands import Hands
from tests.simulation.paced import DURATION, GRID, START, Input, inputs
from tests.simulation.people.deeds import arrival_by_chance, deed_by_chance, some_deadlines
from tidegate.scheduler.model.event import Event
from tidegate.scheduler.tick.tick import advance_before

NAMES = ["s0", "s1", "s2", "s3", "by_hand0", "by_hand1"]
PAUSES = (0, 0.000001, 1, 59.5, 600, 1800)
"""Seconds between two deeds."""

IN_TIME = (0,)
"""What arrives late counts when it is read, so it must not differ with the pace."""


def inputs_of_people(seed: int) -> list[tuple[datetime, Input]]:
    """The inputs of a seed, and what people do beside them."""
    dice = random.Random(f"people {seed}")
    found = inputs(seed, some_deadlines(dice))
    now, number = START, 0
    while now < START + DURATION:
        now += timedelta(seconds=dice.choice(PAUSES))
        number += 1
        if dice.random() < 0.5:
            found.append((now, deed_by_chance(dice, NAMES, now).give))
        else:
            found.append((now, _landing(arrival_by_chance(dice, f"l{number}", now, IN_TIME))))
    found += [(at, _looking) for at in _grid()]
    # What happens after the last tick is not compared.
    return [(at, what) for at, what in found if at <= START + DURATION]


def _grid() -> Iterator[datetime]:
    """The instants at which runs begin."""
    at = START
    while (at := at + GRID) <= START + DURATION:
        yield at


def _looking(hands: Hands) -> None:
    """What has expired has expired before a run begins: a claim does not move the engine's clock."""
    hands.within(lambda transaction: advance_before(transaction, hands.now))


def _landing(event: Event) -> Input:
    def land(hands: Hands) -> None:
        hands.add([event])

    return land
