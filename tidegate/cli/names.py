"""The names that a shell completes: those of arguments and options that name something in the store.

Only a call that a completion script makes loads this module. It loads neither Dagster nor Spark, changes
nothing, not even the schema of an older store, and completes nothing where the store cannot be read.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from tidegate.domain.part_name import app_of
from tidegate.scheduler.model.deployed import APPS
from tidegate.scheduler.model.records.override import OVERRIDES
from tidegate.scheduler.model.records.token import TOKENS
from tidegate.scheduler.model.run import GAUGES

if TYPE_CHECKING:
    from typer.core import _click

    from tidegate.listings.listing import Filter
    from tidegate.scheduler.store.engine_reader import EngineReader

JOBS_MAX = 200
"""The newest jobs; older ones are found with `tidegate jobs list`."""

DEPLOYMENTS_MAX = 50
"""The newest deployments; older ones are in `tidegate deployments log`."""

PARTITIONS_MAX = 60
"""The newest partitions of a dataset: two months of days."""

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
    "channel": "channels",
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
    ("token revoke", "name"): ("tokens",),
    ("deployments", "number"): ("deployments",),
    ("deployments", "old"): ("deployments",),
    ("deployments", "new"): ("deployments",),
    ("report", "key"): ("partitions",),
    ("jobs cancel", "job"): ("jobs to cancel",),
    ("jobs force", "job"): ("jobs to force",),
    ("jobs retry", "job"): ("jobs to retry",),
    ("jobs requeue", "jobs"): ("jobs to requeue",),
    ("simulate", "app"): (),
}
"""The same where the name alone does not say it, by the command, or its first word, and the parameter."""


def complete_names(name: str, command: "_click.Command", everywhere: "_click.Parameter") -> None:
    """Let the parameters of a command and of those below it complete the names that they take.

    Args:
        everywhere: an option of `tidegate` itself, which may also follow the words of a command.
    """
    groups: dict[str, _click.Command] = getattr(command, "commands", {})
    if not groups and all(parameter.name != everywhere.name for parameter in command.params):
        command.params.append(everywhere)
    for parameter in command.params:
        kinds = _kinds(name, str(parameter.name))
        if kinds:
            parameter._custom_shell_complete = _completer(kinds)
    for word, below in groups.items():
        complete_names(f"{name} {word}", below, everywhere)


def _kinds(command: str, parameter: str) -> tuple[str, ...]:
    for words in (command, command.partition(" ")[0]):
        if (words, parameter) in KINDS_OF_COMMANDS:
            return KINDS_OF_COMMANDS[words, parameter]
    return (KINDS[parameter],) if parameter in KINDS else ()


def _completer(kinds: tuple[str, ...]) -> Callable[[Any, Any, str], list[str]]:
    def complete(context: Any, _parameter: Any, begun: str) -> list[str]:
        # Where the last word is an option without its value, the parser leaves what is before it in `args`.
        given = context.params.get("name") or next(iter(context.args), "")
        return completed(kinds, begun, given if isinstance(given, str) else "")

    return complete


def completed(kinds: tuple[str, ...], begun: str, given: str = "") -> list[str]:
    """Return the words that begin so; none where that cannot be found out.

    Args:
        given: what the command is about, where that is on the line already.
    """
    return _offered(lambda: _partitions(given) if kinds == ("partitions",) else _names(kinds), begun)


def complete_filter(of: "Filter", begun: str) -> list[str]:
    """Return the values of a filter of a list that begin so; none where that cannot be found out."""
    from tidegate.listings.kinds import KINDS as FILTERS

    kind = FILTERS[of.kind]
    if kind.values is not None:
        return [value for value in kind.values(of) if value.lower().startswith(begun.lower())]
    if of.kind == "text" and of.name in KINDS:
        return completed((KINDS[of.name],), begun)
    return _offered(lambda: _read(lambda reader: kind.names(reader)), begun)


def _offered(names: Callable[[], Iterable[str]], begun: str) -> list[str]:
    try:
        return list(dict.fromkeys(_beginning(list(names()), begun)))
    except Exception:  # noqa: BLE001 -- a shell that waits for words must not get a traceback
        return []


def _read(names: "Callable[[EngineReader], Iterable[str]]") -> list[str]:
    from tidegate.cli.opened_store import opened_store

    with opened_store(as_it_is=True) as store, store.reading() as reader:
        return list(names(reader))


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
    return app_of(name) if "/" in name else ""


def _names(kinds: tuple[str, ...]) -> list[str]:
    if kinds == ("codes",):
        from tidegate.scheduler.explain.codes import registry

        return list(registry())
    if kinds == ("pages",):
        from tidegate.project.shipped import docs_folder

        return sorted(path.stem for path in docs_folder().glob("*.md"))
    if kinds == ("channels",):
        from tidegate.project.settings.settings import load_settings

        return sorted(load_settings(may_lack=True).alerts.channels)
    if kinds == ("environments",):
        from tidegate.project.settings.environments import profiles_of, read_content
        from tidegate.project.settings.settings import find_settings_file

        file = find_settings_file(None)
        return sorted(profiles_of(file, read_content(file)))
    return _read(lambda reader: (name for kind in kinds for name in _stored(reader, kind)))


def _stored(reader: "EngineReader", kind: str) -> Iterable[str]:
    match kind:
        case "schedules" | "tasks" | "datasets" | "apps" | "jobs":
            from tidegate.listings.kinds import NAMED

            return NAMED[kind](reader)
        case "programs":
            return [f"{each.name}/{name}" for each in reader.records(APPS) for name in each.app.programs]
        case "gauges":
            from tidegate.scheduler.commands.gauge import gauge_limits

            return sorted({*(gauge.name for gauge in reader.records(GAUGES)), *gauge_limits(reader)})
        case "overrides":
            return list(dict.fromkeys(each.ref for each in reader.records(OVERRIDES)))
        case "tables":
            from tidegate.scheduler.explain.measured import known_tables

            return [table.name for table in known_tables(reader)]
        case "tokens":
            return [token.name for token in reader.records(TOKENS) if token.revoked_at is None]
        case "deployments":
            from tidegate.scheduler.model.journal import EntryKind

            found = reader.journal_page(kinds=(EntryKind.DEPLOY,), limit=DEPLOYMENTS_MAX)
            return [str(row.number) for row in reversed(found)]
        case _:
            return list(_jobs(reader, kind))


def _jobs(reader: "EngineReader", kind: str) -> Iterator[str]:
    """Yield the newest jobs to which an action can be done."""
    from datetime import UTC, datetime

    from tidegate.listings.actions import find_action, refusal_of
    from tidegate.listings.jobs import JOBS
    from tidegate.scheduler.model.job import UNFINISHED, JobState

    action, now = find_action(JOBS.actions, kind.removeprefix("jobs to ")), datetime.now(UTC)
    for state in (*UNFINISHED, JobState.FAILED):
        for job in reader.jobs(states=(state,), limit=JOBS_MAX)[::-1]:
            if refusal_of(action, reader, job, now) is None:
                yield job.id


def _partitions(dataset: str) -> tuple[str, ...]:
    """Return the newest partitions of a dataset."""
    from datetime import UTC, datetime

    from tidegate.cli.opened_store import opened_store
    from tidegate.domain.part_name import app_of
    from tidegate.domain.partition_key import latest_keys
    from tidegate.scheduler.explain.names import find_dataset

    with opened_store(as_it_is=True) as store, store.reading() as reader:
        whole = find_dataset(reader, dataset)
        (app,) = (each.app for each in reader.records(APPS) if each.name == app_of(whole))
    scheme = app.datasets[whole.removeprefix(f"{app.name}/")].partitions
    return () if scheme is None else latest_keys(scheme, datetime.now(UTC), PARTITIONS_MAX)
