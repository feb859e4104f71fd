"""A policy, and the settings of maintenance, as the YAML of an app spells them: what a difference shows.

The model has bytes and seconds; here are "512MB" and "7d" as in a file. Keys that have their default are left
out, but for the zone of an operation, which is that of the app.
"""

from datetime import timedelta
from typing import Any

from tidegate.compiler.fingerprint import canonical
from tidegate.domain.duration import duration_text
from tidegate.domain.maintenance.measures import MEASURES
from tidegate.domain.model import Conditions, HealthRules, Maintenance, OperationPlan, Policy
from tidegate.domain.size import size_text

_NO_HEALTH = HealthRules()


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
    """Return the options that differ from their defaults."""
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
