"""An app as it would be deployed if its parts had always had their new names.

The comparison with the YAML then finds the real changes only, so that a schedule of a renamed program
or dataset is unchanged and keeps its jobs. Pure.
"""

import re

import msgspec

from tidegate.compiler.plan.renames import Renames
from tidegate.compiler.template import with_texts
from tidegate.domain.model import App, Composite, Schedule, Trigger
from tidegate.domain.part_name import SEPARATOR, name_in, whole_name

REFERENCE = re.compile(r"(\{\{\s*[\w.-]*\b(?:partitions|outputs)\.)((?:[\w-]+/)?[\w-]+)(\s*\}\})")
"""A reference in an argument that ends with the name of a dataset."""


def renamed_app(app: App, names: Renames) -> App:
    """Return a deployed app with new names: its own, its parts', and those that its schedules use."""

    def dataset(name: str) -> str:
        return names.local("datasets", name, app.name)

    datasets = {
        dataset(name): msgspec.structs.replace(each, name=dataset(name))
        for name, each in app.datasets.items()
    }
    programs = {
        (new := names.local("programs", name, app.name)): msgspec.structs.replace(
            each,
            name=new,
            reads=tuple(map(dataset, each.reads)),
            writes=tuple(map(dataset, each.writes)),
            incremental={dataset(source): how for source, how in each.incremental.items()},
        )
        for name, each in app.programs.items()
    }
    renamed = msgspec.structs.replace(
        app,
        name=names.app(app.name),
        datasets=datasets,
        programs=programs,
        schedules={
            (new := renamed_schedule(each, app.name, names)).name: new for each in app.schedules.values()
        },
    )
    # Its text has the former names.
    return renamed if renamed == app else msgspec.structs.replace(renamed, written={})


def renamed_schedule(schedule: Schedule, app: str, names: Renames) -> Schedule:
    """Return a schedule of an app, by its former name, with the new names of what it uses."""
    output_from = schedule.output_from
    renamed = msgspec.structs.replace(
        schedule,
        name=names.schedule(f"{app}/{schedule.name}").partition(SEPARATOR)[2],
        program=names.local("programs", schedule.program, app) if schedule.program else "",
        trigger=_trigger(schedule.trigger, app, names),
        output_from=None if output_from is None else names.local("datasets", output_from, app),
        args=with_texts(
            schedule.args,
            lambda text: REFERENCE.sub(
                lambda found: found[1] + names.local("datasets", found[2], app) + found[3], text
            ),
        ),
    )
    # Its text has the former names.
    return renamed if renamed == schedule else msgspec.structs.replace(renamed, written={})


def _trigger(trigger: Trigger, app: str, names: Renames) -> Trigger:
    if isinstance(trigger, Composite):
        return msgspec.structs.replace(trigger, of=tuple(_trigger(each, app, names) for each in trigger.of))
    return trigger.renamed(
        dataset=lambda name: names.local("datasets", name, app),
        program=lambda name: names.local("programs", name, app),
        task=lambda name: name_in(names.app(app), names.schedule(whole_name(app, name))),
    )
