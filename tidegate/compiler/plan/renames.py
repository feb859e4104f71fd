"""Renames: which deployed programs, datasets, schedules, tasks and apps go on under another name.

A part of the YAML with `renamed_from` goes on with what the store has under the old name, if the old
name is deployed, the new one is not, and the YAML does not have the old one. In every other case
`renamed_from` has no effect: once it was applied, and in a store that never had the old name. Pure.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal

import msgspec

from tidegate.domain.model import App, Dataset
from tidegate.domain.part_name import Ref, app_of, whole_name
from tidegate.domain.value import Value


class Renames(Value, kw_only=True):
    """Old and new names.

    Attributes:
        apps: new name of each renamed app.
        programs, datasets: "app/name" to "app/name" of every part whose name or app changes.
        schedules: the same of schedules and tasks whose own name changes.
    """

    apps: dict[str, str] = {}
    programs: dict[str, str] = {}
    datasets: dict[str, str] = {}
    schedules: dict[str, str] = {}

    def __bool__(self) -> bool:
        return bool(self.apps or self.programs or self.datasets or self.schedules)

    def app(self, name: str) -> str:
        """Return the new name of an app."""
        return self.apps.get(name, name)

    def schedule(self, ref: str) -> str:
        """Return the new name of a schedule or task, "app/name"."""
        return self.schedules.get(ref) or self.policy(ref)

    def policy(self, ref: str) -> str:
        """Return the new name of a policy, "app/name", which has only its app's new name."""
        app, name = Ref.of(ref)
        return whole_name(self.app(app), name)

    def local(self, section: Literal["programs", "datasets"], name: str, app: str) -> str:
        """Return the new name of a part as a text in a given app, by its former name, names it."""
        ref = name if "/" in name else f"{app}/{name}"
        found: dict[str, str] = getattr(self, section)
        if ref not in found:
            return name
        return found[ref] if "/" in name else found[ref].removeprefix(f"{self.app(app)}/")


def find_renames(
    deployed: Mapping[str, App], wanted: Mapping[str, App], same: Collection[str] = ()
) -> Renames:
    """Return the renames that a deployment of `wanted` applies.

    Args:
        deployed: the deployed apps of the project, by name.
        wanted: the apps of the YAML that are deployed, by name.
        same: the names of those that are equal in both.
    """
    apps: dict[str, str] = {}
    programs: dict[str, str] = {}
    datasets: dict[str, str] = {}
    schedules: dict[str, str] = {}
    for name in sorted(wanted):
        old = name if name in deployed else _former(wanted[name].renamed_from, deployed, {*wanted, *apps})
        if old is None or name in same:
            continue
        if old != name:
            apps[old] = name
        programs |= _parts(old, deployed[old].programs, name, wanted[name].programs)
        datasets |= _parts(old, deployed[old].datasets, name, wanted[name].datasets)
        schedules |= _schedules(deployed[old], wanted[name])
    return Renames(apps=apps, programs=programs, datasets=datasets, schedules=schedules)


def _former(names: Sequence[str], deployed: Mapping[str, Any], taken: set[str]) -> str | None:
    return next((name for name in names if name in deployed and name not in taken), None)


def _parts(
    old_app: str, before: Mapping[str, Any], new_app: str, wanted: Mapping[str, Any]
) -> dict[str, str]:
    """Return the changed names of one section of an app."""
    found: dict[str, str] = {}
    for name in sorted(wanted):
        old = name if name in before else _former(wanted[name].renamed_from, before, {*wanted, *found})
        if old is not None:
            found[old] = name
    # What the YAML no longer has keeps its name until it is removed.
    every = {**{name: name for name in before}, **found}
    refs = {f"{old_app}/{old}": f"{new_app}/{new}" for old, new in every.items()}
    return {old: new for old, new in refs.items() if old != new}


def _schedules(before: App, wanted: App) -> dict[str, str]:
    """Return the changed names of the schedules and tasks of an app; neither becomes the other."""
    found: dict[str, str] = {}
    for name, schedule in sorted(wanted.schedules.items()):
        if name in before.schedules:
            continue
        old = _former(schedule.renamed_from, before.schedules, {*wanted.schedules, *found})
        if old is not None and (before.schedules[old].task is None) == (schedule.task is None):
            found[old] = name
    return {f"{before.name}/{old}": f"{wanted.name}/{new}" for old, new in found.items()}


def with_places(wanted: Mapping[str, App], places: Mapping[str, str]) -> dict[str, App]:
    """Return the apps with the recorded place of each dataset that has no path of its own.

    Args:
        places: the place of a dataset, "app/name", where it is not its own name.
    """

    moved = {app_of(ref) for ref in places}

    def placed(app: App, dataset: Dataset) -> Dataset:
        place = None if dataset.path is not None else places.get(f"{app.name}/{dataset.name}")
        return dataset if dataset.stored_as == place else msgspec.structs.replace(dataset, stored_as=place)

    def with_own(app: App) -> App:
        datasets = {each: placed(app, dataset) for each, dataset in app.datasets.items()}
        return msgspec.structs.replace(app, datasets=datasets)

    return {
        name: with_own(app)
        if name in moved or any(dataset.stored_as is not None for dataset in app.datasets.values())
        else app
        for name, app in wanted.items()
    }


def without_paths(names: Renames, deployed: Mapping[str, App]) -> Renames:
    """Return the renames without those of datasets that have a path of their own, which stays theirs."""
    with_path = {
        f"{name}/{each.name}" for name, app in deployed.items() for each in app.datasets.values() if each.path
    }
    kept = {old: new for old, new in names.datasets.items() if old not in with_path}
    return msgspec.structs.replace(names, datasets=kept)


def moved_places(places: Mapping[str, str], names: Renames) -> dict[str, str]:
    """Return the places after renames: a renamed dataset stays where it was."""
    moved = {names.datasets.get(ref, ref): place for ref, place in places.items()}
    moved |= {new: places.get(old, old) for old, new in names.datasets.items()}
    return {ref: place for ref, place in moved.items() if ref != place}
