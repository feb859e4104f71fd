"""The difference between what is deployed and what is wanted, with what it means for live jobs.

`diff` returns data only; `compiler.render` draws it. The rules are "Deploying" in docs/rules.md and
rules 11 and 23: with updating on, schedules follow the YAML; with updating off they stay as
they are, but the schedules of a removed program or app always go. A schedule's status is
never a difference.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, cast

import msgspec

from tidegate.compiler.plan.consequence import Action, Consequence, Effect, consequences
from tidegate.compiler.plan.fingerprint import METADATA, canonical
from tidegate.domain.model import (
    App,
    Schedule,
    leaves,
)
from tidegate.domain.value import Value


class FieldChange(Value, kw_only=True):
    """One field that differs.

    Attributes:
        path: keys joined by ".", list members by their number, for example "trigger.of.0.count".
        old, new: the values in canonical form; None where the field is absent or has its default.
    """

    path: str
    old: Any = None
    new: Any = None


class ScheduleChange(Value, kw_only=True):
    """What becomes of one schedule.

    Attributes:
        would: with action "kept", what updating would have done.
        because: why it changes although its own text may be the same, or why it cannot carry.
        carries: it is replaced, and its waiting jobs keep their events (rule 24).
    """

    app: str
    name: str
    action: Action
    would: Action | None = None
    because: str = ""
    carries: bool = False
    fields: tuple[FieldChange, ...] = ()
    consequences: tuple[Consequence, ...] = ()


class PartChange(Value, kw_only=True):
    """What becomes of a dataset, a program, a group, or the app's own settings."""

    section: Literal["datasets", "programs", "groups", "calendars", "app"]
    name: str
    action: Literal["create", "change", "delete"]
    fields: tuple[FieldChange, ...] = ()


class AppChange(Value, kw_only=True):
    """What becomes of one app."""

    name: str
    action: Literal["create", "change", "delete", "unchanged"]
    parts: tuple[PartChange, ...] = ()
    schedules: tuple[ScheduleChange, ...] = ()


class Refusal(Value, kw_only=True):
    """Why the deployment is refused unless it is forced: a removed part that kept schedules need."""

    app: str
    section: Literal["datasets", "programs"]
    name: str
    schedules: tuple[str, ...]


class Diff(Value, kw_only=True):
    """The whole difference.

    Attributes:
        apps: every app that is deployed or wanted, by name.
        after: the apps as they will stand once this is deployed.
    """

    apps: tuple[AppChange, ...]
    refusals: tuple[Refusal, ...]
    update_schedules: bool
    after: dict[str, App]

    @property
    def empty(self) -> bool:
        """Whether deploying would change nothing."""
        return all(app.action == "unchanged" for app in self.apps)

    def schedules(self) -> Iterator[ScheduleChange]:
        """Every schedule's change, over all apps."""
        for app in self.apps:
            yield from app.schedules


def diff(
    deployed: Mapping[str, App],
    wanted: Mapping[str, App],
    *,
    update_schedules: bool = True,
    effects: Callable[[Sequence[ScheduleChange]], Mapping[tuple[str, str], Effect]] | None = None,
) -> Diff:
    """The difference that a deployment of `wanted` would make.

    Args:
        deployed: all apps of the store with their schedules, by name.
        wanted: all apps of the project; an app that is missing here is removed.
        update_schedules: whether schedules follow the YAML.
        effects: says what changes of schedules do to what is going on, by app and schedule; nothing where an
            entry is missing.
    """
    names = sorted(set(deployed) | set(wanted))
    found = [
        change
        for name in names
        for change in _schedules(name, deployed.get(name), wanted.get(name), update_schedules)
    ]
    known: Mapping[tuple[str, str], Effect] = {} if effects is None else effects(found)
    changed: dict[str, list[ScheduleChange]] = {}
    for change in found:
        changed.setdefault(change.app, []).append(_foretold(change, wanted.get(change.app), known))
    after: dict[str, App] = {}
    changes: list[AppChange] = []
    refusals: list[Refusal] = []
    for name in names:
        old, new = deployed.get(name), wanted.get(name)
        schedules = tuple(changed.get(name, ()))
        parts = tuple(_parts(old, new))
        changes.append(
            AppChange(
                name=name, action=_app_action(old, new, parts, schedules), parts=parts, schedules=schedules
            )
        )
        if new is not None:
            after[name] = _after(old, new, schedules)
            refusals.extend(_refusals(name, after[name]))
    return Diff(apps=tuple(changes), refusals=tuple(refusals), update_schedules=update_schedules, after=after)


