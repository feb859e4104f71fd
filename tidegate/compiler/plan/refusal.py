"""Reasons to refuse a deployment unless it is forced: those who need a part that it takes away (rule 23).

The part and who needs it may be in different apps, and these in different projects. What was forced
earlier is not a reason again: only what this deployment itself removes, changes or adds is.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

from tidegate.compiler.plan.part_change import keeps_keys
from tidegate.domain.model import App, Dataset, Schedule, leaves
from tidegate.domain.model.others import part_of, parts_of_others
from tidegate.domain.part_name import SEPARATOR, app_of, is_of_other, name_in, whole_name
from tidegate.domain.value import Value
from tidegate.domain.wording import listed

Section = Literal["datasets", "programs", "tasks"]

Fault = Literal["removed", "repartitioned", "missing"]
"""`missing`: the app of the part is not deployed, or does not have it."""

_DEEDS: dict[Fault, str] = {
    "removed": "remove",
    "repartitioned": "change the partitions of",
    "missing": "need, where it is not deployed,",
}
_REMEDIES: dict[Fault, str] = {
    "removed": "deploy with --update-schedules, restore the removed part, or deploy with --force",
    "repartitioned": "deploy the schedules that wait for it together with it, keep the old keys valid,"
    " or deploy with --force",
    "missing": "deploy app {app} first, or both together, or deploy with --force",
}

_REMOVED_FROM_OTHERS = (
    "change {apps} first, so that it does not name the part, restore the part, or deploy with --force"
)

_REMOVED_TASK = (
    "restore the task, delete or change the tasks that wait for it in the same step,"
    " or add --force: they then run without it"
)

Needed = tuple[Fault, str, Section, str]
"""A fault, and the app, the section and the name of the part."""


class Refusal(Value, kw_only=True):
    """A part that is missing after the deployment, or whose partitions change, and who needs it.

    Attributes:
        section, name: of the part.
        fault: what happens to it.
        app: the app of the part.
        schedules: those that it triggers, or the tasks that wait for it: names in its own app, whole names
            in other apps.
        programs: the programs of other apps that read it, by their whole names.
    """

    app: str
    section: Section
    name: str
    schedules: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    fault: Fault = "removed"

    @property
    def summary(self) -> str:
        """The part and who needs it, for messages."""
        uses = [(self.use, self.schedules), ("is read by", self.programs)]
        words = " and ".join(f"{verb} {', '.join(names)}" for verb, names in uses if names)
        return f"{self.section.removesuffix('s')} {self.app}/{self.name}, which {words}"

    @property
    def use(self) -> str:
        """What the part is to the schedules that need it."""
        return "is upstream of" if self.section == "tasks" else "triggers"

    @property
    def deed(self) -> str:
        """What the deployment would do to the part."""
        return _DEEDS[self.fault]

    @property
    def remedy(self) -> str:
        if self.section == "tasks":
            return _REMOVED_TASK
        if self.fault == "removed" and all(is_of_other(name) for name in (*self.schedules, *self.programs)):
            others = sorted({app_of(name) for name in (*self.schedules, *self.programs)})
            return _REMOVED_FROM_OTHERS.format(apps=listed(others, "and"))
        return _REMEDIES[self.fault].format(app=self.app)


def refusals_within(app: str, after: App) -> Iterator[Refusal]:
    """Yield the removed parts that trigger remaining schedules (rule 23)."""
    needed: dict[tuple[Literal["datasets", "programs"], str], list[str]] = {}
    for schedule in after.schedules.values():
        for leaf in leaves(schedule.trigger):
            runs, dataset = leaf.trigger.runs_heard(schedule.program), leaf.trigger.dataset_heard
            if runs is not None and not is_of_other(runs[0]) and runs[0] not in after.programs:
                needed.setdefault(("programs", runs[0]), []).append(schedule.name)
            if dataset is not None and not is_of_other(dataset) and dataset not in after.datasets:
                needed.setdefault(("datasets", dataset), []).append(schedule.name)
    for (section, name), schedules in sorted(needed.items()):
        names = tuple(dict.fromkeys(schedules))
        yield Refusal(app=app, section=section, name=name, schedules=names)


def refusals_across(
    before: Mapping[str, App], after: Mapping[str, App], deployed: frozenset[str], names: Iterable[str]
) -> Iterator[Refusal]:
    """Yield the parts that an app needs of another one and will not have after a deployment.

    Args:
        before: all apps of the store with their schedules, by name.
        after: all apps of the store after the deployment.
        deployed: the apps that the deployment is about.
        names: the apps for which that may be so.
    """
    triggered: dict[Needed, list[str]] = {}
    read: dict[Needed, list[str]] = {}
    for app in (after[name] for name in names if name in after):
        ours = app.name in deployed
        named = _names(before[app.name]) if app.name in before else frozenset[str]()
        for schedule in app.schedules.values():
            who = f"{app.name}{SEPARATOR}{schedule.name}"
            for section, part in dict.fromkeys(parts_of_others(schedule)):
                for fault in _faults(section, part, before, after, part not in named):
                    triggered.setdefault(_needed(fault, section, part), []).append(who)
            for part in () if ours else _collected(schedule):
                if _loses_keys(part_of(before, "datasets", part), part_of(after, "datasets", part)):
                    triggered.setdefault(_needed("repartitioned", "datasets", part), []).append(who)
        for program in app.programs.values():
            for part in filter(is_of_other, program.reads):
                for fault in _faults("datasets", part, before, after, part not in named):
                    who = f"{app.name}{SEPARATOR}{program.name}"
                    read.setdefault(_needed(fault, "datasets", part), []).append(who)
    for needed in sorted({*triggered, *read}):
        fault, app_name, section, name = needed
        yield Refusal(
            app=app_name,
            section=section,
            name=name,
            schedules=tuple(triggered.get(needed, ())),
            programs=tuple(read.get(needed, ())),
            fault=fault,
        )


def refusals_of_tasks(
    before: Mapping[str, App], after: Mapping[str, App], names: Iterable[str]
) -> Iterator[Refusal]:
    """Yield the tasks that a deployment removes, and for which tasks that stay wait, in whichever app.

    Args:
        before: all apps of the store with their schedules, by name.
        after: all apps of the store after the deployment.
        names: the apps of which tasks may wait for one of them.
    """
    waiting: dict[str, list[str]] = {}
    for app in (after[name] for name in names if name in after):
        for schedule in app.schedules.values():
            for name in () if schedule.task is None else dict.fromkeys(schedule.task.tasks_heard):
                upstream = whole_name(app.name, name)
                if _has_task(before, upstream) and not _has_task(after, upstream):
                    waiting.setdefault(upstream, []).append(f"{app.name}{SEPARATOR}{schedule.name}")
    for upstream, tasks in sorted(waiting.items()):
        app_name = app_of(upstream)
        yield Refusal(
            app=app_name,
            section="tasks",
            name=name_in(app_name, upstream),
            schedules=tuple(name_in(app_name, task) for task in tasks),
        )


def _has_task(apps: Mapping[str, App], whole: str) -> bool:
    found: Schedule | None = part_of(apps, "schedules", whole)
    return found is not None and found.task is not None


def _needed(fault: Fault, section: Section, part: str) -> Needed:
    app = app_of(part)
    return fault, app, section, name_in(app, part)


def _faults(
    section: Literal["datasets", "programs"],
    part: str,
    before: Mapping[str, App],
    after: Mapping[str, App],
    new: bool,
) -> Iterator[Fault]:
    if part_of(after, section, part) is not None:
        return
    if part_of(before, section, part) is not None:
        yield "removed"
    elif new:
        yield "missing"


def _names(app: App) -> frozenset[str]:
    """Return the parts of other apps that an app names."""
    triggers = (part for schedule in app.schedules.values() for _, part in parts_of_others(schedule))
    reads = (part for program in app.programs.values() for part in program.reads if is_of_other(part))
    return frozenset((*triggers, *reads))


def _collected(schedule: Schedule) -> tuple[str, ...]:
    """Return the datasets of other apps whose partitions a trigger collects."""
    found = (leaf.trigger.dataset_collected for leaf in leaves(schedule.trigger))
    return tuple(dict.fromkeys(name for name in found if name is not None and is_of_other(name)))


def _loses_keys(before: Dataset | None, after: Dataset | None) -> bool:
    """Return whether a collected key may be no key any more; additional keys alone are fine."""
    if before is None or after is None or before.partitions == after.partitions:
        return False
    old, new = before.partitions, after.partitions
    if old is None or new is None or not keeps_keys(old, new):
        return True
    later = old.time is not None and new.time is not None and new.time.start > old.time.start
    kept = old.static is None or new.static is None or set(old.static.keys) <= set(new.static.keys)
    return later or not kept
