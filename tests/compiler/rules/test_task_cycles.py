"""Cycles of tasks (L442): those within an hour or a day, and those that only some instances have."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import msgspec
import pytest

from tidegate.compiler.compile import compile_files
from tidegate.compiler.diagnostics.diagnostic import Findings
from tidegate.compiler.rules.cycles.tasks import check_task_cycles
from tidegate.domain.model import App, Dependency, Schedule, TaskTrigger


def messages(tasks: Mapping[str, dict[str, Any]]) -> list[str]:
    """What L442 says of tasks, whose names begin with their cycle; nothing else may be wrong."""
    whole = {name: {"program": "p", "cycle": name.partition("_")[0], **spec} for name, spec in tasks.items()}
    app = {"app": "a", "programs": {"p": {"run": "j.p"}}, "tasks": whole}
    found = compile_files({"a.yaml": msgspec.json.encode(app)}).diagnostics
    assert {each.code for each in found} <= {"L442"}, found
    return [each.summary for each in found]


def previous(task: str) -> dict[str, str]:
    return {"task": task, "period": "previous"}


# --- within an hour or a day ------------------------------------------------------------


@pytest.mark.parametrize(
    ("tasks", "cycles"),
    [
        ({"hour_a": ["minute_b"], "minute_b": ["hour_a"]}, ["hour_a -> minute_b -> hour_a"]),
        ({"day_a": ["day_b"], "day_b": ["day_c"], "day_c": ["day_a"]}, ["day_a -> day_b -> day_c -> day_a"]),
        ({"day_a": ["day_a"]}, ["day_a -> day_a"]),
        ({"day_a": ["self"]}, []),
        ({"day_a": [previous("day_a")]}, []),
        ({"hour_a": [previous("minute_b")], "minute_b": ["hour_a"]}, []),
        ({"day_a": ["day_b"], "day_b": ["self"]}, []),
        (
            {"day_a": ["day_b", "day_c"], "day_b": ["day_d"], "day_c": ["day_d"], "day_d": ["day_a"]},
            ["day_a -> day_b -> day_d -> day_a"],
        ),
    ],
)
def test_tasks_do_not_wait_for_each_other(tasks: dict[str, list[Any]], cycles: list[str]) -> None:
    found = messages({name: {"depends_on": on} for name, on in tasks.items()})
    assert [each.partition("got ")[2] for each in found] == cycles


def test_a_cycle_of_tasks_that_were_read_from_no_file_has_no_place_to_report_it() -> None:
    def found(**tasks: TaskTrigger) -> tuple[object, ...]:
        schedules = {name: Schedule(name=name, program="p", trigger=task) for name, task in tasks.items()}
        findings = Findings("a.yaml", "")
        check_task_cycles((App(name="a", schedules=schedules),), {"a": findings})
        return findings.diagnostics()

    assert not found(t=TaskTrigger(cycle="day", depends_on=(Dependency(task="t"),)))
    assert not found(
        h=TaskTrigger(cycle="hour", depends_on=(Dependency(task="m", period="previous"),)),
        m=TaskTrigger(cycle="minute", depends_on=(Dependency(task="d"),)),
        d=TaskTrigger(cycle="day", depends_on=(Dependency(task="h"),)),
    )


def test_cycles_that_are_in_the_store_alone_are_not_reported_in_a_file() -> None:
    there = App(
        name="there",
        schedules={
            name: Schedule(name=name, program="p", trigger=task)
            for name, task in {
                "a": TaskTrigger(cycle="day", depends_on=(Dependency(task="a"),)),
                "h": TaskTrigger(cycle="hour", depends_on=(Dependency(task="m", period="previous"),)),
                "m": TaskTrigger(cycle="minute", depends_on=(Dependency(task="d"),)),
                "d": TaskTrigger(cycle="day", depends_on=(Dependency(task="h"),)),
            }.items()
        },
    )
    findings = Findings("here.yaml", "")
    check_task_cycles((App(name="here"), there), {"here": findings})
    assert not findings.diagnostics()


# --- among instances only ---------------------------------------------------------------

HOURS = {"depends_on": [previous("minute_m")]}
MINUTES = {"depends_on": ["day_d"]}
DAYS = {"depends_on": ["hour_h"]}
FIRST = {"depends_on": [{"task": "hour_h", "select": "first"}]}
AT_NINE = {"at": {"every": "30m", "from": "09:00", "to": "09:30"}}
IN_TOKYO = {"timezone": "Asia/Tokyo"}


@pytest.mark.parametrize(
    ("hours", "minutes", "days", "cycle"),
    [
        (
            HOURS,
            MINUTES,
            DAYS,
            "hour_h 2024-01-01-23:00 -> minute_m 2024-01-01-22:59 -> day_d 2024-01-01"
            " -> hour_h 2024-01-01-23:00",
        ),
        # The first hour of a day waits for minutes of the day before.
        (HOURS, MINUTES, FIRST, None),
        # The first one is that of 10:00 now, which waits for the minutes of 09:00.
        (
            {**HOURS, "at": {"from": "10:00"}},
            {**MINUTES, **AT_NINE},
            FIRST,
            "hour_h 2024-01-01-10:00 -> minute_m 2024-01-01-09:30 -> day_d 2024-01-01"
            " -> hour_h 2024-01-01-10:00",
        ),
        # The last hour waits for no minutes, but over `self` for those before.
        (
            {"depends_on": ["self", previous("minute_m")], "at": {"from": "08:00", "to": "20:00"}},
            {**MINUTES, **AT_NINE},
            DAYS,
            "hour_h 2024-01-01-10:00 -> minute_m 2024-01-01-09:30 -> day_d 2024-01-01"
            " -> hour_h 2024-01-01-20:00 -> hour_h 2024-01-01-19:00 -> hour_h 2024-01-01-18:00 -> ..."
            " -> hour_h 2024-01-01-11:00 -> hour_h 2024-01-01-10:00",
        ),
        # An edge to the day before is in no cycle of one zone.
        (HOURS, {"depends_on": [previous("day_d")]}, DAYS, None),
    ],
)
def test_instances_do_not_wait_for_each_other(
    hours: dict[str, Any], minutes: dict[str, Any], days: dict[str, Any], cycle: str | None
) -> None:
    found = messages({"hour_h": hours, "minute_m": minutes, "day_d": days})
    text = "instances must not wait for each other in a cycle, got for example "
    assert found == ([] if cycle is None else [text + cycle])


def test_hours_alone_do_not_meet_over_the_hour_before() -> None:
    assert not messages(
        {"hour_h": HOURS, "minute_m": {"depends_on": ["minute_n"]}, "minute_n": {"depends_on": ["hour_h"]}}
    )


def test_a_cycle_that_only_a_backfill_has_is_named_as_such() -> None:
    hours = {**HOURS, "at": {"from": "08:00", "to": "20:00"}}
    (found,) = messages({"hour_h": hours, "minute_m": {**MINUTES, **AT_NINE}, "day_d": DAYS})
    assert found.startswith("instances of a backfill must not wait for each other")
    assert "hour_h 2024-01-01-09:00 -> minute_m 2024-01-01-08:59 -> day_d 2024-01-01 -> " in found


def test_days_of_two_zones_overlap() -> None:
    there = {"depends_on": [previous("day_d")]}
    assert messages({"hour_h": {**there, **IN_TOKYO}, "day_d": {**DAYS, "timezone": "America/New_York"}})
    assert not messages({"hour_h": there, "day_d": DAYS})


def test_an_empty_run_waits_for_nothing_so_only_real_days_meet() -> None:
    waits = {"hour_h": {"depends_on": [previous("minute_m")]}, "minute_m": {"depends_on": ["month_d"]}}
    ends = {"month_d": {"depends_on": ["hour_h"], "at": {"days": ["last"]}}}
    (found,) = messages({**waits, **ends})
    assert "month_d 2024-01-31 -> " in found
    closed = {**waits, "month_d": {"depends_on": ["week_w"], "at": {"days": [1]}}}
    never = {**closed, "week_w": {"depends_on": ["hour_h"], "at": {"weekdays": ["mon"]}}}
    assert "2024-01-01" in messages(never)[0]


def test_days_without_instances_do_not_meet() -> None:
    def found(weekend: str) -> list[str]:
        text = (
            f"app: a\nprograms: {{p: {{run: j.p}}}}\ncalendars: {{c: {{weekend: [{weekend}]}}}}\ntasks:\n"
            "  h: {program: p, cycle: hour, calendar: c, depends_on: [{task: m, period: previous}]}\n"
            "  m: {program: p, cycle: minute, depends_on: [w]}\n"
            "  w: {program: p, cycle: week, at: {weekdays: [sun]}, depends_on: [h]}\n"
        )
        return [each.code for each in compile_files({"a.yaml": text.encode()}).diagnostics]

    assert found("sat, sun") == []
    assert found("sat") == ["L442"]


def test_a_task_that_is_not_valid_yet_will_meet_all_the_same() -> None:
    late = {"valid_from": "2090-01-01", "enabled": False}
    assert messages({"hour_h": {**HOURS, **late}, "minute_m": MINUTES, "day_d": DAYS})


def test_of_two_apps_the_cycle_is_reported_in_a_file() -> None:
    here = """
