"""Cycle tasks: what the values of `tasks:` become, with every default."""

import json
from datetime import date, timedelta
from typing import Any

import pytest

from tidegate.compiler.compile import Compilation, compile_files
from tidegate.compiler.fingerprint import fingerprint
from tidegate.compiler.plan.consequence import Consequence
from tidegate.compiler.plan.forms import task_form
from tidegate.compiler.render.diff_text import consequence_text
from tidegate.domain.model import (
    NEVER,
    ConcurrencyConstraint,
    Cycle,
    Priority,
    Retries,
    Schedule,
    TaskTimes,
    TaskTrigger,
    Timeout,
)

APP: dict[str, Any] = {
    "app": "shop",
    "timezone": "Europe/Berlin",
    "calendars": {"berlin": {"country": "DE", "subdivision": "BE"}},
    "datasets": {
        "raw": {"partitions": {"cycle": "hour", "start": "2026-01-01-00:00"}},
        "orders": {"partitions": {"cycle": "day", "start": "2026-01-01"}},
        "hours": {"partitions": {"cycle": "hour", "start": "2026-01-01-00:00"}},
        "appended": {"write": "append", "format": "iceberg"},
        "whole": {},
    },
    "programs": {
        "daily": {"run": "j.daily", "reads": ["raw"], "writes": ["orders"]},
        "hourly": {"run": "j.hourly", "reads": ["raw"], "writes": ["hours"]},
        "both": {"run": "j.both", "writes": ["orders", "whole"]},
        "whole": {"run": "j.whole", "writes": ["whole"]},
        "append": {"run": "j.append", "writes": ["appended"]},
    },
}


def compiled(**tasks: Any) -> Compilation:
    return compile_files({"a.yaml": json.dumps({**APP, "tasks": tasks}).encode()})


def built(**spec: Any) -> Schedule:
    found = compiled(it={"program": "daily", "cycle": "day", **spec})
    assert found.ok, [(each.code, each.summary) for each in found.diagnostics]
    return found.apps["shop"].app.schedules["it"]


def task(**spec: Any) -> TaskTrigger:
    found = built(**spec).task
    assert found is not None
    return found


def codes(**spec: Any) -> list[str]:
    """The errors of a task."""
    return [each.code for each in compiled(it=spec).diagnostics if each.severity == "error"]


def test_a_task_is_a_schedule_with_its_own_defaults() -> None:
    found = built()
    assert (found.program, found.on_suspend, found.status) == ("daily", "hold", "suspended")
    assert (found.output_partition, found.timezone) == ("business_date", "Europe/Berlin")
    assert found.timeout == Timeout(after=NEVER)
    trigger = task()
    assert (trigger.type, trigger.update, trigger.dataset) == ("materialization", None, None)
    assert (trigger.enabled, trigger.valid_from, trigger.valid_to) == (True, None, None)
    assert trigger.catch_up_at_most == timedelta(days=2)
    assert trigger.times == TaskTimes()


def test_it_has_the_keys_of_a_schedule() -> None:
    found = built(
        constraints=[{"concurrency": {"max": 2}}],
        timeout="6h",
        retries={"max": 2, "wait": "10m"},
        priority="high",
        args={"day": "{{ business_date }}"},
        owner="me",
        description="it",
        status="active",
        on_suspend="drain",
        on_update="carry",
    )
    (limit,) = found.constraints
    assert isinstance(limit, ConcurrencyConstraint)
    assert limit.max == 2
    assert found.timeout.after == timedelta(hours=6)
    assert isinstance(found.retries, Retries)
    assert (found.retries.max, found.retries.wait) == (2, timedelta(minutes=10))
    assert (found.priority, found.status) == (Priority.HIGH, "active")
    assert (found.on_suspend, found.on_update) == ("drain", "carry")
    assert (found.owner, found.description) == ("me", "it")
    assert found.args == {"day": "{{ business_date }}"}


