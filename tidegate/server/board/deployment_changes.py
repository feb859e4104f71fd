"""The changes of a deployment as a list: what its entry in the journal names, with the fields that differ.

The entry is cheap to read; the fields follow from the specifications before and after it, which are read
only for the apps of the changes that are shown.
"""

from collections.abc import Iterable, Iterator

import msgspec

from tidegate.compiler.plan.diff import Diff, ScheduleChange
from tidegate.compiler.plan.part_change import FieldChange, PartChange
from tidegate.compiler.render.diff_text import field_lines
from tidegate.domain.value import Value
from tidegate.listings.deployments import LoggedDeployment


class Changed(Value, kw_only=True):
    """A part of an app that a deployment has changed.

    Attributes:
        section: where the app has it: "datasets", "schedules", ….
        because: why it changed although its own text may be the same.
        fields: those that differ; none of a part that is new or gone, or if they are not kept.
        lines: the same as text.
    """

    app: str
    section: str
    name: str
    action: str
    because: str = ""
    fields: tuple[FieldChange, ...] = ()
    lines: tuple[str, ...] = ()

    @property
    def is_schedule(self) -> bool:
        """Whether it is a schedule or a task."""
        return self.section in ("schedules", "tasks")


def changes_of(deployment: LoggedDeployment) -> Iterator[Changed]:
    """Yield what a deployment has changed, without fields; tasks are among the schedules."""
    for app, noted in deployment.apps.items():
        for text in noted.parts:
            action, _, rest = text.partition(" ")
            section, _, name = rest.partition(".")
            yield Changed(app=app, section=section, name=name, action=action)
        for name, action in noted.schedules.items():
            yield Changed(app=app, section="schedules", name=name, action=action)


def with_fields(changes: Iterable[Changed], difference: Diff) -> Iterator[Changed]:
    """Yield changes with their fields.

    Args:
        difference: between what was deployed before and after, of the apps of these changes.
    """
    parts: dict[tuple[str, str, str], PartChange] = {}
    schedules: dict[tuple[str, str], ScheduleChange] = {}
    for app in difference.apps:
        parts |= {(app.name, each.section, each.name): each for each in app.parts}
        schedules |= {(app.name, each.name): each for each in app.schedules}
    for each in changes:
        schedule = schedules.get((each.app, each.name)) if each.is_schedule else None
        part = parts.get((each.app, each.section, each.name))
        if schedule is not None:
            each = msgspec.structs.replace(each, section=schedule.section, because=schedule.because)
        found = schedule or part
        fields = () if found is None else found.fields
        yield msgspec.structs.replace(each, fields=fields, lines=field_lines(each.section, fields))
