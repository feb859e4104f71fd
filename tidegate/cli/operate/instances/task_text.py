"""Tasks as text: their times and their upstream tasks."""

from tidegate.compiler.plan.task_form import task_form
from tidegate.domain.duration import duration_text
from tidegate.domain.model import Dependency, Schedule, TaskTrigger
from tidegate.domain.model.triggers.task import CALENDAR_PERIODS


def times_text(schedule: Schedule) -> str:
    """Return the `at` of a task on one line: "every 2h, minute 10, from 08:00"."""
    return ", ".join(f"{key} {_shown(value)}" for key, value in task_form(schedule).get("at", {}).items())


def _shown(value: object) -> str:
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)


def no_upstream(task: TaskTrigger) -> str:
    """Return the text of a task without upstream tasks; a source never has any."""
    return "no upstream" if task.launches else "-"


def upstream_text(dependency: Dependency) -> str:
    """Return one upstream task, with what the YAML says of it."""
    notes = [
        dependency.select or "",
        "period before" if dependency.period == "previous" else "",
        f"of {duration_text(dependency.within)}" if dependency.within is not None else "",
        f"of the {dependency.period}" if dependency.period in CALENDAR_PERIODS else "",
        "detected" if dependency.detected else "",
    ]
    name = "self" if dependency.itself else dependency.task
    said = ", ".join(note.replace("_", " ") for note in notes if note)
    return f"{name} ({said})" if said else name
