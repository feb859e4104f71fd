"""The builder of an app: its parts in the order of their references, then the rules for the whole app.

The table format of a dataset that names none: the one with which it is deployed, else the default. Only a
dataset that a program of the app writes takes a default. Landed files (`path`), and datasets that no
program writes, are Parquet. A deployed dataset keeps its format, whatever is installed later, because its
rows are in that format; a note reports it where the default is another one.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import time

import msgspec

from tidegate.compiler.builders.dataset import build_dataset, week_starts_of
from tidegate.compiler.builders.existing_job import check_arguments
from tidegate.compiler.builders.failing import build_alerts
from tidegate.compiler.builders.policy import build_maintenance, build_policy
from tidegate.compiler.builders.program import build_program
from tidegate.compiler.builders.schedule import build_schedule
from tidegate.compiler.builders.sql_arguments import check_sql_arguments
from tidegate.compiler.builders.task import build_task, check_task_name
from tidegate.compiler.diagnostics.diagnostic import Findings, Related
from tidegate.compiler.reader.node import MappingNode, ScalarNode, plain
from tidegate.compiler.rules.cycles.schedules import check_cycles
from tidegate.compiler.rules.datasets.declared import (
    check_expected,
    check_watched,
    check_writers,
)
from tidegate.compiler.rules.datasets.incremental import check_incremental
from tidegate.compiler.rules.datasets.own_output import check_own_output
from tidegate.compiler.rules.datasets.weeks import check_weeks
from tidegate.compiler.rules.former_names import check_former_names
from tidegate.compiler.rules.references import Launch, check_upstream_arguments
from tidegate.compiler.schema.check import Broken
from tidegate.compiler.scope.formats import NO_FORMATS, Formats
from tidegate.compiler.scope.others import OtherApp, Others, handed_over
from tidegate.compiler.scope.project_files import ReadFile, no_files
from tidegate.compiler.scope.scope import Scope
from tidegate.compiler.values.calendar import build_calendar
from tidegate.compiler.values.texts import renamed_from, zone_of
from tidegate.domain.model import App, OnUpdate
from tidegate.domain.model.others import with_others
from tidegate.domain.model.table_format import LANDED, DatasetFormat, format_facts
from tidegate.domain.part_name import is_of_other
from tidegate.domain.wording import shown


def set_formats(
    parts: Iterable[tuple[ScalarNode, MappingNode]], scope: Scope, former_apps: tuple[str, ...] = ()
) -> None:
    """Set the formats of the scope's datasets that name none.

    Args:
        parts: name and body of each dataset that was built.
        former_apps: former names of the app, the newest first.
    """
    formats, found = scope.formats, scope.datasets
    written = {name for program in scope.programs.values() for name in program.writes}
    kept: list[tuple[ScalarNode, DatasetFormat]] = []
    for key, node in parts:
        name = str(key.value)
        if "format" in node.values or found[name].asset:
            continue
        names = (f"{app}/{n}" for app in (scope.app, *former_apps) for n in (name, *found[name].renamed_from))
        deployed = next((formats.deployed[each] for each in names if each in formats.deployed), None)
        if "path" in node.values:
            if deployed is not None and format_facts(deployed).in_catalog:
                _refuse_path(node, deployed, scope)
            continue
        default: DatasetFormat = formats.default if name in written else LANDED
        found[name] = msgspec.structs.replace(found[name], format=deployed or default)
        if name in written and deployed not in (None, default):
            kept.append((key, found[name].format))
    if kept:
        _note_kept(kept, formats.default, scope)


def _refuse_path(node: MappingNode, deployed: DatasetFormat, scope: Scope) -> None:
    table = format_facts(deployed).a_table()
    wrong = f"the catalog chooses the path of {table}, as which the dataset is deployed"
    summary = f"{wrong}, got {shown(node.text('path'))}"
    scope.findings.add("V216", node.values["path"], summary, f"delete the path, or write `format: {LANDED}`")


def _note_kept(kept: list[tuple[ScalarNode, DatasetFormat]], default: DatasetFormat, scope: Scope) -> None:
    """Report the first dataset, with the number of all: notes must not displace errors."""
    key, format = kept[0]
    more = f", and {len(kept) - 1} more of this app" if len(kept) > 1 else ""
    scope.findings.add(
        "L460",
        key,
        f"a dataset keeps the format with which it is deployed, got {shown(key.value)}{more}: deployed as "
        f'"{format}", and the default is "{default}"',
        f'write `format: {format}`, or default_format = "{format}" in [warehouse] of tidegate.toml; for '
        f"{default}, let the program write a dataset of another name",
    )


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
    read_file: ReadFile = no_files,
) -> tuple[App, tuple[App, ...]]:
    """Build the app of a file, without the broken parts.

    Args:
        others: the other apps, of which it may name parts.
        read_file: returns the files of the project that it names.

    Returns:
        The app, and the other apps of which it names parts.
    """
    scope = _scope(root, findings, broken, others)
    scope = replace(scope, on_update=on_update, formats=formats, read_file=read_file)
    scope = _with_calendars(scope, root, broken)
    scope = _declare(root, broken, scope)
    launches = list(_launches(root, broken, scope))
    programs = {str(key.value): node for key, node in _parts(root, "programs", broken)}
    configs = {name: node.get("config") for name, node in programs.items()}
    check_arguments(launches, configs, scope)
    check_sql_arguments(launches, scope)
    place = root.get("app")
    app = App(
        name=root.text("app"),
        timezone=scope.timezone,
        day_starts=scope.day_starts,
        datasets={name: part for name, part in scope.datasets.items() if not is_of_other(name)},
        programs={name: part for name, part in scope.programs.items() if not is_of_other(name)},
        schedules={each.schedule.name: each.schedule for each in launches},
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
    if any(dataset.checks for dataset in app.datasets.values()):
        # Loaded by those alone who have checks.
        from tidegate.compiler.rules.datasets.checks import check_checked

        check_checked(app, findings)
    check_expected(app, findings)
    check_former_names(root, findings)
    named = scope.others.of_parts((*scope.datasets, *scope.programs))
    whole = with_others(app, named)
    check_incremental(whole, programs, findings)
    check_weeks(whole, programs, findings)
    if not findings.failed:
        # The arguments of a schedule with an error are not known.
        args = [(each.schedule, each.args) for each in launches]
        args += [(each.schedule, configs.get(each.schedule.program)) for each in launches]
        check_upstream_arguments(app, args, findings, scope.others)
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


def _launches(root: MappingNode, broken: Broken, scope: Scope) -> Iterator[Launch]:
    """Build the schedules and tasks of a file; yield those without errors."""
    for build, parts in (
        (build_schedule, _parts(root, "schedules", broken)),
        (build_task, _tasks(root, broken, scope)),
    ):
        for key, node in parts:
            schedule = build(key, node, scope)
            if schedule is not None:
                yield Launch(schedule, key, node.get("args"))


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


def _parts(root: MappingNode, section: str, broken: Broken) -> Iterator[tuple[ScalarNode, MappingNode]]:
    mapping = root.mapping(section)
    if mapping is None:
        return
    for name, node in mapping.values.items():
        if isinstance(node, MappingNode) and (section, name) not in broken:
            yield mapping.keys[name], node
