"""The upstream tasks that were detected, and the tasks without any, for the output of `lint` and `plan`."""

from collections.abc import Iterable, Iterator
from typing import Any

from tidegate.domain.model import App, Schedule


def detected_lines(apps: Iterable[App]) -> list[str]:
    """Return a line for each task with detected upstream tasks, by app and in the order of the file.

    A task whose program reads datasets and that waits for no other task has a line, too.
    """
    return [_line(ref, names) for ref, _, names in _detected(apps)]


def detected_json(apps: Iterable[App]) -> list[dict[str, Any]]:
    """Return an object for each task with a line."""
    return [{"task": ref, "upstream": names} for ref, _, names in _detected(apps)]


def detected_notes(apps: Iterable[App]) -> list[dict[str, Any]]:
    """Return the same as notes among the diagnostics of `lint --format json`."""
    return [
        {
            "code": "DETECTED",
            "severity": "note",
            "file": task.at.file,
            "line": task.at.line,
            "column": task.at.column,
            "end_column": task.at.column + len(task.name),
            "summary": _line(ref, names),
            "hint": "write `depends_on` to name the upstream tasks, or to correct what was detected",
            "related": [],
        }
        for ref, task, names in _detected(apps)
        if task.at is not None and names
    ]


def _line(ref: str, names: list[str]) -> str:
    return f"{ref} waits for {', '.join(names)} (detected)" if names else f"{ref} has no upstream"


def _detected(apps: Iterable[App]) -> Iterator[tuple[str, Schedule, list[str]]]:
    for app in sorted(apps, key=lambda each: each.name):
        for schedule in app.schedules.values():
            depends_on = schedule.task.depends_on if schedule.task is not None else ()
            names = [each.task for each in depends_on if each.detected]
            program = app.programs.get(schedule.program)
            alone = all(each.itself for each in depends_on)
            if names or (alone and schedule.task is not None and program is not None and program.reads):
                yield f"{app.name}/{schedule.name}", schedule, names
