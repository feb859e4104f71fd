"""The names that a shell completes: those of arguments and options that name something in the store.

Only a call that a completion script makes loads this module. It loads neither Dagster nor Spark, changes
nothing, not even the schema of an older store, and completes nothing where the store cannot be read.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typer.core import _click

    from tidegate.scheduler.store.protocol import Reader

JOBS_MAX = 200
"""The newest jobs; older ones are found with `tidegate jobs list`."""

KINDS = {
    "schedule": "schedules",
    "task": "tasks",
    "only": "tasks",
    "dataset": "datasets",
    "source": "datasets",
    "app": "apps",
    "program": "programs",
    "consumer": "programs",
    "job": "jobs",
    "jobs": "jobs",
    "code": "codes",
    "page": "pages",
}
"""What the values of a parameter name, by the name of the parameter."""

KINDS_OF_COMMANDS = {
    ("schedules", "name"): ("schedules",),
    ("schedules", "names"): ("schedules",),
    ("apps", "names"): ("apps",),
    ("overrides", "name"): ("overrides",),
    ("report", "name"): ("datasets", "tasks"),
    ("why", "name"): ("schedules", "jobs"),
    ("gauge", "name"): ("gauges",),
    ("maintenance", "table"): ("tables",),
    ("token", "name"): (),
    ("simulate", "app"): (),
}
"""The same where the name alone does not say it, by the first word of the command and the parameter."""


def complete_names(name: str, command: "_click.Command") -> None:
    """Let the parameters of a command and of those below it complete the names that they take."""
    for parameter in command.params:
        kinds = KINDS_OF_COMMANDS.get((name, str(parameter.name)))
        if kinds is None:
            kinds = (KINDS[parameter.name],) if parameter.name in KINDS else ()
        if kinds:
            parameter._custom_shell_complete = _completer(kinds)
    for below in getattr(command, "commands", {}).values():
        complete_names(name, below)


def _completer(kinds: tuple[str, ...]) -> Callable[[Any, Any, str], list[str]]:
    def complete(_context: Any, _parameter: Any, begun: str) -> list[str]:
        try:
            return list(dict.fromkeys(_beginning(_names(kinds), begun)))
        except Exception:  # noqa: BLE001 -- a shell that waits for words must not get a traceback
            return []

    return complete


def _beginning(names: Iterable[str], begun: str) -> Iterator[str]:
    """Yield the names that begin so: "app/name", or the name alone until a slash is typed."""
    for name in names:
        for word in (name, name.rpartition("/")[2]):
            if word.startswith(begun) and "/" not in word.removeprefix(begun):
                yield word
    if "/" not in begun:
        yield from (
            f"{app}/" for app in sorted({_app(name) for name in names}) if app.startswith(begun) and app
        )


def _app(name: str) -> str:
    return name.partition("/")[0] if "/" in name else ""


def _names(kinds: tuple[str, ...]) -> list[str]:
    if kinds == ("codes",):
        from tidegate.scheduler.explain.codes import registry

        return list(registry())
    if kinds == ("pages",):
        from tidegate.project.shipped import docs_folder

        return sorted(path.stem for path in docs_folder().glob("*.md"))
    from tidegate.cli.opened_store import opened_store

    with opened_store(as_it_is=True) as store, store.reading() as reader:
        return [name for kind in kinds for name in _stored(reader, kind)]


def _stored(reader: "Reader", kind: str) -> list[str]:
    match kind:
        case "schedules":
            return list(reader.schedule_refs())
        case "tasks":
            from tidegate.scheduler.model.deployed import TASK_KIND

            return [state.ref for state in reader.schedules(kind=TASK_KIND)]
        case "datasets":
            return [f"{each.name}/{name}" for each in reader.apps() for name in each.app.datasets]
        case "programs":
            return [f"{each.name}/{name}" for each in reader.apps() for name in each.app.programs]
        case "apps":
            return [each.name for each in reader.app_headers()]
        case "gauges":
            from tidegate.scheduler.commands.gauge import gauge_limits

            return sorted({*(gauge.name for gauge in reader.gauges()), *gauge_limits(reader)})
        case "overrides":
            return list(dict.fromkeys(each.ref for each in reader.overrides()))
        case "tables":
            from tidegate.scheduler.explain.measured import known_tables

            return [table.name for table in known_tables(reader)]
        case _:
            from tidegate.scheduler.store.parts.pages import JobsWanted

            return [job.id for job in reader.newest_jobs(JobsWanted(), JOBS_MAX)]