app: a
programs: {p: {run: j.p}}
tasks:
  h: {program: p, cycle: hour, depends_on: [{task: b/m, period: previous}]}
"""
    there = """
app: b
programs: {p: {run: j.p}}
tasks:
  m: {program: p, cycle: minute, depends_on: [d]}
  d: {program: p, cycle: day, depends_on: [a/h]}
"""
    files = {"a.yaml": here.encode(), "b.yaml": there.encode()}
    (found,) = compile_files(files).diagnostics
    assert (found.code, found.at.file) == ("L442", "a.yaml")
    assert (
        "got for example h 2024-01-01-23:00 -> b/m 2024-01-01-22:59 -> b/d 2024-01-01 -> h" in found.summary
    )
    free = compile_files({"b.yaml": there.replace("[a/h]", "[]").encode()}).models()
    assert compile_files({"a.yaml": files["a.yaml"]}, known=lambda: free).ok


# --- against plain arithmetic -----------------------------------------------------------

UNITS = {"minute": timedelta(minutes=1), "hour": timedelta(hours=1), "day": timedelta(days=1)}
CELLS = {
    ("minute", "minute"): ("hour", "nearest"),
    ("minute", "hour"): ("hour", "nearest"),
    ("minute", "day"): ("day", "nearest"),
    ("hour", "minute"): ("hour", "last"),
    ("hour", "hour"): ("day", "nearest"),
    ("hour", "day"): ("day", "nearest"),
    ("day", "minute"): ("day", "last"),
    ("day", "hour"): ("day", "last"),
    ("day", "day"): ("day", "nearest"),
}
MONDAY = datetime(2024, 1, 1, tzinfo=UTC)


def random_tasks(chance: Random) -> dict[str, dict[str, Any]]:
    """A ring of two to four tasks, at least one of whose edges goes back, and more edges."""
    cycles = [chance.choice(["minute", "hour", "hour", "day", "day"]) for _ in range(chance.randint(2, 4))]
    names = [f"{cycle}_{number}" for number, cycle in enumerate(cycles)]
    tasks: dict[str, dict[str, Any]] = {name: {"depends_on": []} for name in names}
    for number, name in enumerate(names):
        for other in range(len(names)):
            in_ring = other == (number + 1) % len(names)
            if other != number and (in_ring or chance.random() < 0.2):
                each = {"task": names[other]}
                if number == len(names) - 1 or (not in_ring and chance.random() < 0.8):
                    each["period"] = "previous"
                if chance.random() < 0.3:
                    each["select"] = chance.choice(["nearest", "last", "first", "all"])
                tasks[name]["depends_on"].append(each)
        if chance.random() < 0.2:
            tasks[name]["depends_on"].append("self")
        if not name.startswith("day"):
            begin = chance.choice([0, 0, 1, 9, 22])
            end = min(23, begin + chance.choice([1, 12, 23]))
            tasks[name]["at"] = {"from": f"{begin:02}:00", "to": f"{end:02}:00"}
            if name.startswith("minute"):
                tasks[name]["at"]["every"] = "20m"
    return tasks


def times_of(cycle: str, spec: dict[str, Any]) -> list[datetime]:
    """The scheduled times of four days."""
    if cycle == "day":
        return [MONDAY + timedelta(days=day) for day in range(4)]
    begin, end = (60 * int(spec["at"][name][:2]) for name in ("from", "to"))
    minutes = range(begin, end + 1, 60 if cycle == "hour" else 20)
    return [MONDAY + timedelta(days=day, minutes=minute) for day in range(4) for minute in minutes]


def plain_edges(tasks: dict[str, dict[str, Any]], backfill: bool) -> dict[Any, list[Any]]:
    cycles = {name: name.partition("_")[0] for name in tasks}
    shift = {name: UNITS[cycles[name]] if backfill else timedelta(0) for name in tasks}
    times = {name: [at - shift[name] for at in times_of(cycles[name], spec)] for name, spec in tasks.items()}
    edges: dict[Any, list[Any]] = {}
    for name, spec in tasks.items():
        for number, at in enumerate(times[name]):
            found = edges[name, at] = []
            for each in spec["depends_on"]:
                if each == "self":
                    found += [(name, times[name][number - 1])] if number else []
                    continue
                unit, rule = CELLS[cycles[name], cycles[each["task"]]]
                if backfill and rule == "last":
                    rule = "all"
                rule = each.get("select", rule)
                start = at.replace(minute=0, hour=at.hour if unit == "hour" else 0)
                before = "period" in each
                start -= UNITS[unit] if before else timedelta(0)
                inside = [other for other in times[each["task"]] if start <= other < start + UNITS[unit]]
                if rule == "nearest" and not before:
                    inside = [other for other in inside if other <= at]
                inside = {"first": inside[:1], "all": inside}.get(rule, inside[-1:])
                found += [(each["task"], other) for other in inside]
    return edges


def has_cycle(edges: dict[Any, list[Any]]) -> bool:
    """Whether taking away what waits for nothing that is left ends before all is gone."""
    left = dict(edges)
    while gone := [node for node, on in left.items() if not any(each in left for each in on)]:
        for node in gone:
            del left[node]
    return bool(left)


@pytest.mark.slow
def test_random_tasks_are_refused_exactly_if_their_instances_or_they_themselves_form_a_cycle() -> None:
    seen = {True: 0, False: 0}
    for seed in range(250):
        tasks = random_tasks(Random(seed))
        found = messages(tasks)
        of_instances = any(has_cycle(plain_edges(tasks, backfill)) for backfill in (False, True))
        of_tasks = any(each.startswith("tasks must") for each in found)
        assert bool(found) is (of_instances or of_tasks), (seed, tasks, found)
        if not of_tasks:
            seen[bool(found)] += 1
    assert min(seen.values()) >= 10, seen
