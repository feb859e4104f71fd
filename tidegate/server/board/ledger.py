"""*Ledger*: what became of the events of each schedule, in numbers and as a picture.

From the schedules on the left, bands of events lead to what became of them.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tidegate.domain.value import Value
from tidegate.listings.ledger import LEDGER, Balance
from tidegate.listings.read import Rows
from tidegate.scheduler.store.wanted import Outcome
from tidegate.server.access import Caller
from tidegate.server.listing import read_seen
from tidegate.server.service import Service

HEIGHT, GAP = 260, 8
"""Of all events together, and between two ends, in pixels."""

LEFT, RIGHT, BAR = 220, 520, 10
"""The inner edges of the bars, and their width."""

SCHEDULES_MAX = 10
"""Schedules with an end of their own, those with the most events; the others are one."""

OTHERS = "others"


OUTCOMES = tuple(str(each) for each in Outcome)
LINES_MAX = 1_000_000
"""Of the lines of all schedules, which are added up."""

BAR_MAX = 300
"""Width of the longest bar of a line, in pixels."""


class End(Value, kw_only=True):
    """A bar with its number of events, on either side."""

    name: str
    events: int
    y: float
    height: float


class Band(Value, kw_only=True):
    """The events of one schedule with one outcome, as a path of SVG."""

    schedule: str
    outcome: str
    events: int
    path: str


class Flow(Value, kw_only=True):
    """The picture; without ends if there are no events."""

    schedules: tuple[End, ...]
    outcomes: tuple[End, ...]
    bands: tuple[Band, ...]
    height: int


class Whole(Value, kw_only=True):
    """What the page shows of all lines beside those that it lists.

    Attributes:
        landed: all events.
        total: the same by outcome.
        bars: of each line that is listed, outcome, left end and width of each part of its bar.
    """

    landed: int
    total: dict[str, int]
    flow: Flow
    bars: dict[str, tuple[tuple[str, int, int], ...]]


def whole_ledger(service: Service, caller: Caller, rows: Rows, given: dict[str, Any]) -> Whole:
    """Return what a page of the ledger shows of all lines."""
    lines: list[Balance] = read_seen(service, caller, LEDGER, given, LINES_MAX).items
    events = {line.schedule: {name: int(getattr(line, name)) for name in OUTCOMES} for line in lines}
    total = {name: sum(each[name] for each in events.values()) for name in OUTCOMES}
    most = max((line.landed for line in lines), default=0) or 1
    return Whole(
        landed=sum(total.values()),
        total=total,
        flow=flow(list(events.items()), OUTCOMES),
        bars={line.schedule: tuple(_bars(events[line.schedule], most)) for line in rows.items},
    )


def _bars(events: Mapping[str, int], most: int) -> Iterator[tuple[str, int, int]]:
    left = 0
    for name, number in events.items():
        width = round(BAR_MAX * number / most)
        yield name, left, width
        left += width


def flow(lines: Sequence[tuple[str, Mapping[str, int]]], outcomes: Sequence[str]) -> Flow:
    """Return the picture of lines of the ledger: schedules with their events by outcome."""
    sources = _largest(lines, outcomes)
    total = sum(sum(events.values()) for _, events in sources)
    if not total:
        return Flow(schedules=(), outcomes=(), bands=(), height=0)
    scale = HEIGHT / total
    targets = [(name, sum(events.get(name, 0) for _, events in sources)) for name in outcomes]
    left = _ends([(name, sum(events.values())) for name, events in sources], scale)
    right = _ends([each for each in targets if each[1]], scale)
    bands: list[Band] = []
    at_left, at_right = {end.name: end.y for end in left}, {end.name: end.y for end in right}
    for name, events in sources:
        for outcome in outcomes:
            if number := events.get(outcome, 0):
                path = _path(at_left[name], at_right[outcome], number * scale)
                bands.append(Band(schedule=name, outcome=outcome, events=number, path=path))
                at_left[name] += number * scale
                at_right[outcome] += number * scale
    lowest = max(end.y + max(end.height, GAP) for end in (*left, *right))
    return Flow(schedules=left, outcomes=right, bands=tuple(bands), height=round(lowest) + GAP)


def _largest(
    lines: Sequence[tuple[str, Mapping[str, int]]], outcomes: Sequence[str]
) -> list[tuple[str, Mapping[str, int]]]:
    """Return the lines with the most events, and the sum of the others."""
    some = [(name, events) for name, events in lines if any(events.values())]
    ordered = sorted(some, key=lambda line: (-sum(line[1].values()), line[0]))
    rest = ordered[SCHEDULES_MAX:]
    if not rest:
        return ordered
    together = {outcome: sum(events.get(outcome, 0) for _, events in rest) for outcome in outcomes}
    return [*ordered[:SCHEDULES_MAX], (OTHERS, together)]


def _ends(numbers: Sequence[tuple[str, int]], scale: float) -> tuple[End, ...]:
    found: list[End] = []
    y = float(GAP)
    for name, number in numbers:
        height = round(number * scale, 1)
        found.append(End(name=name, events=number, y=round(y, 1), height=height))
        y += max(height, GAP * 2) + GAP  # room for the label of a thin one
    return tuple(found)


def _path(y1: float, y2: float, height: float) -> str:
    begin, end, middle = LEFT + BAR, RIGHT, (LEFT + BAR + RIGHT) // 2
    low1, low2 = y1 + height, y2 + height
    return (
        f"M{begin},{y1:.1f} C{middle},{y1:.1f} {middle},{y2:.1f} {end},{y2:.1f}"
        f" L{end},{low2:.1f} C{middle},{low2:.1f} {middle},{low1:.1f} {begin},{low1:.1f} Z"
    )
