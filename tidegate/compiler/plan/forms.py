"""Tasks, policies and settings of maintenance as the YAML of an app spells them, for a difference.

A policy, and the settings of maintenance, as the YAML of an app spells them: what a difference shows. The
model has bytes and seconds; here are "512MB" and "7d" as in a file. Keys that have their default are left
out, but for the zone of an operation, which is that of the app.

A dataset has its checks by name, each as it is written, so that a difference names the check that changes.

A task as the YAML of an app spells it: what a difference compares and shows. The model has minutes from
midnight and resolved names; here are "02:00" and `depends_on` as in a file. Keys that have their default
are left out. A detected upstream task is listed like one that is named.
"""

from datetime import time, timedelta
from typing import Any

from tidegate.compiler.fingerprint import canonical
from tidegate.domain.duration import duration_text
from tidegate.domain.maintenance.measures import MEASURES
from tidegate.domain.model import (
    NEVER,
    Check,
    Conditions,
    Dataset,
    DeclaredColumn,
    Dependency,
    HealthRules,
    Maintenance,
    OperationPlan,
    Policy,
    Priority,
    Schedule,
    TaskTrigger,
)
from tidegate.domain.model.triggers.task import CATCH_UP_AT_MOST, LAST_DAY, TaskTimes
from tidegate.domain.size import size_text

_NO_HEALTH = HealthRules()


def dataset_form(dataset: Dataset) -> dict[str, Any]:
    """Return a dataset in canonical form with its defaults; columns and checks by name, as written."""
    checks = {check.name: check_form(check) for check in dataset.checks}
    columns = {column.name: column_form(column) for column in dataset.columns}
    # Without any it is a list, so that a block that goes is one difference.
    return canonical(dataset, defaults=True) | {"checks": checks, "columns": columns or []}


def column_form(column: DeclaredColumn) -> Any:
    """Return a declared column as its YAML: by its type alone where that says all."""
    form = canonical(column)
    form.pop("name")
    return form["type"] if len(form) == 1 else form


def check_form(check: Check) -> dict[str, Any]:
    """Return a check as builtin values of its YAML, without its name."""
    form = canonical(check)
    beside = {"severity": check.severity} if check.severity == "warn" else {}
    own = {key: value for key, value in form.items() if key not in ("kind", "name", "severity")}
    # A kind with one field of its own is written as that field alone.
    alone = own.get(check.kind, own.get("columns")) if len(own) == 1 else None
    return {check.kind: own if alone is None else alone, **beside}


def policy_form(policy: Policy) -> dict[str, Any]:
    """Return a policy as builtin values of its YAML."""
    return _written(
        {
            "tables": list(policy.tables),
            "priority": policy.priority or None,
            "enabled": None if policy.enabled else False,
            "operations": {str(name): _operation(plan) for name, plan in policy.operations.items()} or None,
            "health": None if policy.health is None else _health(policy.health),
            "description": policy.description or None,
        }
    )


def maintenance_form(settings: Maintenance) -> dict[str, Any]:
    """Return the settings of maintenance as builtin values of their YAML."""
    form = canonical(settings)
    budget = settings.budget.bytes_per_hour
    if budget:
        form["budget"]["bytes_per_hour"] = size_text(budget)
    return form


def measured_form(measure: str, value: float) -> Any:
    """Return a value of a measure as it is written."""
    unit = MEASURES[measure].unit
    if unit == "bytes":
        return size_text(int(value))
    if unit == "seconds":
        return _duration(value)
    return int(value) if float(value).is_integer() else value


def _operation(plan: OperationPlan) -> dict[str, Any]:
    window = None if plan.window is None else canonical(plan.window)
    form = canonical(plan)
    return _written(
        {
            "enabled": form.get("enabled"),
            "cron": plan.cron,
            "interval": form.get("interval"),
            "timezone": plan.timezone,
            "window": None if window is None else {key: window[key] for key in window if key != "kind"},
            "timeout": form.get("timeout"),
            "options": _options(plan) or None,
            "when": None if plan.when is None else _conditions(plan.when),
        }
    )


def _options(plan: OperationPlan) -> dict[str, Any]:
    known = plan.operation.options
    return {
        name: _option(known[name].kind, value)
        for name, value in plan.options.items()
        if value != known[name].default
    }


def _option(kind: str, value: Any) -> Any:
    if kind == "duration":
        return _duration(value)
    return size_text(value) if kind == "size" else value


