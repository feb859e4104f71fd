"""Marks: what the deployed spec of a schedule says of a span of time, for a time line. Pure.

    times       fires of its crons, start times of its instances
    windows     when its windows are open
    waits       when `wait_at_most` and the timeout of a waiting job end
    deadlines   of its jobs, of the fires and starts to come, and of its datasets
    usual       how long its runs took, and when its data came, on the last days

All of it is computed by the functions by which the engine decides. Nothing is simulated: what depends on
data or on slots that are not known yet is left out.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import date, datetime, time, timedelta
from itertools import chain, islice, pairwise, takewhile
from statistics import median
from typing import Literal

from tidegate.domain.duration import is_never
from tidegate.domain.model import Composite, Schedule, TaskTrigger, Trigger, WindowConstraint
from tidegate.domain.tasks.grid import Slot, slots_of_day
from tidegate.domain.tasks.key import local_day
from tidegate.domain.time import fire_times
from tidegate.domain.time.clock_change import clock_changes
from tidegate.domain.time.wall_clock import first_instant, instants, wall_time
from tidegate.domain.value import Value
from tidegate.scheduler.decision.constraints.window import is_open
from tidegate.scheduler.decision.deadlines import due_at, first_clock
from tidegate.scheduler.decision.expected.judgement import next_update
from tidegate.scheduler.decision.expected.periods import following, missing
from tidegate.scheduler.decision.fires import counts_after, cron_leaves
from tidegate.scheduler.decision.timeout import deadline
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.job import Job, JobState
from tidegate.scheduler.model.records.expected import ExpectedData, ExpectedPeriod

MarkKind = Literal["wait_at_most", "timeout", "deadline"]
MarkState = Literal["to_come", "met", "missed"]

USUAL_OF = 14
"""So many of the last runs, and of the last days with data, say what is usual."""

USUAL_LEAST = 5
"""Of fewer nothing is usual."""

USUAL_WITHIN = timedelta(hours=12)
"""Data that comes over a longer part of the day comes at no usual time."""

_DAY = timedelta(days=1)


class Span(Value, kw_only=True):
    """A span of time, its end not included."""

    start: datetime
    end: datetime


class Mark(Value, kw_only=True):
    """An instant of a job, or of one to come, or of a dataset.

    Attributes:
        key: of the job, or the period of the dataset; "" without one.
        dataset: "app/name" of the dataset whose deadline it is; "" for that of a job.
        state: of a deadline; other marks are to come.
    """

    kind: MarkKind
    at: datetime
    key: str = ""
    dataset: str = ""
    state: MarkState = "to_come"


class Arrival(Value, kw_only=True):
    """When data usually comes.

    Attributes:
        days: on so many days it came.
        first, last: the earliest and the latest time of those days, in the zone.
        next: that span of the next day on which it has not come.
    """

    days: int
    first: time
    last: time
    next: Span


# --- times ------------------------------------------------------------------------------


def times_of(state: ScheduleState, span: Span, now: datetime, most: int) -> tuple[datetime, ...]:
    """Return the fires of a schedule, or the start times of the instances of a task, within a span.

    Args:
        most: so many before now, and so many from then on: those that are nearest to now.
    """
    task = state.spec.task
    if task is not None:
        return _starts(task, span, now, most, state.active_since) if state.active else ()
    found: set[datetime] = set()
    for leaf, cron in cron_leaves(state):
        since = max(span.start, counts_after(state, leaf, state.active_since or span.start))
        before, fire = set[datetime](), fire_times.previous_fire(cron, min(now, span.end))
        while fire is not None and fire >= since and len(before) < most:
            before.add(fire)
            fire = fire_times.previous_fire(cron, fire - timedelta.resolution)
        found |= before
        if state.fires:
            found |= set(islice(fire_times.fires(cron, max(now, span.start), span.end), most))
    timers = state.next_fire_at
    if not found and state.fires and timers is not None and span.start <= timers < span.end:
        found.add(timers)
    return tuple(sorted(found))


def slots_within(task: TaskTrigger, span: Span) -> Iterator[Slot]:
    """Yield the instances with a run whose start times are in a span."""
    first, last = local_day(task, span.start) - _DAY, local_day(task, span.end) + _DAY
    for number in range((last - first).days + 1):
        for slot in slots_of_day(task, first + number * _DAY):
            if span.start <= slot.start < span.end and not slot.empty:
                yield slot


def _starts(
    task: TaskTrigger, span: Span, now: datetime, most: int, since: datetime | None
) -> tuple[datetime, ...]:
    found = sorted(slot.start for slot in slots_within(task, span))
    before = [each for each in found if each <= now and (since is None or each >= since)]
    ahead = [each for each in found if each > now]
    return (*before[-most:], *ahead[:most])


# --- windows ----------------------------------------------------------------------------


def open_spans(windows: Collection[WindowConstraint], span: Span) -> tuple[Span, ...]:
    """Return when all of some windows are open, within a span; nothing without windows."""
    if not windows:
        return ()
    edges = {span.start, span.end}
    for window in windows:
        edges.update(each for each in _edges(window, span) if span.start < each < span.end)
    found: list[Span] = []
    for start, end in pairwise(sorted(edges)):
        if not all(is_open(window, start) for window in windows):
            continue
        if found and found[-1].end == start:
            found[-1] = Span(start=found[-1].start, end=end)
        else:
            found.append(Span(start=start, end=end))
    return tuple(found)


def _edges(window: WindowConstraint, span: Span) -> Iterator[datetime]:
    """Yield the instants between which a window is open all the time, or closed all the time."""
    first = wall_time(span.start, window.timezone).date() - _DAY
    last = wall_time(span.end, window.timezone).date() + _DAY
    for number in range((last - first).days + 1):
        day = first + number * _DAY
        for clock in (window.from_, window.to, time()):
            yield from instants(datetime.combine(day, clock), window.timezone)
    for change in clock_changes(window.timezone, span.start - _DAY, span.end + _DAY):
        yield change.at


def windows_of(spec: Schedule) -> tuple[WindowConstraint, ...]:
    """Return the windows of a schedule."""
    return tuple(hours for each in spec.constraints if (hours := each.hours) is not None)


# --- waits and deadlines ----------------------------------------------------------------


def marks_of(state: ScheduleState, jobs: Iterable[Job], span: Span, now: datetime) -> tuple[Mark, ...]:
    """Return the ends of the waits of some jobs, and the deadlines of a schedule, within a span."""
    several = tuple(jobs)
    found = chain(
        chain.from_iterable(_waits(state.spec, job, now) for job in several if job.waiting),
        filter(None, (_deadline(state.spec, job, now) for job in several)),
        _deadlines_to_come(state, several, span, now),
    )
    within = {(each.at, each.kind, each.key): each for each in found if span.start <= each.at < span.end}
    return tuple(within[key] for key in sorted(within))


def _waits(spec: Schedule, job: Job, now: datetime) -> Iterator[Mark]:
    first = job.first_event_at
    if job.state is JobState.PENDING_TRIGGER and first is not None and not _drops(spec.trigger):
        for wait in _wait_at_most(spec.trigger):
            if first + wait > now:
                yield Mark(kind="wait_at_most", at=first + wait, key=job.key)
    ends = deadline(spec.timeout, job, held=job.held_at is not None and job.by_hand is None)
    if ends is not None and not is_never(ends, now):
        yield Mark(kind="timeout", at=ends, key=job.key)


def _wait_at_most(trigger: Trigger) -> set[timedelta]:
    found = set[timedelta]() if trigger.wait_at_most is None else {trigger.wait_at_most}
    return found.union(*(_wait_at_most(each) for each in _members(trigger)))


def _drops(trigger: Trigger) -> bool:
    """Return whether events may drop out of a trigger: then its wait begins with another event."""
    return trigger.collect_within is not None or any(_drops(each) for each in _members(trigger))


def _members(trigger: Trigger) -> tuple[Trigger, ...]:
    return trigger.of if isinstance(trigger, Composite) else ()


def _deadline(spec: Schedule, job: Job, now: datetime) -> Mark | None:
    due = due_at(spec, job)
    if due is None or (job.instance is not None and job.instance.empty):
        return None
    succeeded = job.state is JobState.SUCCEEDED and job.ended_at is not None and job.ended_at <= due
    if job.late_at is None and not succeeded and job.state in (JobState.FAILED, JobState.DISCARDED):
        # What is over is not late.
        return None
    missed = job.late_at is not None or (not succeeded and due <= now)
    return Mark(
        kind="deadline", at=due, key=job.key, state="missed" if missed else "met" if succeeded else "to_come"
    )


def _deadlines_to_come(
    state: ScheduleState, jobs: Collection[Job], span: Span, now: datetime
) -> Iterator[Mark]:
    """Yield the deadlines of instances and fires whose jobs do not exist yet."""
    spec, ahead = state.spec, Span(start=now, end=span.end)
    if spec.deadline is None or ahead.start >= ahead.end or not state.fires:
        return
    if spec.task is not None and spec.deadline.by is not None:
        known = {job.instance.scheduled for job in jobs if job.instance is not None}
        for slot in slots_within(spec.task, ahead):
            if slot.scheduled not in known:
                yield Mark(kind="deadline", at=first_clock(spec.deadline.by, spec.timezone, slot.start))
    cron = spec.trigger.wall_clock
    if cron is None or spec.for_each is not None or spec.deadline.after == "start":
        return
    fires = takewhile(lambda fire: fire < ahead.end, fire_times.fires(cron, now, ahead.end))
    for fire in islice(fires, USUAL_OF):
        if spec.deadline.by is not None:
            yield Mark(kind="deadline", at=first_clock(spec.deadline.by, spec.timezone, fire))
        elif spec.deadline.within is not None:
            yield Mark(kind="deadline", at=fire + spec.deadline.within)


def marks_of_data(
    data: ExpectedData | None, kept: Collection[ExpectedPeriod], span: Span
) -> tuple[Mark, ...]:
    """Return the deadlines of a dataset within a span: those that were missed, and the next ones.

    Args:
        data: what is expected of it next; None for nothing.
        kept: its periods that were late, or of which parts have landed.
    """
    known = {each.period: each for each in kept}
    found = {
        each.period: Mark(
            kind="deadline", at=each.due_at, key=each.period, dataset=each.dataset, state="missed"
        )
        for each in kept
        if each.late_at is not None and each.due_at is not None
    }
    for ahead in islice(_ahead(data), USUAL_OF):
        due, period = ahead.due_at, known.get(ahead.period)
        if due is None or due >= span.end:
            break
        landed = ahead.partitions is not None and period is not None and not missing(ahead, period, due)
        state: MarkState = "met" if landed else "to_come"
        mark = Mark(kind="deadline", at=due, key=ahead.period, dataset=ahead.dataset, state=state)
        found.setdefault(ahead.period, mark)
    return tuple(sorted((each for each in found.values() if span.start <= each.at < span.end), key=_instant))


def _ahead(data: ExpectedData | None) -> Iterator[ExpectedData]:
    """Yield a dataset with each deadline to come: of a silence only the one that is known."""
    while data is not None and data.due_at is not None:
        yield data
        if data.partitions is not None:
            data = following(data)
        else:
            data = None if data.deadline.by is None else next_update(data, data.due_at)


def _instant(mark: Mark) -> datetime:
    return mark.at


# --- what is usual ----------------------------------------------------------------------


def usual_duration(durations: Sequence[timedelta]) -> timedelta | None:
    """Return the median of the last durations, the newest first; None of too few."""
    last = durations[:USUAL_OF]
    if len(last) < USUAL_LEAST:
        return None
    return timedelta(seconds=round(median(each.total_seconds() for each in last)))


def usual_arrival(arrived: Sequence[datetime], zone: str, now: datetime) -> Arrival | None:
    """Return when data came on the last days before today; None of too few, or if it comes all day long.

    Args:
        arrived: when parts of it landed, the newest first.
        zone: of the days.
    """
    today = wall_time(now, zone).date()
    days: dict[date, list[time]] = {}
    for each in arrived:
        wall = wall_time(each, zone)
        days.setdefault(wall.date(), []).append(wall.time().replace(second=0, microsecond=0))
    last = [days[day] for day in sorted(days, reverse=True) if day < today][:USUAL_OF]
    if len(last) < USUAL_LEAST:
        return None
    first, latest = min(map(min, last)), max(map(max, last))
    day = today if today not in days else today + _DAY
    start, end = (first_instant(datetime.combine(day, each), zone) for each in (first, latest))
    if end <= now:
        start, end = (first_instant(datetime.combine(day + _DAY, each), zone) for each in (first, latest))
    if end - start > USUAL_WITHIN:
        return None
    return Arrival(days=len(last), first=first, last=latest, next=Span(start=start, end=end))
