"""The time line of a page of lanes: their jobs, and what their specs say, read with a few statements.

Each list of a lane has a limit, which depends on how many lanes there are: the whole is at most `MOST_BYTES`.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime, timedelta

import msgspec

from tidegate.domain.model import WindowConstraint, leaves
from tidegate.domain.part_name import app_of, name_of, whole_name
from tidegate.domain.value import Value
from tidegate.domain.wording import first_of, plural
from tidegate.listings.queries.bars import bars_of, begin_of, is_within, whole
from tidegate.listings.queries.lanes import Found, Wanted, find_lanes
from tidegate.listings.time_line import (
    AppLanes,
    Bar,
    Lane,
    LaneMark,
    LaneState,
    Opened,
    TimeLine,
    UsualArrival,
)
from tidegate.project.local_time import common_zone
from tidegate.scheduler.decision.marks import (
    USUAL_OF,
    Mark,
    Span,
    marks_of,
    marks_of_data,
    open_spans,
    times_of,
    usual_arrival,
    usual_duration,
    windows_of,
)
from tidegate.scheduler.model.deployed import APPS, ScheduleState
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.maintenance import POLICY
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.records.expected import EXPECTED_DATA, EXPECTED_PERIODS, ExpectedPeriod
from tidegate.scheduler.model.run import Run
from tidegate.scheduler.store.listing_reader import ListingReader
from tidegate.scheduler.store.wanted import LateWanted

MOST_BYTES = 300_000
"""Of its JSON."""

BARS, TIMES, MARKS = 900, 1_500, 600
"""So many are on a page in all; each lane has its part of each."""

MOST_OF_LANE = 96

ARRIVALS_READ = 100
"""The newest arrivals of a dataset: one that lands more than seven times a day lands at no usual time."""

DATASETS_READ = 40

DATASETS_DUE, LATE_READ = 200, 200
"""So many datasets whose deadline comes next, and periods whose deadline was missed last, have marks."""

KEYS_NAMED = 2


class Read(Value, kw_only=True):
    """What was read of the lanes of a page.

    Attributes:
        jobs: by lane.
        runs: by job.
        usual: how long a run of a lane takes.
        arrivals: by dataset.
        policies: the windows of the operations of each policy, by lane.
        deadlines: of the datasets that it waits for or writes, by lane.
    """

    states: dict[str, ScheduleState]
    jobs: dict[str, list[Job]]
    runs: dict[str, list[Run]]
    usual: dict[str, timedelta]
    arrivals: dict[str, tuple[datetime, ...]]
    policies: dict[str, tuple[WindowConstraint, ...]]
    deadlines: dict[str, tuple[Mark, ...]]


def time_line(reader: ListingReader, wanted: Wanted, zone: str) -> TimeLine:
    """Return the time line of a span.

    Args:
        zone: in which it is drawn if its apps have no common one.
    """
    deadlines = _deadlines(reader, wanted.span)
    found = find_lanes(reader, wanted, deadlines)
    lanes = [lane for app in found.apps for lane in app.lanes]
    most = _part(BARS, len(lanes))
    read = _read(reader, wanted, [lane.ref for lane in lanes], most, deadlines)
    zone = common_zone(reader, {app.app for app in found.apps}) or zone
    share = 1
    while True:
        made = TimeLine(
            at=whole(wanted.now),
            start=whole(wanted.span.start),
            end=whole(wanted.span.end),
            zone=zone,
            lanes=found.number,
            page=wanted.page,
            pages=found.pages,
            apps=tuple(
                AppLanes(
                    app=each.app,
                    states=each.states,
                    lanes=tuple(_lane(lane, read, wanted, len(lanes) * share) for lane in each.lanes),
                )
                for each in found.apps
            ),
        )
        # Names and keys may be long: then each lane shows less.
        if share > MOST_OF_LANE or len(msgspec.json.encode(made)) <= MOST_BYTES:
            return made
        share *= 2


def lane_of(reader: ListingReader, ref: str, span: Span, now: datetime) -> Lane:
    """Return the lane of one schedule or task, whether or not it has something in the span."""
    wanted = Wanted(span=span, now=now, refs=frozenset([ref]))
    read = _read(reader, wanted, [ref], MOST_OF_LANE, _deadlines(reader, span))
    jobs = len(read.jobs.get(ref, ()))
    return _lane(Found(ref=ref, state=LaneState.AHEAD, jobs=jobs), read, wanted, 1)


def _part(of: int, lanes: int) -> int:
    return max(1, min(MOST_OF_LANE, of // max(lanes, 1)))


# --- reading ----------------------------------------------------------------------------


def _read(
    reader: ListingReader,
    wanted: Wanted,
    refs: Collection[str],
    most: int,
    deadlines: Mapping[str, tuple[Mark, ...]],
) -> Read:
    if not refs:
        return Read(states={}, jobs={}, runs={}, usual={}, arrivals={}, policies={}, deadlines={})
    jobs: dict[str, list[Job]] = {}
    for job in reader.lane_jobs(refs, wanted.span.start, wanted.span.end, most):
        jobs.setdefault(job.schedule, []).append(job)
    runs: dict[str, list[Run]] = {}
    for run in reader.runs(jobs=[job.id for several in jobs.values() for job in several if job.run_id]):
        if run.job is not None:
            runs.setdefault(run.job, []).append(run)
    states = {state.ref: state for state in reader.schedules(refs=refs)}
    busy = {ref for ref, several in jobs.items() if any(_is_at_work(job) for job in several)}
    durations = reader.last_durations(busy, USUAL_OF)
    datasets = {name for state in states.values() for name in _datasets(state)}
    return Read(
        states=states,
        jobs=jobs,
        runs=runs,
        usual={ref: each for ref, of in durations.items() if (each := usual_duration(of)) is not None},
        arrivals=reader.last_arrivals(sorted(datasets)[:DATASETS_READ], ARRIVALS_READ),
        policies=_policies(reader, refs),
        deadlines=_of_lanes(reader, states, deadlines),
    )


def _deadlines(reader: ListingReader, span: Span) -> dict[str, tuple[Mark, ...]]:
    """Return the deadlines of datasets within a span, by dataset."""
    late = [each for each in reader.late_periods(LateWanted(), LATE_READ) if _is_due(each, span)]
    expected = {each.dataset: each for each in reader.due_records(EXPECTED_DATA, span.end, DATASETS_DUE)}
    kept = {(each.dataset, each.period): each for each in late}
    in_parts = [each for each in expected.values() if each.partitions and each.partitions.static]
    if in_parts:
        periods = {each.period for each in in_parts}
        parts = reader.records(EXPECTED_PERIODS, dataset={each.dataset for each in in_parts}, period=periods)
        kept |= {(each.dataset, each.period): each for each in parts}
    found = {
        name: marks_of_data(
            expected.get(name), [each for (dataset, _), each in kept.items() if dataset == name], span
        )
        for name in {*expected, *(each.dataset for each in late)}
    }
    return {name: marks for name, marks in found.items() if marks}


def _is_due(period: ExpectedPeriod, span: Span) -> bool:
    return period.due_at is not None and span.start <= period.due_at < span.end


def _of_lanes(
    reader: ListingReader, states: Mapping[str, ScheduleState], deadlines: Mapping[str, tuple[Mark, ...]]
) -> dict[str, tuple[Mark, ...]]:
    """Return the deadlines of the datasets that each lane waits for or writes."""
    writing = {app_of(name) for name in deadlines} & {state.app for state in states.values()}
    apps = {each.name: each.app for each in reader.records(APPS, name=writing)} if writing else {}
    found: dict[str, tuple[Mark, ...]] = {}
    for ref, state in states.items():
        app = apps.get(state.app)
        program = None if app is None else app.programs.get(state.spec.program)
        writes = () if program is None else (whole_name(state.app, name) for name in program.writes)
        names = dict.fromkeys((*_datasets(state), *writes))
        found[ref] = tuple(mark for name in names for mark in deadlines.get(name, ()))
    return found


def _is_at_work(job: Job) -> bool:
    return job.launched_at is not None and job.ended_at is None


def _datasets(state: ScheduleState) -> list[str]:
    """Return the datasets ("app/name") whose partitions a schedule collects."""
    names = (leaf.trigger.dataset_collected for leaf in leaves(state.spec.trigger))
    return [whole_name(state.app, name) for name in dict.fromkeys(names) if name is not None]


def _policies(reader: ListingReader, refs: Collection[str]) -> dict[str, tuple[WindowConstraint, ...]]:
    wanted = [ref for ref in refs if _is_policy(ref)]
    apps = (
        {each.name: each for each in reader.records(APPS, name={app_of(ref) for ref in wanted})}
        if wanted
        else {}
    )
    found: dict[str, tuple[WindowConstraint, ...]] = {}
    for ref in wanted:
        deployed = apps.get(app_of(ref))
        policy = None if deployed is None else deployed.app.policies.get(name_of(ref).removeprefix(POLICY))
        plans = () if policy is None else policy.operations.values()
        found[ref] = tuple(dict.fromkeys(plan.window for plan in plans if plan.window is not None))
    return found


def _is_policy(ref: str) -> bool:
    return name_of(ref).startswith(POLICY)


# --- one lane ---------------------------------------------------------------------------


def _lane(found: Found, read: Read, wanted: Wanted, lanes: int) -> Lane:
    """Return a lane.

    Args:
        lanes: among so many the bars and marks are divided.
    """
    ref, span, state = found.ref, wanted.span, read.states.get(found.ref)
    jobs = read.jobs.get(ref, [])
    usual = read.usual.get(ref)
    several = (bars_of(job, read.runs.get(job.id, ()), usual, wanted.now) for job in jobs)
    shown = (bar for bars in several for bar in bars if is_within(bar, span, wanted.now))
    bars = sorted(shown, key=begin_of)[-_part(BARS, lanes) :]
    drawn = len({bar.job for bar in bars})
    lane_state, says = found.state, _says(found, bars)
    if lane_state in (LaneState.AHEAD, LaneState.SUCCEEDED) and state is not None and not state.active:
        lane_state, says = LaneState.SUSPENDED, "suspended"
    policy = _is_policy(ref)
    made = Lane(
        ref=ref,
        kind="policy"
        if policy
        else "task"
        if state is not None and state.spec.task is not None
        else "schedule",
        state=lane_state,
        says=says,
        jobs=found.jobs,
        undrawn=max(0, found.jobs - drawn),
        bars=tuple(bars),
    )
    if policy:
        # Each operation has a window of its own.
        spans = {each for window in read.policies.get(ref, ()) for each in open_spans((window,), span)}
        return msgspec.structs.replace(made, windows=_opened(spans))
    if state is None:
        return made
    return msgspec.structs.replace(
        made,
        times=tuple(map(whole, times_of(state, span, wanted.now, max(1, _part(TIMES, lanes) // 2)))),
        windows=_opened(open_spans(windows_of(state.spec), span)),
        marks=tuple(
            LaneMark(kind=each.kind, at=whole(each.at), key=each.key, dataset=each.dataset, state=each.state)
            for each in (*marks_of(state, jobs, span, wanted.now), *read.deadlines[ref])
        )[: _part(MARKS, lanes)],
        arrivals=tuple(_arrivals(state, read.arrivals, span, wanted.now)),
    )


def _says(found: Found, bars: Iterable[Bar]) -> str:
    """Return the state of a lane in words, with the keys of the jobs in it, and the reason of the newest."""
    several = [bar for bar in bars if bar.state is found.state]
    keys = list(dict.fromkeys(bar.key for bar in reversed(several) if bar.key))
    named = first_of(keys, KEYS_NAMED)
    reason = next((bar.reason for bar in reversed(several) if bar.reason), "")
    summary = f": {Reason(reason).summary.removeprefix(f'{found.state.value}: ')}" if reason else ""
    match found.state:
        case LaneState.FAILED | LaneState.DISCARDED:
            said = f"{found.state.value} {named}{summary}"
        case LaneState.WAITING:
            said = f"waits {named}{summary}"
        case LaneState.RUNNING:
            said = f"runs {named}"
        case LaneState.LATE:
            said = "late: past its deadline"
        case LaneState.HELD:
            said = "held: it is suspended and keeps its jobs"
        case LaneState.QUEUED:
            said = f"queued {named}: its run has not begun"
        case LaneState.AHEAD:
            said = "nothing yet in this span"
        case _:
            said = found.state.value
    return said.replace(" :", ":").strip()


def _opened(spans: Iterable[Span]) -> tuple[Opened, ...]:
    found = sorted((whole(each.start), whole(each.end)) for each in spans)
    return tuple(Opened(start=start, end=end) for start, end in found)


def _arrivals(
    state: ScheduleState, known: Mapping[str, tuple[datetime, ...]], span: Span, now: datetime
) -> Iterator[UsualArrival]:
    for dataset in _datasets(state):
        usual = usual_arrival(known.get(dataset, ()), state.spec.timezone, now)
        if usual is None or usual.next.start >= span.end or usual.next.end < span.start:
            continue
        yield UsualArrival(
            dataset=dataset,
            days=usual.days,
            start=whole(usual.next.start),
            end=whole(usual.next.end),
            says=f"{dataset} came between {usual.first:%H:%M} and {usual.last:%H:%M} on the last"
            f" {plural(usual.days, 'day')}",
        )
