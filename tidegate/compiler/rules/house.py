"""The rules that a project adds to those of the language: `[lint.rules]` of its settings.

Each is declared with a severity and has a code of its own. They look at schedules and tasks that are
written in the YAML or in a call, never at what is deployed already.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Literal

from tidegate.compiler.diagnostics.diagnostic import Diagnostic, merged
from tidegate.domain.model import App, At, Schedule
from tidegate.domain.value import Value

Severity = Literal["error", "warning"]


class NameRule(Value, kw_only=True, forbid_unknown_fields=True):
    """Names that the whole pattern fits."""

    pattern: str
    severity: Severity = "error"


class LimitRule(Value, kw_only=True, forbid_unknown_fields=True):
    """At most so many."""

    max: int
    severity: Severity = "error"


class KindsRule(Value, kw_only=True, forbid_unknown_fields=True):
    """One of these kinds, such as "cron"."""

    allowed: tuple[str, ...]
    severity: Severity = "error"


class HouseRules(Value, kw_only=True, forbid_unknown_fields=True):
    """The rules of a project; None for each that it does not have."""

    owner: Severity | None = None
    timeout: Severity | None = None
    description: Severity | None = None
    name: NameRule | None = None
    max_per_app: LimitRule | None = None
    max_per_group: LimitRule | None = None
    triggers: KindsRule | None = None


NO_RULES = HouseRules()


def house_diagnostics(
    apps: Iterable[App], rules: HouseRules, line_of: Callable[[At], str], only: str | None = None
) -> tuple[Diagnostic, ...]:
    """Return what the schedules and tasks of apps break.

    Args:
        line_of: returns the line of the file at a place; "" if it is unknown.
        only: the name of the schedule that is asked about; the others only count in the limits.
    """
    if rules == NO_RULES:
        return ()
    return tuple(each for app in apps for each in merged(_of_app(app, rules, line_of, only)))


def _of_app(
    app: App, rules: HouseRules, line_of: Callable[[At], str], only: str | None
) -> Iterator[tuple[Diagnostic, str]]:
    in_groups: Counter[str] = Counter()
    for number, schedule in enumerate(app.schedules.values(), start=1):
        found = [*_of_schedule(schedule, rules), *_too_many(app, schedule, number, in_groups, rules)]
        for code, severity, summary, hint in found if only in (None, schedule.name) else ():
            said = f"{_kind(schedule)} {summary}"
            row = schedule.at.row if schedule.at is not None else ""
            yield _diagnostic(schedule, code, severity, said, hint, line_of), row


Broken = tuple[str, Severity, str, str]
"""Code, severity, summary and hint."""


def _of_schedule(schedule: Schedule, rules: HouseRules) -> Iterator[Broken]:
    name = schedule.name
    if rules.owner and not schedule.owner:
        yield "T511", rules.owner, f"{name} needs an owner, got none", "write `owner: TEAM`"
    if rules.timeout and "timeout" not in schedule.written:
        yield (
            "T512",
            rules.timeout,
            f"{name} needs a timeout of its own, got none",
            "write for example `timeout: 2h`",
        )
    if rules.description and not schedule.description:
        yield "T513", rules.description, f"{name} needs a description, got none", "write `description: …`"
    if rules.name and re.fullmatch(rules.name.pattern, name) is None:
        summary = f"names fit {rules.name.pattern}, got {name}"
        yield "T514", rules.name.severity, summary, "rename it, with `tidegate plan` before the deployment"
    kind = str(schedule.trigger.__struct_config__.tag)
    if rules.triggers and schedule.task is None and kind not in rules.triggers.allowed:
        allowed = ", ".join(rules.triggers.allowed)
        yield (
            "T517",
            rules.triggers.severity,
            f"{name} needs an allowed kind of trigger, got {kind}",
            f"use {allowed}",
        )


def _too_many(
    app: App, schedule: Schedule, number: int, in_groups: Counter[str], rules: HouseRules
) -> Iterator[Broken]:
    limit = rules.max_per_app
    if limit and number > limit.max:
        summary = f"{schedule.name}: app {app.name} may have {limit.max}, got number {number}"
        yield "T515", limit.severity, summary, "split the app"
    groups = {constraint.group_taken for constraint in schedule.constraints}
    for group in sorted(each for each in groups if each is not None):
        in_groups[group] += 1
        limit = rules.max_per_group
        if limit and in_groups[group] > limit.max:
            summary = f"{schedule.name}: group {group} may have {limit.max}, got number {in_groups[group]}"
            yield "T516", limit.severity, summary, "use another group"


def _kind(schedule: Schedule) -> str:
    return "schedule" if schedule.task is None else "task"


def _diagnostic(
    schedule: Schedule, code: str, severity: Severity, summary: str, hint: str, line_of: Callable[[At], str]
) -> Diagnostic:
    at = schedule.at or At(file="", line=1, column=1)
    return Diagnostic(
        code=code,
        severity=severity,
        at=at,
        end_column=at.column + len(schedule.name),
        summary=summary,
        hint=hint,
        source=line_of(at),
    )
