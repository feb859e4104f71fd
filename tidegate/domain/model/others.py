"""Parts of other apps, as an app names them.

A trigger may wait for `feeds/raw`, and a program may read it. Whatever evaluates a schedule or runs a
program gets its app by `with_others`: with the parts of the other apps under their whole names. They come
from the apps as they are deployed now, and are never stored with the app that names them.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

import msgspec

from tidegate.domain.model.app import App
from tidegate.domain.model.dataset import Dataset, Program
from tidegate.domain.model.schedule import Schedule
from tidegate.domain.model.triggers.tree import leaves
from tidegate.domain.part_name import app_of, is_of_other, name_of, whole_name


def with_others(app: App, others: Iterable[App]) -> App:
    """Return an app with the datasets and programs of other apps under their whole names.

    Args:
        others: the other apps; the app itself is ignored.
    """
    datasets, programs = dict(app.datasets), dict(app.programs)
    for other in others:
        if other.name != app.name:
            datasets.update((f"{other.name}/{name}", part) for name, part in renamed_datasets(other))
            programs.update((f"{other.name}/{name}", part) for name, part in renamed_programs(other))
    return msgspec.structs.replace(app, datasets=datasets, programs=programs)


def with_named(app: App, apps: Mapping[str, App]) -> App:
    """Return `with_others` of the apps that its schedules and programs name."""
    names = others_of_schedules(app.schedules.values()) | others_of_programs(app.programs.values())
    found = [apps[name] for name in sorted(names) if name in apps]
    return with_others(app, found) if found else app


def part_of(
    apps: Mapping[str, App], section: Literal["datasets", "programs", "schedules"], whole: str
) -> Any:
    """Return a part of one of some apps, by its whole name; None if there is none."""
    app = apps.get(app_of(whole))
    return None if app is None else getattr(app, section).get(name_of(whole))


def renamed_datasets(app: App) -> Iterator[tuple[str, Dataset]]:
    """Yield the datasets of an app by name, each as other apps name it."""
    for name, dataset in app.datasets.items():
        yield name, msgspec.structs.replace(dataset, name=whole_name(app.name, name))


def renamed_programs(app: App) -> Iterator[tuple[str, Program]]:
    """Yield the programs of an app by name, each as other apps name it and what it reads and writes."""
    for name, program in app.programs.items():
        yield (
            name,
            msgspec.structs.replace(
                program,
                name=whole_name(app.name, name),
                reads=tuple(whole_name(app.name, each) for each in program.reads),
                writes=tuple(whole_name(app.name, each) for each in program.writes),
            ),
        )


def others_of_schedules(schedules: Iterable[Schedule]) -> set[str]:
    """Return the other apps whose datasets and programs triggers name."""
    return {app_of(name) for schedule in schedules for _, name in parts_of_others(schedule)}


def others_of_programs(programs: Iterable[Program]) -> set[str]:
    """Return the other apps whose datasets programs read."""
    return {app_of(name) for program in programs for name in program.reads if is_of_other(name)}


def parts_of_others(schedule: Schedule) -> Iterator[tuple[Literal["datasets", "programs"], str]]:
    """Yield the parts of other apps that a trigger names: "datasets" or "programs", and the whole name."""
    for leaf in leaves(schedule.trigger):
        dataset, runs = leaf.trigger.dataset_heard, leaf.trigger.runs_heard(schedule.program)
        if dataset is not None and is_of_other(dataset):
            yield "datasets", dataset
        if runs is not None and is_of_other(runs[0]):
            yield "programs", runs[0]