def _app_action(
    old: App | None, new: App | None, parts: tuple[PartChange, ...], schedules: tuple[ScheduleChange, ...]
) -> Literal["create", "change", "delete", "unchanged"]:
    if old is None:
        return "create"
    if new is None:
        return "delete"
    touched = any(s.action not in ("unchanged", "kept") for s in schedules)
    return "change" if parts or touched else "unchanged"


# --- schedules --------------------------------------------------------------------------


def _schedules(
    app: str, old: App | None, new: App | None, update_schedules: bool
) -> Iterator[ScheduleChange]:
    before = old.schedules if old else {}
    coming = new.schedules if new else {}
    for name in sorted(set(before) | set(coming)):
        change = _schedule(app, name, before.get(name), coming.get(name), old, new)
        gone = _gone(before.get(name), old, new)
        if gone and (change.action != "replace" or not update_schedules):
            # These always go, whether or not schedules are updated.
            change = ScheduleChange(app=app, name=name, action="delete", because=gone)
        elif not update_schedules and change.action != "unchanged":
            change = msgspec.structs.replace(change, action="kept", would=change.action)
        yield change


def _foretold(
    change: ScheduleChange, new: App | None, effects: Mapping[tuple[str, str], Effect]
) -> ScheduleChange:
    """The change with its consequences."""
    coming = None if new is None else new.schedules.get(change.name)
    effect = effects.get((change.app, change.name), Effect())
    found = tuple(consequences(change.action, coming, effect))
    return msgspec.structs.replace(change, consequences=found)


def _gone(schedule: Schedule | None, old: App | None, new: App | None) -> str:
    """Why a deployed schedule cannot stay: its app or its program is removed. "" if it can."""
    if schedule is None or old is None:
        return ""
    if new is None:
        return "its app is removed"
    if schedule.program not in new.programs:
        return f'its program "{schedule.program}" is removed'
    return ""


def _schedule(
    app: str, name: str, before: Schedule | None, coming: Schedule | None, old: App | None, new: App | None
) -> ScheduleChange:
    """What updating would do to one schedule."""
    if before is None or coming is None:
        return ScheduleChange(app=app, name=name, action="create" if before is None else "delete")
    # Most schedules of a large project are equal, places and all, and need no closer look.
    fields = () if before == coming else tuple(field_changes(_form(before), _form(coming)))
    recut = _recut(before, old, new)
    if not recut and all(change.path in METADATA for change in fields):
        return ScheduleChange(app=app, name=name, action="amend" if fields else "unchanged", fields=fields)
    because = f"the partitions of {', '.join(recut)} change" if recut else ""
    if coming.on_update == "carry" and before.for_each != coming.for_each and not because:
        because = "for_each changes, so nothing that waits can be carried"
    carrying = carries(before, coming, old, new)
    return ScheduleChange(
        app=app, name=name, action="replace", because=because, carries=carrying, fields=fields
    )


def carries(before: Schedule, coming: Schedule, old: App | None, new: App | None) -> bool:
    """Whether the jobs of a changed schedule keep their events: it says so, and their keys mean the same."""
    return coming.on_update == "carry" and before.for_each == coming.for_each and not _recut(before, old, new)


