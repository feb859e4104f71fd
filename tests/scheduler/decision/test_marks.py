"""Marks: what a spec says of a span: times, windows, ends of waits, deadlines, and what is usual."""

from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import pytest

from tests.doubles.naive_window import naive_inside
from tests.worlds.samples import job, schedule
from tidegate.domain.model import (
    AllTrigger,
    CronTrigger,
    Deadline,
    DelayConstraint,
    PartitionsTrigger,
    Schedule,
    TaskTimes,
    TaskTrigger,
    Timeout,
    WindowConstraint,
)
from tidegate.domain.model.dataset import PartitionScheme, TimeDimension
from tidegate.scheduler.decision.expected.judgement import next_update
from tidegate.scheduler.decision.expected.periods import with_deadline
from tidegate.scheduler.decision.marks import (
    USUAL_LEAST,
    USUAL_OF,
    Span,
    marks_of,
    marks_of_data,
    open_spans,
    times_of,
    usual_arrival,
    usual_duration,
    windows_of,
)
from tidegate.scheduler.model.instance import Instance
from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.model.records.expected import ExpectedData, ExpectedPeriod

BERLIN = "Europe/Berlin"
NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
SPAN = Span(start=NOON - 12 * HOUR, end=NOON + 24 * HOUR)


def at(text: str) -> datetime:
    """An instant of March 2026: "10 06:30"."""
    return datetime.fromisoformat(f"2026-03-{text.replace(' ', 'T')}+00:00")


def spans(*windows: WindowConstraint, span: Span = SPAN) -> list[tuple[str, str]]:
    return [(f"{each.start:%d %H:%M}", f"{each.end:%d %H:%M}") for each in open_spans(windows, span)]


def window(opens: str, closes: str, **more: Any) -> WindowConstraint:
    return WindowConstraint(from_=time.fromisoformat(opens), to=time.fromisoformat(closes), **more)


def of(**fields: Any) -> Any:
    """A schedule with a cron at 06:00, unless it has another trigger."""
    trigger = fields.pop("trigger", CronTrigger(cron="0 6 * * *"))
    state = {each: fields.pop(each) for each in ("status", "active_since", "next_fire_at") if each in fields}
    return schedule("a/s", spec=Schedule(name="s", program="p", trigger=trigger, **fields), **state)


# --- windows ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("windows", "found"),
    [
        ((), []),
        ((window("14:00", "15:00"),), [("10 14:00", "10 15:00")]),
        ((window("22:00", "06:00"),), [("10 00:00", "10 06:00"), ("10 22:00", "11 06:00")]),
        ((window("00:00", "12:00"),), [("10 00:00", "10 12:00"), ("11 00:00", "11 12:00")]),
        ((window("22:00", "06:00", days=("wed",)),), []),
        ((window("22:00", "06:00", days=("mon",)),), [("10 00:00", "10 06:00")]),
        (
            (window("22:00", "06:00"), window("05:00", "23:00")),
            [("10 05:00", "10 06:00"), ("10 22:00", "10 23:00"), ("11 05:00", "11 06:00")],
        ),
        ((window("23:00", "01:00", timezone=BERLIN),), [("10 22:00", "11 00:00")]),
    ],
)
def test_windows_are_open_in_spans_also_across_midnight(
    windows: tuple[WindowConstraint, ...], found: list[tuple[str, str]]
) -> None:
    assert spans(*windows) == found


@pytest.mark.parametrize("day", ["2026-03-29", "2026-10-25"])
@pytest.mark.parametrize(("opens", "closes"), [("02:30", "03:30"), ("01:00", "02:15"), ("22:00", "02:30")])
def test_a_window_is_open_as_the_clock_shows_when_clocks_change(day: str, opens: str, closes: str) -> None:
    begin = datetime.combine(date.fromisoformat(day), time(), UTC) - DAY
    found = open_spans([window(opens, closes, timezone=BERLIN)], Span(start=begin, end=begin + 3 * DAY))
    for minute in range(3 * 24 * 60):
        instant = begin + timedelta(minutes=minute)
        inside = any(each.start <= instant < each.end for each in found)
        assert inside == naive_inside(
            instant, time.fromisoformat(opens), time.fromisoformat(closes), BERLIN, ()
        )


