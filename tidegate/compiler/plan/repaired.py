"""What follows when a schedule begins to repair: which schedules run again for it, and which do not.

a schedule with `for_each` listens to an output   its key runs again, with what its last job had
a schedule without keys listens to it             what is repaired is new data, as all that comes
a program only reads it                           it is not run again
"""

from collections.abc import Collection, Iterator, Mapping

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


def follow_repairs(app: str, wanted: Schedule, apps: Mapping[str, App]) -> Iterator[Consequence]:
    """Yield what becomes of those that depend on what a schedule repairs.

    Args:
        app: of the schedule.
        apps: all apps after the deployment, with their schedules, by name.
    """
    program = apps[app].programs.get(wanted.program)
    written = {whole_name(app, name) for name in (() if program is None else program.writes)}
    listening = [
        (f"{other.name}/{each.name}", each)
        for other in apps.values()
        for each in other.schedules.values()
        if each.task is None and _listens(other.name, each, written)
    ]
    launched = {whole_name(app_of(ref), each.program) for ref, each in listening}
    readers = [
        whole_name(other.name, name)
        for other in apps.values()
        for name, each in other.programs.items()
        if not is_of_other(name)
        and not written.isdisjoint(whole_name(other.name, read) for read in each.reads)
    ]
    again = [ref for ref, each in listening if each.for_each is not None]
    pooled = [ref for ref, each in listening if each.for_each is None]
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


def _listens(app: str, schedule: Schedule, written: set[str]) -> bool:
    collected = (leaf.trigger.dataset_collected for leaf in leaves(schedule.trigger))
    return any(name is not None and whole_name(app, name) in written for name in collected)
