"""The builder of an app: its parts in the order of their references, then the rules for the whole app."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import time

from tidegate.compiler.builders.dataset import build_dataset, week_starts_of
from tidegate.compiler.builders.default_format import set_formats
from tidegate.compiler.builders.failing import build_alerts
from tidegate.compiler.builders.maintenance.policy import build_policy
from tidegate.compiler.builders.maintenance.settings import build_maintenance
from tidegate.compiler.builders.program import build_program
from tidegate.compiler.builders.schedule import build_schedule
from tidegate.compiler.builders.task import build_task, check_task_name
from tidegate.compiler.diagnostics.diagnostic import Findings, Related
from tidegate.compiler.reader.node import MappingNode, ScalarNode, plain
from tidegate.compiler.rules.cycles.schedules import check_cycles
from tidegate.compiler.rules.datasets.declared import check_expected, check_watched, check_writers
from tidegate.compiler.rules.datasets.incremental import check_incremental
from tidegate.compiler.rules.datasets.own_output import check_own_output
from tidegate.compiler.rules.datasets.weeks import check_weeks
from tidegate.compiler.rules.former_names import check_former_names
from tidegate.compiler.rules.references import check_upstream_arguments
from tidegate.compiler.schema.check import Broken
from tidegate.compiler.scope.formats import NO_FORMATS, Formats
from tidegate.compiler.scope.others import OtherApp, Others, handed_over
from tidegate.compiler.scope.scope import Scope
from tidegate.compiler.values.calendar import build_calendar
from tidegate.compiler.values.texts import renamed_from, zone_of
from tidegate.domain.model import App, OnUpdate
from tidegate.domain.model.others import with_others
from tidegate.domain.part_name import is_of_other
from tidegate.domain.wording import shown

DEFAULT_TIMEZONE = "UTC"

APART = ("schedules", "tasks")
"""Sections whose parts have a text of their own."""


def build_app(
    root: MappingNode,
    findings: Findings,
    broken: Broken,
    others: Others,
    on_update: OnUpdate = "reset",
    formats: Formats = NO_FORMATS,
) -> tuple[App, tuple[App, ...]]:
    """Build the app of a file, without the broken parts.

    Args:
        others: the other apps, of which it may name parts.

    Returns:
        The app, and the other apps of which it names parts.
    """
    scope = replace(_scope(root, findings, broken, others), on_update=on_update, formats=formats)
    scope = _with_calendars(scope, root, broken)
    scope = _declare(root, broken, scope)
    built = [build_schedule(key, node, scope) for key, node in _parts(root, "schedules", broken)]
    built += [build_task(key, node, scope) for key, node in _tasks(root, broken, scope)]
    place = root.get("app")
    app = App(
        name=root.text("app"),
        timezone=scope.timezone,
        day_starts=scope.day_starts,
        datasets={name: part for name, part in scope.datasets.items() if not is_of_other(name)},
        programs={name: part for name, part in scope.programs.items() if not is_of_other(name)},
        schedules={schedule.name: schedule for schedule in built if schedule is not None},
        groups=scope.groups,
        calendars=scope.calendars,
        policies={
            str(key.value): build_policy(key, node, scope) for key, node in _parts(root, "policies", broken)
        },
        maintenance=None if _is_broken("maintenance", broken) else build_maintenance(root, scope),
        renamed_from=renamed_from(root),
        alerts=build_alerts(root),
        description=root.text("description"),
        written={name: plain(part) for name, part in root.values.items() if name not in APART},
        at=findings.at(place if place is not None else root),
    )
    check_cycles(app, findings)
    check_writers(app, findings)
    check_own_output(app, findings)
    check_watched(app, findings)
    check_expected(app, findings)
    programs = dict(_named(root, "programs", broken))
    check_former_names(root, findings)
    named = scope.others.of_parts((*scope.datasets, *scope.programs))
    whole = with_others(app, named)
    check_incremental(whole, programs, findings)
    check_weeks(whole, programs, findings)
    if not findings.failed:
        # The arguments of a schedule with an error are not known.
        args = {name: node.get("args") for name, node in _named(root, "schedules", broken)}
        check_upstream_arguments(app, {n: node for n, node in args.items() if node}, findings, scope.others)
    return app, named


def offered_app(root: MappingNode, broken: Broken, formats: Formats = NO_FORMATS) -> OtherApp:
    """Build what the app of a file offers to other apps; its mistakes are reported by its own build.

    What its programs read of further apps is not looked up.
    """
    scope = replace(_scope(root, Findings(root.text("app")), broken, Others()), formats=formats)
    scope = _declare(root, broken, scope)
    app = App(name=scope.app, timezone=scope.timezone, datasets=scope.datasets, programs=scope.programs)
    return OtherApp(app=app, broken=scope.broken, arguments=handed_over(root))


def _scope(root: MappingNode, findings: Findings, broken: Broken, others: Others) -> Scope:
    groups = root.mapping("groups")
    scope = Scope(
        findings=findings,
        timezone=DEFAULT_TIMEZONE,
        app=root.text("app"),
        others=others,
        groups={name: groups.text(name) for name in groups.values} if groups else {},
        broken=frozenset(f"{path[0]}.{path[1]}" for path in broken if len(path) == 2),
    )
    weeks = week_starts_of(root, scope.week_starts)
    return replace(scope, timezone=zone_of(root, scope), week_starts=weeks, day_starts=_day_starts(root))


def _day_starts(root: MappingNode) -> time:
    """Return when days of business dates begin; midnight for what the schema has refused."""
    try:
        return time.fromisoformat(root.text("day_starts", "00:00"))
    except ValueError:
        return time()


def _declare(root: MappingNode, broken: Broken, scope: Scope) -> Scope:
    """Build the datasets and programs of a file into the scope; return it with the broken datasets.

    What refers to a dataset with a wrong value is not judged by it: one mistake is one message.
    """
    section = list(_parts(root, "datasets", broken))
    wrong: set[str] = set()
    for key, node in section:
        errors = scope.findings.errors
        dataset = build_dataset(key, node, scope)
        if scope.findings.errors > errors:
            wrong.add(f"datasets.{dataset.name}")
        else:
            scope.datasets[dataset.name] = dataset
    scope = replace(scope, broken=scope.broken | wrong)
    for key, node in _parts(root, "programs", broken):
        scope.programs[str(key.value)] = build_program(key, node, scope)
    set_formats((part for part in section if part[0].value in scope.datasets), scope, renamed_from(root))
    return scope


def _with_calendars(scope: Scope, root: MappingNode, broken: Broken) -> Scope:
    """Return the same scope with the app's calendars; calendars with errors are broken parts.

    A calendar computes years of holidays, so none is built when there are more than the schema allows.
    """
    section = [] if ("calendars",) in broken else list(_parts(root, "calendars", broken))
    built = [build_calendar(key, node, scope) for key, node in section]
    good = {calendar.name: calendar for calendar in built if calendar is not None}
    named = root.mapping("calendars")
    wrong = {f"calendars.{name}" for name in (named.values if named else {}) if name not in good}
    return replace(scope, calendars=good, broken=scope.broken | wrong)


def _tasks(root: MappingNode, broken: Broken, scope: Scope) -> Iterator[tuple[ScalarNode, MappingNode]]:
    """Yield the tasks of a file, without those whose name is taken, which are reported."""
    schedules = root.mapping("schedules")
    for key, node in _parts(root, "tasks", broken):
        name = str(key.value)
        taken = schedules.keys.get(name) if schedules is not None else None
        if taken is not None:
            scope.findings.add(
                "N317",
                key,
                f"the schedules and tasks of an app have different names, got {shown(name)} twice",
                "rename one of the two",
                (Related(at=scope.at(taken), note="the schedule is here"),),
            )
        elif check_task_name(key, scope):
            yield key, node


def _is_broken(section: str, broken: Broken) -> bool:
    """Return whether a section has an error, itself or in one of its parts."""
    return any(path[:1] == (section,) for path in broken)


def _named(root: MappingNode, section: str, broken: Broken) -> Iterator[tuple[str, MappingNode]]:
    return ((str(key.value), node) for key, node in _parts(root, section, broken))


def _parts(root: MappingNode, section: str, broken: Broken) -> Iterator[tuple[ScalarNode, MappingNode]]:
    mapping = root.mapping(section)
    if mapping is None:
        return
    for name, node in mapping.values.items():
        if isinstance(node, MappingNode) and (section, name) not in broken:
            yield mapping.keys[name], node
