"""The difference between the deployed and the wanted apps, with its consequences for live jobs.

`diff` returns data; `compiler.render` prints it. The rules are "Deploying" in docs/rules.md and rules
11 and 23: with updating on, schedules follow the YAML; with updating off, they stay as deployed, but
the schedules of a removed program or app are always deleted. A schedule's status is never a
difference.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal

import msgspec

from tidegate.compiler.plan.blocked import Blocked
from tidegate.compiler.plan.consequence import Action, Consequence, Effect, consequences
from tidegate.compiler.plan.left_behind import LeftBehind
from tidegate.compiler.plan.override_change import OverrideChange
from tidegate.compiler.plan.ownership import TakenApp
from tidegate.compiler.plan.part_change import (
    FieldChange,
    PartChange,
    field_changes,
    form_of,
    keeps_keys,
    part_changes,
    redated,
    repartitioned,
    schemes_of,
    takes_away,
)
from tidegate.compiler.plan.refusal import Refusal, refusals_across, refusals_of_tasks, refusals_within
from tidegate.compiler.plan.renames import Renames
from tidegate.compiler.plan.repaired import Dependants, begins_to_repair, follow_repairs
from tidegate.domain.model import App, Schedule
from tidegate.domain.model.others import with_named
from tidegate.domain.value import Value

HARMLESS = ("description", "owner", "retries", "sensor", "alerts", "deadline", "repair")
"""Fields without effect on what jobs collect: a difference in these alone does not reset a job."""


class ScheduleChange(Value, kw_only=True):
    """The change of one schedule.

    Attributes:
        app, name, action: which, and what a deployment does with it.
        fields, consequences: how its fields change, and what that means for jobs and events.
        would: with action "kept", the action with updating on.
        section: where the app has it.
        because: why it changes although its own text may be the same, or why it cannot carry events.
        carries: it is replaced, and its waiting jobs keep their events (rule 24).
    """

    app: str
    name: str
    action: Action
    section: Literal["schedules", "tasks"] = "schedules"
    would: Action | None = None
    because: str = ""
    carries: bool = False
    fields: tuple[FieldChange, ...] = ()
    consequences: tuple[Consequence, ...] = ()

    @property
    def ref(self) -> str:
        """Name it with its app, "app/name"."""
        return f"{self.app}/{self.name}"

    @property
    def touches(self) -> bool:
        """Whether a deployment changes the schedule, beyond its place in the file."""
        return self.action not in ("unchanged", "kept")


class AppChange(Value, kw_only=True):
    """The change of one app.

    Attributes:
        name, action: of the app, and what happens to it itself.
        parts, schedules: what happens to its parts.
    """

    name: str
    action: Literal["create", "change", "delete", "unchanged"]
    parts: tuple[PartChange, ...] = ()
    schedules: tuple[ScheduleChange, ...] = ()


class Diff(Value, kw_only=True):
    """The whole difference.

    Attributes:
        apps: the changes of every app that is deployed or wanted, sorted by name.
        after: the apps after the deployment.
        stays, adopted, taken: see `tidegate.compiler.plan.ownership.Reach`.
        renames: what goes on under another name; the changes are those besides.
        blocked: why it cannot be carried out now.
        left: watermarks that it leaves behind.
        overrides: what was changed by hand in these apps, and what becomes of it.
        same: the apps of which no row changes: they are deployed exactly as they are wanted.
    """

    apps: tuple[AppChange, ...]
    refusals: tuple[Refusal, ...]
    update_schedules: bool
    after: dict[str, App]
    stays: tuple[str, ...] = ()
    adopted: tuple[str, ...] = ()
    taken: tuple[TakenApp, ...] = ()
    renames: Renames = Renames()
    blocked: tuple[Blocked, ...] = ()
    left: tuple[LeftBehind, ...] = ()
    overrides: tuple[OverrideChange, ...] = ()
    same: frozenset[str] = frozenset()

    @property
    def refused(self) -> bool:
        """Whether a deployment refuses this difference, unless it is forced where force is possible."""
        return bool(self.refusals or self.taken or self.blocked)

    @property
    def empty(self) -> bool:
        """Whether a deployment would change nothing."""
        return not self.renames and all(app.action == "unchanged" for app in self.apps)

    def schedules(self) -> Iterator[ScheduleChange]:
        """Yield the changes of all schedules of all apps."""
        for app in self.apps:
            yield from app.schedules


def diff(
    deployed: Mapping[str, App],
    wanted: Mapping[str, App],
    *,
    update_schedules: bool = True,
    effects: Callable[[Sequence[ScheduleChange]], Mapping[tuple[str, str], Effect]] | None = None,
    others: Mapping[str, App] | None = None,
    same: frozenset[str] = frozenset(),
) -> Diff:
    """Return the difference that a deployment of `wanted` would make.

    Args:
        deployed: the apps of the store that may change, with their schedules, by name.
        wanted: the apps after the deployment; a deployed app that is missing here is removed.
        effects: returns the effects of changed schedules by app and schedule; a missing entry means none.
        others: the apps of the store that do not change, with their schedules, by name.
        same: the apps that are equal in `deployed` and `wanted`, and have all that their triggers name of
            their own parts.
    """
    rest = others or {}
    names = sorted(set(deployed) | set(wanted))
    old_apps, new_apps = {**rest, **deployed}, {**rest, **wanted}
    same &= deployed.keys() & wanted.keys()
    differ = [name for name in names if name not in same]
    # Whether what differs changes nothing for those that do not.
    alone = not any(takes_away(deployed.get(name), wanted.get(name)) for name in differ)
    differ = differ if alone else names
    before = {name: with_named(deployed[name], old_apps) for name in differ if name in deployed}
    future = {name: with_named(wanted[name], new_apps) for name in differ if name in wanted}
    found = [
        change
        for name in differ
        for change in _schedules(name, before.get(name), future.get(name), update_schedules)
    ]
    known: Mapping[tuple[str, str], Effect] = {} if effects is None else effects(found)
    changed: dict[str, list[ScheduleChange]] = {}
    dependants = Dependants(new_apps)
    for change in found:
        changed.setdefault(change.app, []).append(_with_consequences(change, dependants, known))
    after: dict[str, App] = {}
    changes: list[AppChange] = []
    refusals: list[Refusal] = []
    for name in names:
        if alone and name in same:
            after[name] = deployed[name]
            changes.append(_unchanged(deployed[name]))
            continue
        old, new = deployed.get(name), wanted.get(name)
        schedules = tuple(changed.get(name, ()))
        parts = tuple(part_changes(old, new))
        changes.append(
            AppChange(
                name=name, action=_app_action(old, new, parts, schedules), parts=parts, schedules=schedules
            )
        )
        if new is not None:
            after[name] = _after(old, new, schedules)
            refusals.extend(refusals_within(name, after[name]))
    looked_at = differ if alone else [*rest, *names]
    refusals.extend(refusals_across(old_apps, {**rest, **after}, frozenset(names), looked_at))
    refusals.extend(refusals_of_tasks(old_apps, {**rest, **after}, looked_at))
    return Diff(
        apps=tuple(changes),
        refusals=tuple(refusals),
        update_schedules=update_schedules,
        after=after,
        same=frozenset(each.name for each in changes if each.name in same and each.action == "unchanged"),
    )


def _unchanged(app: App) -> AppChange:
    schedules = tuple(
        ScheduleChange(
            app=app.name,
            name=name,
            action="unchanged",
            section="schedules" if app.schedules[name].task is None else "tasks",
        )
        for name in sorted(app.schedules)
    )
    return AppChange(name=app.name, action="unchanged", schedules=schedules)


def _app_action(
    old: App | None, new: App | None, parts: tuple[PartChange, ...], schedules: tuple[ScheduleChange, ...]
) -> Literal["create", "change", "delete", "unchanged"]:
    if old is None:
        return "create"
    if new is None:
        return "delete"
    touched = any(change.touches for change in schedules)
    return "change" if parts or touched else "unchanged"


# --- schedules --------------------------------------------------------------------------


def _schedules(
    app: str, old: App | None, new: App | None, update_schedules: bool
) -> Iterator[ScheduleChange]:
    before = old.schedules if old else {}
    wanted = new.schedules if new else {}
    for name in sorted(set(before) | set(wanted)):
        change = _schedule(app, name, before.get(name), wanted.get(name), old, new)
        removed = _removal_reason(before.get(name), old, new)
        if removed and (change.action != "replace" or not update_schedules):
            # These are deleted whether or not schedules are updated.
            section = change.section
            change = ScheduleChange(app=app, name=name, action="delete", section=section, because=removed)
        elif not update_schedules and change.action != "unchanged":
            change = msgspec.structs.replace(change, action="kept", would=change.action)
        yield change


def _with_consequences(
    change: ScheduleChange, dependants: Dependants, effects: Mapping[tuple[str, str], Effect]
) -> ScheduleChange:
    new = dependants.apps.get(change.app)
    wanted = None if new is None else new.schedules.get(change.name)
    effect = effects.get((change.app, change.name), Effect())
    found = tuple(consequences(change.action, wanted, effect))
    if wanted is not None and begins_to_repair(change.action, wanted, [f.path for f in change.fields]):
        found += tuple(follow_repairs(change.app, wanted, dependants))
    return msgspec.structs.replace(change, consequences=found)


def _removal_reason(schedule: Schedule | None, old: App | None, new: App | None) -> str:
    """Return why a deployed schedule is deleted: its app or its program is removed. "" if it can stay."""
    if schedule is None or old is None:
        return ""
    if new is None:
        return "its app is removed"
    if schedule.program and schedule.program not in new.programs:
        return f'its program "{schedule.program}" is removed'
    return ""


def _schedule(
    app: str, name: str, before: Schedule | None, wanted: Schedule | None, old: App | None, new: App | None
) -> ScheduleChange:
    schedule = before if wanted is None else wanted
    section = "schedules" if schedule is None or schedule.task is None else "tasks"
    if before is None or wanted is None:
        action = "create" if before is None else "delete"
        return ScheduleChange(app=app, name=name, action=action, section=section)
    if (before.task is None) != (wanted.task is None):
        because = f"it was a {'schedule' if before.task is None else 'task'}"
        return ScheduleChange(app=app, name=name, action="replace", section=section, because=because)
    # Most schedules of a large project are equal, places included, and need no comparison by field.
    fields = () if before == wanted else tuple(field_changes(form_of(before), form_of(wanted)))
    differ = [*repartitioned(before, old, new), *redated(before, wanted, old, new)]
    if not differ and all(_is_harmless(change) for change in fields):
        harmless = "amend" if fields else "unchanged"
        return ScheduleChange(app=app, name=name, action=harmless, section=section, fields=fields)
    because = f"the partitions of {', '.join(differ)} change" if differ else ""
    if wanted.on_update == "carry" and before.for_each != wanted.for_each and not because:
        because = "for_each changes, so waiting jobs cannot keep their events"
    carrying = carries(before, wanted, old, new)
    return ScheduleChange(
        app=app,
        name=name,
        action="replace",
        section=section,
        because=because,
        carries=carrying,
        fields=fields,
    )


def _is_harmless(change: FieldChange) -> bool:
    # A waiting job keeps its events and its date, whether or not its date is its key from now on.
    same_events = change.path == "batching" and {change.old, change.new} == {"coalesce", "date"}
    return same_events or change.path.partition(".")[0] in HARMLESS


def carries(before: Schedule, wanted: Schedule, old: App | None, new: App | None) -> bool:
    """Return whether jobs of a changed schedule keep their events: it says so, and keys mean the same."""
    pairs = schemes_of(before, old, new).values()
    same_keys = before.for_each == wanted.for_each and all(keeps_keys(*pair) for pair in pairs)
    same_keys = same_keys and not redated(before, wanted, old, new)
    return wanted.on_update == "carry" and same_keys


# --- the app afterwards -----------------------------------------------------------------


def _after(old: App | None, new: App, schedules: tuple[ScheduleChange, ...]) -> App:
    """Return the app after the deployment: the wanted app with the schedules that the changes leave."""
    before = old.schedules if old else {}
    remaining: dict[str, Schedule] = {}
    for change in schedules:
        if change.action in ("create", "replace", "amend"):
            remaining[change.name] = new.schedules[change.name]
        elif change.action in ("unchanged", "kept") and change.name in before:
            remaining[change.name] = before[change.name]
    return msgspec.structs.replace(new, schedules=remaining)
