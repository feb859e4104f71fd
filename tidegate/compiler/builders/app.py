"""The builder of an app: its parts in the order of their references, then the rules for the whole app."""

from collections.abc import Iterator
from dataclasses import replace

from tidegate.compiler.builders.calendar import build_calendar
from tidegate.compiler.builders.dataset import build_dataset, week_starts_of
from tidegate.compiler.builders.program import build_program
from tidegate.compiler.builders.schedule import build_schedule
from tidegate.compiler.builders.scope import Scope
from tidegate.compiler.builders.zone import zone_of
from tidegate.compiler.diagnostics.diagnostic import Findings
from tidegate.compiler.reader.node import MappingNode, ScalarNode
from tidegate.compiler.rules.cycles import check_cycles
from tidegate.compiler.rules.incremental import check_incremental
from tidegate.compiler.rules.own_folder import check_folders
from tidegate.compiler.rules.references import check_upstream_arguments
from tidegate.compiler.rules.weeks import check_weeks
from tidegate.compiler.rules.writers import check_writers
from tidegate.compiler.schema.check import Broken
from tidegate.domain.model import App, OnUpdate

DEFAULT_TIMEZONE = "UTC"


def build_app(root: MappingNode, findings: Findings, broken: Broken, on_update: OnUpdate = "reset") -> App:
    """Build the app of a file, without the broken parts.

    Args:
        on_update: the default of its schedules.
    """
    groups = root.mapping("groups")
    scope = Scope(
        findings=findings,
        timezone=DEFAULT_TIMEZONE,
        groups={name: groups.text(name) for name in groups.values} if groups else {},
        on_update=on_update,
        broken=frozenset(f"{path[0]}.{path[1]}" for path in broken if len(path) == 2),
    )
    scope = _in_zone(scope, root)
    scope = _with_calendars(scope, root, broken)
    for key, node in _parts(root, "datasets", broken):
        scope.datasets[str(key.value)] = build_dataset(key, node, scope)
    for key, node in _parts(root, "programs", broken):
        scope.programs[str(key.value)] = build_program(key, node, scope)
    built = (build_schedule(key, node, scope) for key, node in _parts(root, "schedules", broken))
    place = root.get("app")
    app = App(
        name=root.text("app"),
        timezone=scope.timezone,
        datasets=scope.datasets,
        programs=scope.programs,
        schedules={schedule.name: schedule for schedule in built if schedule is not None},
        groups=scope.groups,
        calendars=scope.calendars,
        description=root.text("description"),
        at=findings.at(place if place is not None else root),
    )
    check_cycles(app, findings)
    check_folders(app, findings)
    check_writers(app, findings)
    programs = dict(_named(root, "programs", broken))
    check_incremental(app, programs, findings)
    check_weeks(app, programs, findings)
    if not findings.failed:
        # The arguments of a schedule with an error are not known.
        args = {name: node.get("args") for name, node in _named(root, "schedules", broken)}
        check_upstream_arguments(app, {name: node for name, node in args.items() if node}, findings)
    return app


def _in_zone(scope: Scope, root: MappingNode) -> Scope:
    """Return the same scope in the app's zone, with its weeks."""
    return Scope(
        findings=scope.findings,
        timezone=zone_of(root, scope),
        week_starts=week_starts_of(root, scope.week_starts),
        groups=scope.groups,
        on_update=scope.on_update,
        broken=scope.broken,
    )


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


def _named(root: MappingNode, section: str, broken: Broken) -> Iterator[tuple[str, MappingNode]]:
    return ((str(key.value), node) for key, node in _parts(root, section, broken))


def _parts(root: MappingNode, section: str, broken: Broken) -> Iterator[tuple[ScalarNode, MappingNode]]:
    mapping = root.mapping(section)
    if mapping is None:
        return
    for name, node in mapping.values.items():
        if isinstance(node, MappingNode) and (section, name) not in broken:
            yield mapping.keys[name], node
