"""What follows when a schedule begins to repair: which schedules run again for it, and which do not.

a schedule with `for_each` listens to an output   its key runs again, with what its last job had
a schedule without keys listens to it             what is repaired is new data, as all that comes
a program only reads it                           it is not run again
"""

from collections.abc import Collection, Iterator, Mapping
from functools import cached_property

from tidegate.compiler.plan.consequence import Action, Consequence
from tidegate.domain.model import App, Schedule, leaves
from tidegate.domain.part_name import app_of, is_of_other, name_in, whole_name

REPAIRING: tuple[Action, ...] = ("create", "replace", "amend")

TEXTS = {
    "reruns": "what it repairs runs again in {names}, with what the last run of the key had",
    "adds": "what it repairs is new data for {names}, without keys",
    "reads": "what it repairs is read and does not run {names} again",
}
"""Each of these consequences in a few words."""


class Dependants:
    """Who depends on each dataset of some apps; the apps are looked at once, at the first question.

    Args:
        apps: all apps after the deployment, with their schedules, by name.
    """

    def __init__(self, apps: Mapping[str, App]) -> None:
        self.apps = apps

    @cached_property
    def listening(self) -> Mapping[str, Mapping[str, Schedule]]:
        """The schedules that collect each dataset, by the whole name of both."""
        found: dict[str, dict[str, Schedule]] = {}
        for app in self.apps.values():
            for schedule in app.schedules.values():
                if schedule.task is None:
                    for name in {leaf.trigger.dataset_collected for leaf in leaves(schedule.trigger)}:
                        if name is not None:
                            ref = f"{app.name}/{schedule.name}"
                            found.setdefault(whole_name(app.name, name), {})[ref] = schedule
        return found

    @cached_property
    def reading(self) -> Mapping[str, Mapping[str, None]]:
        """The programs that read each dataset, by the whole name of both."""
        found: dict[str, dict[str, None]] = {}
        for app in self.apps.values():
            for name, program in app.programs.items():
                for read in () if is_of_other(name) else program.reads:
                    found.setdefault(whole_name(app.name, read), {})[whole_name(app.name, name)] = None
        return found


def follow_repairs(app: str, wanted: Schedule, dependants: Dependants) -> Iterator[Consequence]:
    """Yield what becomes of those that depend on what a schedule repairs.

    Args:
        app: of the schedule.
    """
    program = dependants.apps[app].programs.get(wanted.program)
    written = sorted({whole_name(app, name) for name in (() if program is None else program.writes)})
    listening = {ref: each for name in written for ref, each in dependants.listening.get(name, {}).items()}
    launched = {whole_name(app_of(ref), each.program) for ref, each in listening.items()}
    again = [ref for ref, each in listening.items() if each.for_each is not None]
    pooled = [ref for ref, each in listening.items() if each.for_each is None]
    readers = {ref for name in written for ref in dependants.reading.get(name, {})}
    only = [ref for ref in readers if ref not in launched]
    found = (
        Consequence(kind="reruns", count=len(again), names=_named(app, again)),
        Consequence(kind="adds", count=len(pooled), names=_named(app, pooled)),
        Consequence(kind="reads", count=len(only), names=_named(app, only)),
    )
    yield from (each for each in found if each.names)


def begins_to_repair(action: Action, wanted: Schedule | None, fields: Collection[str]) -> bool:
    """Return whether a change lets a schedule repair, or repair in another way.

    Args:
        fields: the paths of what changes.
    """
    if action not in REPAIRING or wanted is None or wanted.repair is None:
        return False
    return action == "create" or any(path.startswith("repair") for path in fields)


def _named(app: str, refs: Collection[str]) -> tuple[str, ...]:
    return tuple(sorted(name_in(app, ref) for ref in refs))