def test_only_windows_depend_on_the_hours() -> None:
    hours = window("22:00", "06:00")
    assert windows_of(of(constraints=(DelayConstraint(for_=HOUR), hours)).spec) == (hours,)


# --- times ------------------------------------------------------------------------------


def test_a_cron_fires_in_the_span_before_and_after_now() -> None:
    assert times_of(of(), SPAN, NOON, 10) == (at("10 06:00"), at("11 06:00"))


def test_fires_before_it_was_active_never_happened() -> None:
    assert times_of(of(active_since=at("10 07:00")), SPAN, NOON, 10) == (at("11 06:00"),)


def test_a_suspended_schedule_fires_no_more() -> None:
    assert times_of(of(status="suspended"), SPAN, NOON, 10) == (at("10 06:00"),)
    assert times_of(of(status="suspended", on_suspend="hold"), SPAN, NOON, 10)[-1] == at("11 06:00")


def test_of_many_fires_those_nearest_to_now_are_shown() -> None:
    found = times_of(of(trigger=CronTrigger(cron="* * * * *")), SPAN, NOON, 3)
    assert found == tuple(NOON + timedelta(minutes=minute) for minute in (-2, -1, 0, 1, 2, 3))


def test_a_doubled_hour_fires_as_the_engine_fires() -> None:
    night = Span(start=datetime(2026, 10, 24, 22, tzinfo=UTC), end=datetime(2026, 10, 25, 4, tzinfo=UTC))
    hourly = of(trigger=CronTrigger(cron="30 * * * *", timezone=BERLIN))
    found = times_of(hourly, night, night.start, 20)
    assert [each.hour for each in found] == [22, 23, 0, 1, 2, 3]


def test_a_timer_runs_out_at_its_next_fire() -> None:
    waiting = of(trigger=PartitionsTrigger(dataset="d"), next_fire_at=at("10 13:00"))
    assert times_of(waiting, SPAN, NOON, 10) == (at("10 13:00"),)


def test_a_task_starts_at_its_start_times_unless_it_is_suspended() -> None:
    hourly = TaskTrigger(cycle="hour", times=TaskTimes(minute=10, from_=13 * 60, to=15 * 60))
    starts = (at("10 13:10"), at("10 14:10"), at("10 15:10"))
    assert times_of(of(trigger=hourly), SPAN, NOON, 10) == starts
    assert times_of(of(trigger=hourly), SPAN, at("10 14:30"), 1) == (at("10 14:10"), at("10 15:10"))
    assert times_of(of(trigger=hourly, status="suspended"), SPAN, NOON, 10) == ()


# --- waits and deadlines ----------------------------------------------------------------


def marks(state: Any, *jobs: Any, now: datetime = NOON) -> list[tuple[str, str, str, str]]:
    found = marks_of(state, jobs, SPAN, now)
    return [(each.kind, f"{each.at:%d %H:%M}", each.key, each.state) for each in found]


def test_wait_at_most_ends_after_the_first_event_and_a_timeout_after_the_trigger() -> None:
    trigger = AllTrigger(
        of=(PartitionsTrigger(dataset="d"), PartitionsTrigger(dataset="e")), wait_at_most=2 * HOUR
    )
    state = of(trigger=trigger, timeout=Timeout(after=3 * HOUR))
    waits = job("j1", key="k", first_event_at=at("10 11:00"))
    ready = job(
        "j2", key="l", state=JobState.PENDING_CONSTRAINT, first_event_at=at("10 11:00"), satisfied_at=NOON
    )
    assert marks(state, waits, ready) == [
        ("wait_at_most", "10 13:00", "k", "to_come"),
        ("timeout", "10 15:00", "l", "to_come"),
    ]
    assert marks(state, waits, now=at("10 13:00")) == []


