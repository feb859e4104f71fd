"""The changes of a deployment as a list: what its entry in the journal names, with the fields that differ."""

from collections.abc import Iterator
from typing import Any

from tidegate.compiler.plan.diff import Diff, ScheduleChange
from tidegate.compiler.plan.field_change import FieldChange
from tidegate.compiler.plan.part_change import PartChange
from tidegate.compiler.render.diff_text import field_lines
from tidegate.domain.value import Value
from tidegate.scheduler.commands.deployment.deployments import DeploymentLine

OF_SCHEDULES = ("schedules", "tasks")


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


def changes_of(deployment: DeploymentLine, difference: Diff | None) -> Iterator[Changed]:
    """Yield what a deployment has changed.

    Args:
        difference: between what was deployed before and after it; None where that is not kept.
    """
    parts: dict[tuple[str, str, str], PartChange] = {}
    schedules: dict[tuple[str, str], ScheduleChange] = {}
    for app in () if difference is None else difference.apps:
        parts |= {(app.name, each.section, each.name): each for each in app.parts}
        schedules |= {(app.name, each.name): each for each in app.schedules}
    for name, noted in deployment.apps.items():
        for text in noted.get("parts", ()):
            action, _, rest = text.partition(" ")
            section, _, part = rest.partition(".")
            found = parts.get((name, section, part))
            yield _changed(name, section, part, action, () if found is None else found.fields)
        for schedule, action in _schedules(noted).items():
            change = schedules.get((name, schedule))
            if change is None:
                yield _changed(name, "schedules", schedule, action, ())
            else:
                yield _changed(name, change.section, schedule, action, change.fields, change.because)


def _schedules(noted: dict[str, Any]) -> dict[str, str]:
    found: dict[str, str] = noted.get("schedules", {})
    return found


def _changed(
    app: str, section: str, name: str, action: str, fields: tuple[FieldChange, ...], because: str = ""
) -> Changed:
    lines = field_lines(section, fields)
    return Changed(
        app=app, section=section, name=name, action=action, because=because, fields=fields, lines=lines
    )
