"""The changes of an app besides its schedules and tasks: of what a deployment replaces as a whole. Pure.

Whether collected partition keys keep their meaning when the partitions of a dataset change. A dimension
that gains or loses keys, and another `start`, leave the other keys as they are. Another cycle, zone or
dimension changes what a key means, even where its text stays valid. Pure.
"""

from collections.abc import Container, Iterator
from typing import Any, Literal, cast

import msgspec

from tidegate.compiler.fingerprint import canonical
from tidegate.compiler.plan.forms import dataset_form, maintenance_form, policy_form, task_form
from tidegate.domain.business_date import BY_THE_CLOCK
from tidegate.domain.model import App, Dataset, Maintenance, PartitionScheme, Policy, Schedule, leaves
from tidegate.domain.value import Value


def keeps_keys(before: PartitionScheme | None, after: PartitionScheme | None) -> bool:
    """Return whether each key of both schemes names the same partition in both."""
    if before is None or after is None:
        return before is after
    same_static = (None if before.static is None else before.static.name) == (
        None if after.static is None else after.static.name
    )
    if before.time is None or after.time is None:
        return same_static and before.time is after.time
    return same_static and msgspec.structs.replace(before.time, start=after.time.start) == after.time


class FieldChange(Value, kw_only=True):
    """One field that differs.

    Attributes:
        path: keys joined by ".", list members by their number, for example "trigger.of.0.count".
        old, new: the values in canonical form; None where the field is absent or has its default.
    """

    path: str
    old: Any = None
    new: Any = None


def field_changes(old: Any, new: Any, path: str = "") -> Iterator[FieldChange]:
    """Yield the leaves at which two canonical forms differ; lists of equal length member by member."""
    if old == new:
        return
    if isinstance(old, dict) and isinstance(new, dict):
        before, wanted = cast("dict[str, Any]", old), cast("dict[str, Any]", new)
        if before.get("kind") == wanted.get("kind"):
            for key in sorted(set(before) | set(wanted)):
                yield from field_changes(before.get(key), wanted.get(key), f"{path}.{key}" if path else key)
            return
    if isinstance(old, list) and isinstance(new, list):
        items, others = cast("list[Any]", old), cast("list[Any]", new)
        if len(items) == len(others) and any(isinstance(item, dict) for item in items):
            for index, (one, other) in enumerate(zip(items, others, strict=True)):
                yield from field_changes(one, other, f"{path}.{index}")
            return
    yield FieldChange(path=path, old=old, new=new)


Section = Literal["datasets", "programs", "groups", "calendars", "policies", "maintenance", "app"]


class PartChange(Value, kw_only=True):
    """The change of a dataset, a program, a group, a calendar, a policy, or the app's own settings.

    Attributes:
        section: of the YAML, such as datasets.
        action: what happens to it.
        fields: which of its fields change, and how.
        name: of the settings of maintenance, and of the app's own settings, the name of the app.
    """

    section: Section
    name: str
    action: Literal["create", "change", "delete"]
    fields: tuple[FieldChange, ...] = ()

    def columns_that_stay(self, written: Container[str]) -> Iterator[str]:
        """Say what becomes of the columns that a dataset which programs write declares no more.

        Args:
            written: the datasets that programs write.
        """
        for field in self.fields if self.section == "datasets" and self.name in written else ():
            section, _, name = field.path.partition(".")
            if section == "columns" and name and "." not in name and field.new is None:
                yield f"column {name} stays in the table, without values in what is published from now on"


def part_changes(old: App | None, new: App | None) -> Iterator[PartChange]:
    """Yield the changes of an app besides its schedules and tasks."""
    if old is not None and new is not None:
        fields = tuple(field_changes(_settings(old), _settings(new)))
        if fields:
            yield PartChange(section="app", name=new.name, action="change", fields=fields)
    sections: tuple[Section, ...] = ("groups", "calendars", "datasets", "programs", "policies")
    for section in sections:
        yield from _section(section, getattr(old, section, {}), getattr(new, section, {}))
    yield from _section("maintenance", _maintenance(old), _maintenance(new))


def _maintenance(app: App | None) -> dict[str, Any]:
    return {} if app is None or app.maintenance is None else {app.name: app.maintenance}