def _recut(schedule: Schedule, old: App | None, new: App | None) -> list[str]:
    """Datasets of the trigger whose partitions change: keys collected so far mean nothing any more."""
    before = old.datasets if old is not None else {}
    coming = new.datasets if new is not None else {}
    collected = {leaf.trigger.dataset_collected for leaf in leaves(schedule.trigger)}
    standing = sorted(before.keys() & coming.keys() & collected)
    return [name for name in standing if before[name].partitions != coming[name].partitions]


# --- everything else --------------------------------------------------------------------


def _parts(old: App | None, new: App | None) -> Iterator[PartChange]:
    if old is not None and new is not None:
        fields = tuple(field_changes(_settings(old), _settings(new)))
        if fields:
            yield PartChange(section="app", name=new.name, action="change", fields=fields)
    for section in ("groups", "calendars", "datasets", "programs"):
        yield from _section(section, getattr(old, section, {}), getattr(new, section, {}))


def _section(
    section: Literal["groups", "calendars", "datasets", "programs"],
    before: dict[str, Any],
    coming: dict[str, Any],
) -> Iterator[PartChange]:
    for name in sorted(set(before) | set(coming)):
        if name not in before or name not in coming:
            yield PartChange(section=section, name=name, action="create" if name in coming else "delete")
            continue
        fields = tuple(field_changes(_form(before[name]), _form(coming[name])))
        if fields:
            yield PartChange(section=section, name=name, action="change", fields=fields)


def _settings(app: App) -> dict[str, Any]:
    return {"timezone": app.timezone, "description": app.description}


def _form(part: Any) -> dict[str, Any]:
    return canonical(part, defaults=True) if isinstance(part, Value) else {"description": part}


def field_changes(old: Any, new: Any, path: str = "") -> Iterator[FieldChange]:
    """The leaves at which two canonical forms differ; lists of equal length member by member."""
    if old == new:
        return
    if isinstance(old, dict) and isinstance(new, dict):
        before, coming = cast("dict[str, Any]", old), cast("dict[str, Any]", new)
        if before.get("kind") == coming.get("kind"):
            for key in sorted(set(before) | set(coming)):
                yield from field_changes(before.get(key), coming.get(key), f"{path}.{key}" if path else key)
            return
    if isinstance(old, list) and isinstance(new, list):
        items, others = cast("list[Any]", old), cast("list[Any]", new)
        if len(items) == len(others) and any(isinstance(item, dict) for item in items):
            for index, (one, other) in enumerate(zip(items, others, strict=True)):
                yield from field_changes(one, other, f"{path}.{index}")
            return
    yield FieldChange(path=path, old=old, new=new)


def _after(old: App | None, new: App, schedules: tuple[ScheduleChange, ...]) -> App:
    """The app as it will stand: the wanted one with the schedules that the changes leave."""
    before = old.schedules if old else {}
    standing: dict[str, Schedule] = {}
    for change in schedules:
        if change.action in ("create", "replace", "amend"):
            standing[change.name] = new.schedules[change.name]
        elif change.action in ("unchanged", "kept") and change.name in before:
            standing[change.name] = before[change.name]
    return msgspec.structs.replace(new, schedules=standing)


def _refusals(app: str, after: App) -> Iterator[Refusal]:
    """Parts that go although schedules that stay are triggered by them (rule 23)."""
    needed: dict[tuple[Literal["datasets", "programs"], str], list[str]] = {}
    for schedule in after.schedules.values():
        for leaf in leaves(schedule.trigger):
            runs, dataset = leaf.trigger.runs_heard(schedule.program), leaf.trigger.dataset_heard
            if runs is not None and runs[0] not in after.programs:
                needed.setdefault(("programs", runs[0]), []).append(schedule.name)
            if dataset is not None and dataset not in after.datasets:
                needed.setdefault(("datasets", dataset), []).append(schedule.name)
    for (section, name), schedules in sorted(needed.items()):
        names = tuple(dict.fromkeys(schedules))
        yield Refusal(app=app, section=section, name=name, schedules=names)