def test_its_zone_and_its_bounds() -> None:
    trigger = task(
        timezone="America/New_York",
        calendar="berlin",
        enabled=False,
        valid_from="2026-03-01",
        valid_to="2026-03-01",
        catch_up_at_most="12h",
    )
    assert trigger.timezone == "America/New_York"
    assert trigger.calendar is not None
    assert trigger.calendar.name == "berlin"
    assert trigger.enabled is False
    assert (trigger.valid_from, trigger.valid_to) == (date(2026, 3, 1), date(2026, 3, 1))
    assert trigger.catch_up_at_most == timedelta(hours=12)
    assert built(timezone="UTC").timezone == "UTC"


@pytest.mark.parametrize(
    ("cycle", "at", "times"),
    [
        ("minute", {}, TaskTimes()),
        ("minute", {"every": "7m"}, TaskTimes(every=7)),
        ("minute", {"every": "30m", "from": "08:05", "to": "08:05"}, TaskTimes(every=30, from_=485, to=485)),
        ("hour", {"every": "24h", "minute": 59}, TaskTimes(every=24, minute=59)),
        ("hour", {"every": "120m", "from": "00:00", "to": "23:00"}, TaskTimes(every=2, from_=0, to=1380)),
        ("day", {"time": "02:30"}, TaskTimes(time=150)),
        ("week", {"weekdays": ["thu", "mon"]}, TaskTimes(weekdays=("mon", "thu"))),
        ("month", {"days": ["last", 15, 1]}, TaskTimes(days=(1, 15, -1))),
        ("year", {"dates": ["07-01", "02-29"]}, TaskTimes(dates=((2, 29), (7, 1)))),
    ],
)
def test_its_times(cycle: Cycle, at: dict[str, Any], times: TaskTimes) -> None:
    program = "hourly" if cycle == "hour" else "daily"
    assert task(cycle=cycle, at=at, program=program).times == times


@pytest.mark.parametrize(
    ("program", "cycle", "kind"),
    [
        ("daily", "hour", "business_date"),
        ("daily", "minute", "business_date"),
        ("hourly", "hour", "business_date"),
        ("both", "day", "business_date"),
        ("whole", "day", "none"),
    ],
)
def test_the_partitions_that_it_writes(program: str, cycle: str, kind: str) -> None:
    assert built(program=program, cycle=cycle).output_partition == kind


@pytest.mark.parametrize(
    ("spec", "update", "reported"),
    [
        ({"type": "source", "dataset": "raw"}, "periodic", False),
        ({"type": "source", "dataset": "raw", "update": "outside"}, "outside", True),
        ({"type": "external"}, "outside", True),
        ({"type": "external", "dataset": "whole", "update": "outside"}, "outside", True),
    ],
)
def test_a_task_that_launches_nothing(spec: dict[str, Any], update: str, reported: bool) -> None:
    found = compiled(it={"cycle": "hour", **spec}).apps["shop"].app.schedules["it"]
    assert found.task is not None
    assert (found.program, found.output_partition, found.task.launches) == ("", "none", False)
    assert (found.task.update, found.task.reported) == (update, reported)
    assert found.task.dataset == spec.get("dataset")


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"program": "daily", "update": "partition"}, []),
        ({"program": "whole", "update": "full"}, []),
        ({"program": "both", "update": "partition"}, ["L441"]),
        ({"program": "append"}, []),
        ({"program": "append", "update": "merge"}, ["L441"]),
        ({"type": "acceleration", "program": "append"}, ["L441"]),
        ({"type": "acceleration", "program": "daily", "update": "partition"}, []),
    ],
)
def test_an_update_is_how_the_outputs_are_written(spec: dict[str, Any], expected: list[str]) -> None:
    assert codes(cycle="day", **spec) == expected