def test_nothing_is_said_of_a_wait_whose_first_event_may_drop_out() -> None:
    dropping = PartitionsTrigger(dataset="d", count=2, wait_at_most=HOUR, collect_within=DAY)
    assert marks(of(trigger=dropping), job("j", first_event_at=NOON)) == []


def test_the_timeout_of_a_held_job_is_paused() -> None:
    held = job("j", state=JobState.PENDING_CONSTRAINT, satisfied_at=NOON, held_at=NOON)
    assert marks(of(timeout=Timeout(after=HOUR)), held) == []


@pytest.mark.parametrize(
    ("fields", "now", "state"),
    [
        ({"state": JobState.LAUNCHED}, "10 12:30", "to_come"),
        ({"state": JobState.LAUNCHED}, "10 13:00", "missed"),
        ({"state": JobState.SUCCEEDED, "ended_at": at("10 12:59")}, "10 14:00", "met"),
        ({"state": JobState.SUCCEEDED, "ended_at": at("10 13:01")}, "10 14:00", "missed"),
        ({"state": JobState.FAILED, "late_at": at("10 13:00")}, "10 14:00", "missed"),
        ({"state": JobState.FAILED}, "10 14:00", None),
        ({"state": JobState.DISCARDED}, "10 12:30", None),
    ],
)
def test_a_deadline_is_to_come_met_or_missed(fields: dict[str, Any], now: str, state: str | None) -> None:
    by_data = of(trigger=PartitionsTrigger(dataset="d"), deadline=Deadline(by=time(13)))
    found = marks(by_data, job("j", key="k", opened_at=NOON, **fields), now=at(now))
    assert found == ([] if state is None else [("deadline", "10 13:00", "k", state)])


def test_fires_to_come_have_deadlines() -> None:
    assert marks(of(deadline=Deadline(by=time(8)))) == [("deadline", "11 08:00", "", "to_come")]
    assert marks(of(deadline=Deadline(within=HOUR))) == [("deadline", "11 07:00", "", "to_come")]
    assert marks(of(deadline=Deadline(within=HOUR, after="start"))) == []
    assert marks(of(deadline=Deadline(by=time(8)), status="suspended")) == []


def test_an_instance_and_those_to_come_have_deadlines_once_each() -> None:
    daily = of(
        trigger=TaskTrigger(cycle="day", times=TaskTimes(time=14 * 60)), deadline=Deadline(by=time(16))
    )
    made = Instance(
        key="2026-03-10",
        scheduled=at("10 00:00"),
        start=at("10 14:00"),
        business=at("09 00:00"),
        business_date="2026-03-09",
    )
    assert marks(daily) == [("deadline", "10 16:00", "", "to_come")]
    assert marks(daily, job("j", key="2026-03-10", instance=made)) == [
        ("deadline", "10 16:00", "2026-03-10", "to_come")
    ]


# --- what is usual ----------------------------------------------------------------------


def test_a_run_takes_the_median_of_its_last_runs() -> None:
    minutes = [timedelta(minutes=each) for each in (10, 12, 50, 11, 13)]
    assert usual_duration(minutes) == timedelta(minutes=12)
    assert usual_duration([HOUR] * 14 + [DAY] * 100) == HOUR
    assert usual_duration(minutes[: USUAL_LEAST - 1]) is None
    assert usual_duration([]) is None


def came(*days: str) -> list[datetime]:
    """Arrivals at these times of successive days, the newest first; several a day with a comma."""
    found = [at(f"{day + 1:02} {each}") for day, times in enumerate(days) for each in times.split(",")]
    return sorted(found, reverse=True)


def test_data_comes_in_the_span_of_its_last_days() -> None:
    usual = usual_arrival(came("06:10,06:20", "06:30", "07:05", "06:40", "06:45"), "UTC", at("06 05:00"))
    assert usual is not None
    assert (usual.days, f"{usual.first:%H:%M}", f"{usual.last:%H:%M}") == (5, "06:10", "07:05")
    assert usual.next == Span(start=at("06 06:10"), end=at("06 07:05"))


