"""`complete`: a key is looked up among those of the last period; the result is that of parsing each key."""

import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from tests.effort import much
from tidegate.domain.model import (
    Cycle,
    Dataset,
    PartitionScheme,
    PartitionsTrigger,
    StaticDimension,
    TimeDimension,
)
from tidegate.domain.partition_key import enclosing_key, expected_keys, keys_within
from tidegate.scheduler.decision.triggers import evaluate, partitions
from tidegate.scheduler.decision.triggers.collected import Collected
from tidegate.scheduler.model.event import Delivery, Event, EventKind

FIRST = datetime(2026, 3, 7, tzinfo=UTC)
"""The clocks of New York are put forward the next night."""

CASES: list[tuple[Cycle, Cycle, str, bool]] = [
    ("hour", "day", "America/New_York", True),
    ("hour", "week", "Asia/Kolkata", False),
    ("minute", "hour", "America/New_York", False),
    ("day", "week", "UTC", True),
    ("day", "month", "Australia/Lord_Howe", False),
]


def scheme_of(cycle: Cycle, zone: str, *, static: bool) -> PartitionScheme:
    """Partitions by time, also in two sites, whose name is before that of the time or behind it."""
    return PartitionScheme(
        time=TimeDimension(name="m", cycle=cycle, start="2026-01-01", timezone=zone),
        static=StaticDimension(name="a" if cycle == "day" else "site", keys=("x", "y")) if static else None,
    )


def delivered(keys: Sequence[str]) -> tuple[Delivery, ...]:
    """Partitions that arrive one each second."""
    events = [
        Event(
            id=f"e{number}",
            kind=EventKind.PARTITION,
            key="partition:a/raw",
            time=FIRST,
            arrived=FIRST + timedelta(seconds=number),
            partition=key,
        )
        for number, key in enumerate(keys)
    ]
    return tuple(Delivery(event=each, schedule="a/s", leaf="", job="j", at=each.arrived) for each in events)


@pytest.mark.parametrize(("cycle", "complete", "zone", "static"), CASES)
@pytest.mark.parametrize("seed", range(much(3)))
def test_the_periods_are_those_of_each_key(
    cycle: Cycle, complete: Cycle, zone: str, static: bool, seed: int
) -> None:
    dice, scheme = random.Random(seed), scheme_of(cycle, zone, static=static)
    pool = keys_within(scheme, FIRST, FIRST + timedelta(days=60 if cycle == "day" else 2))
    runs = [pool[at : at + dice.randint(1, 9)] for at in (dice.randrange(len(pool)) for _ in range(40))]
    deliveries = delivered([key for run in runs for key in run])
    wanted: dict[str, dict[str, datetime]] = {}
    for each in deliveries:
        key = each.event.partition or ""
        wanted.setdefault(enclosing_key(scheme, key, complete), {}).setdefault(key, each.event.arrived)
    trigger = PartitionsTrigger(dataset="raw", complete=complete)
    collected = Collected(by_leaf={}, key="", datasets={"raw": Dataset(name="raw", partitions=scheme)})
    found = partitions._periods(trigger, deliveries, collected)
    assert list(found) == list(wanted)
    for period, each in found.items():
        first, keys = wanted[period], expected_keys(scheme, complete, period)
        assert list(each.came.items()) == [(key, first.get(key)) for key in keys]
        assert each.missing == [key for key in keys if key not in first]
        assert each.since == (None if each.missing else max(first.values()))


@pytest.mark.parametrize("lacks", [0, 1])
def test_a_day_of_many_parts_is_read_once_and_parses_one_key(
    lacks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed: list[str] = []

    def noted(scheme: PartitionScheme, key: str, cycle: Cycle) -> str:
        parsed.append(key)
        return enclosing_key(scheme, key, cycle)

    monkeypatch.setattr(partitions, "enclosing_key", noted)
    scheme = scheme_of("minute", "UTC", static=True)
    keys = expected_keys(scheme, "day", "2026-03-08")
    trigger = PartitionsTrigger(dataset="raw", complete="day")
    deliveries = delivered(keys[: len(keys) - lacks])
    datasets = {"raw": Dataset(name="raw", partitions=scheme)}
    collected = Collected(by_leaf={"": deliveries}, key="2026-03-08", datasets=datasets)
    verdict = evaluate(trigger, collected, FIRST + timedelta(days=1))
    assert verdict.since == (None if lacks else deliveries[-1].event.arrived)
    assert (verdict.have, verdict.need, verdict.unit) == (len(keys) - lacks, len(keys), "parts")
    assert verdict.needs == ("1 part of raw of 2026-03-08: 2026-03-08-23:59|y" if lacks else None)
    assert parsed == [keys[0]]
    assert len(keys) == 2 * 24 * 60