@pytest.mark.parametrize(
    "spec",
    [
        {"cycle": "day", "trigger": {"cron": "@daily"}},
        {"cycle": "day", "for_each": "day"},
        {"cycle": "day", "batching": "each"},
        {"cycle": "day", "max_batch": 2},
        {"cycle": "day", "collect_existing": True},
        {"cycle": "day", "output_partition": "current"},
        {"cycle": "day", "timeout": {"after": "2h", "from": "satisfied"}},
        {"cycle": "minute", "at": {"every": "31m"}},
        {"cycle": "minute", "at": {"every": "0m"}},
        {"cycle": "hour", "at": {"every": "25h"}},
        {"cycle": "hour", "at": {"minute": 60}},
        {"cycle": "hour", "at": {"to": "20:30"}},
        {"cycle": "day", "at": {"time": "24:00"}},
        {"cycle": "month", "at": {"days": [0]}},
        {"cycle": "month", "at": {"days": [1, 1]}},
        {"cycle": "year", "at": {"dates": ["1-1"]}},
    ],
)
def test_what_a_task_cannot_be(spec: dict[str, Any]) -> None:
    assert not compiled(it={"program": "daily", **spec}).ok


def test_an_every_that_lasts_no_time_is_reported_once() -> None:
    assert codes(program="daily", cycle="minute", at={"every": "0m"}) == ["V201"]


def test_an_output_that_is_not_declared_is_reported_once() -> None:
    programs = {"it": {"run": "j.it", "writes": ["missing"]}}
    tasks = {"it": {"program": "it", "cycle": "day", "update": "full"}}
    text = json.dumps({"app": "shop", "programs": programs, "tasks": tasks})
    found = compile_files({"a.yaml": text.encode()}).diagnostics
    assert [each.code for each in found if each.severity == "error"] == ["N301"]


def test_one_wrong_task_leaves_the_others() -> None:
    found = compiled(
        right={"program": "daily", "cycle": "day", "depends_on": ["wrong"]},
        wrong={"program": "daily", "cycle": "quarter"},
    )
    assert [each.code for each in found.diagnostics if each.severity == "error"] == ["S105"]


def test_a_detected_upstream_reads_like_one_that_is_named() -> None:
    parts = {"raw": {"type": "source", "dataset": "raw", "cycle": "hour"}}
    spec = {"program": "daily", "cycle": "day", "at": {"time": "02:00"}}
    detected = compiled(it=spec, **parts).apps["shop"].app.schedules["it"]
    named = compiled(it={**spec, "depends_on": ["raw"]}, **parts).apps["shop"].app.schedules["it"]
    assert fingerprint(detected) != fingerprint(named)
    assert task_form(detected) == task_form(named)
    assert task_form(named)["depends_on"] == ["raw"]


def test_its_yaml_compiles_to_the_same_task() -> None:
    spec = {
        "program": "hourly",
        "cycle": "hour",
        "at": {"every": "2h", "minute": 5, "from": "08:00", "to": "20:00"},
        "depends_on": ["self", {"task": "raw", "select": "all", "period": "previous"}],
        "constraints": [{"concurrency": {"max": 1}}],
        "timeout": "6h",
        "valid_to": "2026-12-31",
        "args": {"hour": "{{ business_date }}"},
    }
    parts = {"raw": {"type": "source", "dataset": "raw", "cycle": "hour"}}
    first = compiled(it=spec, **parts).apps["shop"].app.schedules["it"]
    again = compiled(it=task_form(first), **parts).apps["shop"].app.schedules["it"]
    assert fingerprint(again) == fingerprint(first)
    assert task_form(again) == task_form(first)


def test_a_plan_says_how_many_instances_are_made_again_and_go() -> None:
    assert consequence_text(Consequence(kind="makes", count=2)) == "2 instances are made again"
    named = Consequence(kind="makes", count=7, names=tuple(f"2026-03-{day:02}" for day in range(1, 8)))
    assert consequence_text(named) == (
        "7 instances are made again: 2026-03-01, 2026-03-02, 2026-03-03, 2026-03-04, 2026-03-05 and 2 more"
    )
    assert (
        consequence_text(Consequence(kind="takes", count=1)) == "1 instance goes: the task has no such time"
    )