@pytest.mark.parametrize("now", ["06 08:00", "06 06:50"])
def test_data_that_came_today_or_is_overdue_comes_tomorrow(now: str) -> None:
    days = came(*["06:30"] * 4, "06:55", "06:20")
    usual = usual_arrival(days if now == "06 06:50" else days[1:], "UTC", at(now))
    assert usual is not None
    assert usual.next == Span(start=at("07 06:30"), end=at("07 06:55"))


def test_few_days_and_data_all_day_long_are_not_usual() -> None:
    assert usual_arrival([], "UTC", NOON) is None
    assert usual_arrival(came(*["06:30"] * 4), "UTC", NOON) is None
    assert usual_arrival(came(*["00:30,23:00"] * 6), "UTC", NOON) is None


def test_days_and_times_are_those_of_the_zone_when_clocks_change() -> None:
    days = [datetime(2026, 3, day, 5, 30, tzinfo=UTC) for day in range(24, 29)]
    usual = usual_arrival(days[::-1], BERLIN, datetime(2026, 3, 28, 20, tzinfo=UTC))
    assert usual is None  # today does not count
    usual = usual_arrival(days[::-1], BERLIN, datetime(2026, 3, 29, 1, 30, tzinfo=UTC))
    assert usual is not None
    # 06:30 in Berlin, an hour earlier from this day on.
    assert usual.next.start == datetime(2026, 3, 29, 4, 30, tzinfo=UTC)


HOURS = PartitionScheme(
    time=TimeDimension(name="", cycle="hour", start="2026-01-01-00:00", timezone="UTC"), static=None
)
"""The partitions of a dataset that lands each hour."""


def expected(**fields: Any) -> ExpectedData:
    given: dict[str, Any] = {"deadline": Deadline(within=HOUR / 2), "zone": "UTC", "since": NOON - DAY}
    return ExpectedData(dataset="a/d", **{**given, **fields})


def test_a_dataset_has_the_deadlines_of_its_next_periods_and_those_that_it_missed() -> None:
    data = with_deadline(expected(partitions=HOURS, period="2026-03-10-12:00"))
    late = ExpectedPeriod(
        dataset="a/d", period="2026-03-10-10:00", due_at=at("10 11:30"), late_at=at("10 11:30")
    )
    older = ExpectedPeriod(
        dataset="a/d", period="2026-03-09-10:00", due_at=at("09 11:30"), late_at=at("09 11:30")
    )
    landed = ExpectedPeriod(
        dataset="a/d", period="2026-03-10-13:00", landed={"2026-03-10-13:00": at("10 13:40")}
    )
    span = Span(start=NOON - HOUR, end=NOON + 4 * HOUR)
    found = marks_of_data(data, [late, older, landed], span)
    assert [(f"{each.at:%H:%M}", each.key[-5:], each.state) for each in found] == [
        ("11:30", "10:00", "missed"),
        ("13:30", "12:00", "to_come"),
        ("14:30", "13:00", "met"),
        ("15:30", "14:00", "to_come"),
    ]
    assert {(each.kind, each.dataset) for each in found} == {("deadline", "a/d")}
    ahead = marks_of_data(data, [], Span(start=NOON, end=NOON + 9 * DAY))
    assert len(ahead) == USUAL_OF


def test_a_dataset_without_periods_has_each_time_of_the_day_or_the_end_of_its_silence() -> None:
    span = Span(start=NOON, end=NOON + 2 * DAY)
    by_clock = next_update(expected(deadline=Deadline(by=time(8))), NOON)
    assert [f"{each.at:%d %H:%M}" for each in marks_of_data(by_clock, [], span)] == ["11 08:00", "12 08:00"]
    silence = next_update(expected(updated_at=NOON), NOON)
    assert [f"{each.at:%d %H:%M}" for each in marks_of_data(silence, [], span)] == ["10 12:30"]
    assert marks_of_data(None, [], span) == ()
    assert marks_of_data(expected(), [], span) == (), "nothing is expected before an update"