def _conditions(when: Conditions) -> dict[str, Any]:
    form = canonical(when)
    thresholds = [{each.measure: measured_form(each.measure, each.at_least)} for each in when.thresholds]
    return _written(
        {
            when.mode: thresholds or None,
            "min_interval": form.get("min_interval"),
            "at_latest": form.get("at_latest"),
        }
    )


def _health(rules: HealthRules) -> dict[str, Any]:
    thresholds = {
        measure: [measured_form(measure, limit) for limit in limits]
        for measure, limits in rules.thresholds.items()
    }
    small, large = rules.small_file, rules.large_file
    return _written(
        {
            "small_file": size_text(small) if small != _NO_HEALTH.small_file else None,
            "large_file": size_text(large) if large != _NO_HEALTH.large_file else None,
            "sample": rules.sample,
            "thresholds": thresholds or None,
        }
    )


def _duration(seconds: float) -> str:
    return duration_text(timedelta(seconds=seconds))


def _written(form: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in form.items() if value is not None}


_OF_SCHEDULES = ("retries", "args", "on_update", "owner", "description", "sensor", "alerts", "deadline")
"""Keys that are spelled alike for tasks and schedules."""

MINUTES_OF_HOUR = 60


def task_form(schedule: Schedule) -> dict[str, Any]:
    """Return a task as builtin values of its YAML, without its initial status."""
    task = schedule.task
    assert task is not None, "only a task has this form"
    form = canonical(schedule)
    written = {
        "type": task.type if task.type != "materialization" else None,
        "program": schedule.program or None,
        "dataset": task.dataset,
        "cycle": task.cycle,
        "at": _times(task) or None,
        "update": task.update,
        "depends_on": [_dependency(each) for each in task.depends_on] or None,
        "timeout": form.get("timeout") if schedule.timeout.after != NEVER else None,
        "constraints": [_constraint(each) for each in form.get("constraints", [])] or None,
        **{key: form.get(key) for key in _OF_SCHEDULES},
        "collect_existing": form.get("collect_existing"),
        "priority": str(schedule.priority) if schedule.priority != Priority.NORMAL else None,
        "on_suspend": schedule.on_suspend if schedule.on_suspend != "hold" else None,
        "output_partition": schedule.output_partition if schedule.output_partition != "none" else None,
        "business_date": "previous_business_day" if task.previous_business_day else None,
        "day_starts": f"{task.day_starts:%H:%M}" if task.day_starts != time() else None,
        "enabled": None if task.enabled else False,
        "valid_from": None if task.valid_from is None else task.valid_from.isoformat(),
        "valid_to": None if task.valid_to is None else task.valid_to.isoformat(),
        "calendar": None if task.calendar is None else canonical(task.calendar),
        "timezone": schedule.timezone,
        "catch_up_at_most": (
            duration_text(task.catch_up_at_most) if task.catch_up_at_most != CATCH_UP_AT_MOST else None
        ),
    }
    return _written(written)


def _constraint(form: dict[str, Any]) -> dict[str, Any]:
    """Return a constraint in canonical form as it is written: its kind is the key."""
    return {str(form["kind"]): {key: value for key, value in form.items() if key != "kind"}}


def _dependency(dependency: Dependency) -> str | dict[str, str]:
    name = "self" if dependency.itself else dependency.task
    options: dict[str, str] = {}
    if dependency.select is not None:
        options["select"] = dependency.select
    if dependency.period != "same":
        span = dependency.within
        options["period"] = dependency.period if span is None else duration_text(span)
    return {"task": name, **options} if options else name


def _times(task: TaskTrigger) -> dict[str, Any]:
    times, unit = task.times, task.cycle[0]
    found: dict[str, Any] = {}
    if times.every != 1:
        found["every"] = f"{times.every}{unit}"
    if times.minute:
        found["minute"] = times.minute
    for key, minutes in (("from", times.from_), ("to", times.to)):
        if minutes is not None:
            found[key] = clock_text(minutes)
    if task.cycle not in ("minute", "hour"):
        found["time"] = clock_text(times.time)
    return {**found, **_days(times)}


def _days(times: TaskTimes) -> dict[str, Any]:
    found: dict[str, Any] = {
        "weekdays": list(times.weekdays),
        "days": ["last" if day == LAST_DAY else day for day in times.days],
        "dates": [f"{month:02}-{day:02}" for month, day in times.dates],
    }
    return {key: value for key, value in found.items() if value}


def clock_text(minutes: int) -> str:
    """Return a wall time, in minutes from 00:00, as text."""
    return f"{minutes // MINUTES_OF_HOUR:02}:{minutes % MINUTES_OF_HOUR:02}"
