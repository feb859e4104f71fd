"""The lanes of a time line: which schedules, tasks and policies have something in a span, in which order.

They are counted before anything of them is read: the store says how many jobs of each state each has, and a
page of them is read in full (`time_line`).
"""

import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from datetime import datetime

from tidegate.domain.part_name import app_of
from tidegate.domain.value import Value
from tidegate.listings.time_line import LaneState
from tidegate.scheduler.decision.marks import Span, slots_within
from tidegate.scheduler.model.event import SUBSCRIPTIONS, event_keys_of
from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.store.answers import LaneCount
from tidegate.scheduler.store.listing_reader import ListingReader

TASKS_READ = 1000
"""Tasks whose starts are looked for, beside those that have jobs in the span."""

LANES_OF_PAGE = 60

STATES: dict[JobState, LaneState] = {
    JobState.PENDING_TRIGGER: LaneState.WAITING,
    JobState.PENDING_CONSTRAINT: LaneState.WAITING,
    JobState.PAUSED: LaneState.WAITING,
    JobState.PENDING_LAUNCH: LaneState.QUEUED,
    JobState.LAUNCHED: LaneState.RUNNING,
    JobState.SUCCEEDED: LaneState.SUCCEEDED,
    JobState.FAILED: LaneState.FAILED,
    JobState.DISCARDED: LaneState.DISCARDED,
}
"""Of a job that is neither late nor held, and whose run has begun."""

_WORST_FIRST = {state: place for place, state in enumerate(LaneState)}


class Wanted(Value, kw_only=True):
    """What of a time line is wanted.

    Attributes:
        now: the instant of the request.
        apps: that the caller sees; None for all.
        refs: only these lanes, also if they have nothing in the span; None for all that have.
        text: in the name of a lane.
        states: that a lane is in; empty for all.
        page: from 1.
    """

    span: Span
    now: datetime
    apps: frozenset[str] | None = None
    refs: frozenset[str] | None = None
    text: str = ""
    states: frozenset[LaneState] = frozenset()
    page: int = 1


class Found(Value, kw_only=True):
    """A lane that was counted."""

    ref: str
    state: LaneState
    jobs: int


class FoundApp(Value, kw_only=True):
    """The lanes of an app that match.

    Attributes:
        states: how many are in each state.
        lanes: those of the page.
    """

    app: str
    states: dict[str, int]
    lanes: tuple[Found, ...]


class FoundLanes(Value, kw_only=True):
    """The lanes that match, those of one page by app."""

    number: int
    pages: int
    apps: tuple[FoundApp, ...]


def find_lanes(reader: ListingReader, wanted: Wanted, expected: Collection[str]) -> FoundLanes:
    """Return the lanes of a page.

    Args:
        expected: the datasets with a deadline in the span: who waits for one has a lane.
    """
    span = wanted.span
    counts: dict[str, list[LaneCount]] = {}
    for count in reader.lane_counts(span.start, span.end, wanted.apps):
        counts.setdefault(count.schedule, []).append(count)
    ahead = Span(start=max(span.start, wanted.now), end=span.end)
    if ahead.start < ahead.end:
        for ref in _starting(reader, ahead, wanted.apps):
            counts.setdefault(ref, [LaneCount(schedule=ref)])
    for ref in (*_waiting_for(reader, expected, wanted.apps), *(wanted.refs or ())):
        counts.setdefault(ref, [LaneCount(schedule=ref)])
    apps: dict[str, list[Found]] = {}
    for ref, several in counts.items():
        if _matches(lane := _lane(ref, several), wanted):
            apps.setdefault(app_of(ref), []).append(lane)
    number = sum(map(len, apps.values()))
    return FoundLanes(
        number=number,
        pages=max(1, math.ceil(number / LANES_OF_PAGE)),
        apps=tuple(_of_page(apps, (wanted.page - 1) * LANES_OF_PAGE)),
    )


def _starting(reader: ListingReader, span: Span, apps: Collection[str] | None) -> Iterator[str]:
    """Yield the tasks whose instances are made, and start, in a span; those that are made have jobs."""
    for state in reader.due_schedules(span.end, TASKS_READ, tasks=True):
        seen = state.active and (apps is None or state.app in apps)
        if seen and next(slots_within(state.spec.as_task, span), None) is not None:
            yield state.ref


def _waiting_for(
    reader: ListingReader, datasets: Collection[str], apps: Collection[str] | None
) -> Iterator[str]:
    """Yield the schedules that wait for some datasets."""
    keys = [key for name in datasets for key in event_keys_of(name)]
    for each in reader.records(SUBSCRIPTIONS, event_key=keys) if keys else ():
        if each.former is None and (apps is None or app_of(each.schedule) in apps):
            yield each.schedule


def _lane(ref: str, counts: Collection[LaneCount]) -> Found:
    states = {STATES[each.state] for each in counts if each.state is not None and each.jobs > each.queued}
    states |= {LaneState.LATE} if any(each.late for each in counts) else set()
    states |= {LaneState.HELD} if any(each.held for each in counts) else set()
    states |= {LaneState.QUEUED} if any(each.queued for each in counts) else set()
    worst = min(states, key=_WORST_FIRST.__getitem__, default=LaneState.AHEAD)
    return Found(ref=ref, state=worst, jobs=sum(each.jobs for each in counts))


def _matches(lane: Found, wanted: Wanted) -> bool:
    return (
        (wanted.refs is None or lane.ref in wanted.refs)
        and (not wanted.text or wanted.text.casefold() in lane.ref.casefold())
        and (not wanted.states or lane.state in wanted.states)
    )


def _of_page(apps: Mapping[str, Collection[Found]], first: int) -> Iterator[FoundApp]:
    """Yield the apps of a page: the busiest first, and in each the worst state, then the busiest lane."""
    busy = {app: sum(lane.jobs for lane in lanes) for app, lanes in apps.items()}
    passed = 0
    for app in sorted(apps, key=lambda app: (-busy[app], app)):
        begin, end = max(0, first - passed), first + LANES_OF_PAGE - passed
        passed += len(apps[app])
        if end <= 0:
            return
        if begin >= len(apps[app]):
            continue
        ordered = sorted(apps[app], key=lambda lane: (_WORST_FIRST[lane.state], -lane.jobs, lane.ref))
        states = Counter(lane.state.value for lane in ordered)
        yield FoundApp(app=app, states=dict(states), lanes=tuple(ordered[begin:end]))