def _section(section: Section, before: dict[str, Any], wanted: dict[str, Any]) -> Iterator[PartChange]:
    for name in sorted(set(before) | set(wanted)):
        if name not in before or name not in wanted:
            yield PartChange(section=section, name=name, action="create" if name in wanted else "delete")
            continue
        if before[name] == wanted[name]:
            # Most parts of a large project are equal, places included, and need no comparison by field.
            continue
        fields = tuple(field_changes(form_of(before[name]), form_of(wanted[name])))
        if not fields and isinstance(wanted[name], Dataset):
            fields = tuple(_order_of_columns(before[name], wanted[name]))
        if fields:
            yield PartChange(section=section, name=name, action="change", fields=fields)


def _settings(app: App) -> dict[str, Any]:
    named = {kind: list(channels) for kind, channels in app.alerts.items()}
    return {
        "timezone": app.timezone,
        "day_starts": f"{app.day_starts:%H:%M}",
        "description": app.description,
        "alerts": named,
    }


def form_of(part: Any) -> dict[str, Any]:
    """Return a part of an app as what a difference compares and shows."""
    if isinstance(part, Schedule) and part.task is not None:
        return task_form(part)
    if isinstance(part, Dataset):
        return dataset_form(part)
    if isinstance(part, Policy):
        return policy_form(part)
    if isinstance(part, Maintenance):
        return maintenance_form(part)
    return canonical(part, defaults=True) if isinstance(part, Value) else {"description": part}


def _order_of_columns(before: Dataset, wanted: Dataset) -> Iterator[FieldChange]:
    """Yield the order of the declared columns, which a new table gets, if nothing else of them differs."""
    old, new = ([column.name for column in dataset.columns] for dataset in (before, wanted))
    if old != new:
        yield FieldChange(path="columns", old=old, new=new)


def takes_away(old: App | None, new: App | None) -> bool:
    """Return whether what others name of an app goes or differs, so that they may change with it.

    What is added changes nothing for them.
    """
    if old is None:
        return False
    if new is None:
        return True
    kept = all(
        name in new.datasets and new.datasets[name].partitions == each.partitions
        for name, each in old.datasets.items()
    )
    tasks = {name for name, each in old.schedules.items() if each.task is not None}
    stay = {name for name, each in new.schedules.items() if each.task is not None}
    return not (kept and old.programs.keys() <= new.programs.keys() and tasks <= stay)


def repartitioned(schedule: Schedule, old: App | None, new: App | None) -> list[str]:
    """Return the datasets of the trigger whose partitions change."""
    pairs = schemes_of(schedule, old, new)
    return [name for name, (before, after) in pairs.items() if before != after]


def redated(before: Schedule, wanted: Schedule, old: App | None, new: App | None) -> list[str]:
    """Return the outputs whose periods change, where the dates of waiting jobs are keys of those periods."""
    if not (before.keyed_by_date and wanted.keyed_by_date):
        return []
    periods, wanted_periods = _periods(before, old), _periods(wanted, new)
    both = sorted(periods.keys() & wanted_periods.keys())
    if both:
        return [name for name in both if periods[name] != wanted_periods[name]]
    same = set(periods.values()) == set(wanted_periods.values())
    return [] if same else sorted(wanted_periods or periods)


def _periods(schedule: Schedule, app: App | None) -> dict[str, tuple[str, ...]]:
    """Return what decides about the dates of each output of a schedule with periods, by name."""
    found: dict[str, tuple[str, ...]] = {}
    if app is None or schedule.program not in app.programs:
        return found
    for output in app.programs[schedule.program].outputs(app.datasets):
        scheme = output.partitions
        if scheme is not None and scheme.time is not None:
            name, time = output.name, scheme.time
            zone = time.timezone if time.cycle in BY_THE_CLOCK else ""
            found[name] = (time.cycle, zone, time.week_starts if time.cycle == "week" else "")
    return found


def schemes_of(
    schedule: Schedule, old: App | None, new: App | None
) -> dict[str, tuple[PartitionScheme | None, PartitionScheme | None]]:
    """Return the former and the new partitions of each remaining dataset of the trigger, by name."""
    before = old.datasets if old is not None else {}
    wanted = new.datasets if new is not None else {}
    collected = {leaf.trigger.dataset_collected for leaf in leaves(schedule.trigger)}
    kept = sorted(before.keys() & wanted.keys() & collected)
    return {name: (before[name].partitions, wanted[name].partitions) for name in kept}
