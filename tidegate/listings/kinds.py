"""The kinds of filters: how each is parsed, checked against the scope of the caller, and completed."""

from collections.abc import Callable, Collection, Iterable
from datetime import date
from enum import StrEnum
from typing import Any, NamedTuple

from tidegate.domain.error import WrongUsage
from tidegate.domain.part_name import SEPARATOR, app_of, namespace_and_app, without_namespace
from tidegate.domain.tasks.key import TaskKeyError, parse_date
from tidegate.domain.time.instant import instant_of
from tidegate.listings.listing import Filter, FilterKind, NotInScope, Scope, load
from tidegate.scheduler.explain import names
from tidegate.scheduler.model.deployed import APPS, TASK_KIND
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.refused import UnknownName
from tidegate.scheduler.store.engine_reader import EngineReader

Apps = Collection[str] | None


class Kind(NamedTuple):
    """A kind of filters.

    Attributes:
        parse: returns the value of a text, or refuses it; takes also the apps among which a name is looked
            for.
        names: returns the names in the store that a shell completes.
        values: returns all values that there are; None for a kind that has any number of them.
    """

    parse: Callable[[Filter, str, EngineReader, Apps], Any]
    names: Callable[[EngineReader], Iterable[str]] = lambda _: ()
    values: Callable[[Filter], Iterable[str]] | None = None


def parse_filter(of: Filter, value: Any, reader: EngineReader, scope: Scope, apps: Apps) -> Any:
    """Return the value of a filter: of a `state` a tuple, of others one.

    Args:
        value: as it was written: a text, or texts for a `state`, a number or a boolean.
        apps: the only ones among which a name without its app is looked for; None for all.

    Raises:
        UserError: it is unknown or malformed.
        NotInScope: it names an app that the caller does not see.
    """
    if of.kind == "state":
        texts = [value] if isinstance(value, str) else value
        words = [word.strip() for text in texts for word in text.split(",")]
        return tuple(member_of(of.name, word, load(of.of)) for word in words if word)
    if not isinstance(value, str):
        return value
    if of.kind == "app":
        return _app(of, value, reader, scope)
    if of.kind in ("schedule", "task", "dataset") and SEPARATOR in (whole := without_namespace(value)):
        scope.check(app_of(whole))
        apps = scope.apps
        if of.gone:
            return names.in_namespace(reader, value)
    return KINDS[of.kind].parse(of, value, reader, apps)


def refuse_unknown(of: Filter, value: str, reader: EngineReader, scope: Scope) -> None:
    """Refuse what is not deployed, and of which a list has nothing.

    Raises:
        UnknownName: there is no such thing.
        NotInScope: the same of an app, to a caller who does not see all.
    """
    if of.gone:
        parse_filter(of._replace(gone=False), value, reader, scope, scope.apps)


def member_of(name: str, text: str, members: type[StrEnum]) -> StrEnum:
    """Return the member of an enumeration that a text names, in either case, also with "-" or " " for "_".

    Raises:
        WrongUsage: it names none.
    """
    for member in members:
        if _spelled(member.value) == _spelled(text):
            return member
    raise WrongUsage(f"{name} has the unknown value {text!r:.100}", f"one of {', '.join(members)}")


def _spelled(text: str) -> str:
    return text.strip().lower().replace("-", "_").replace(" ", "_")


def _app(of: Filter, text: str, reader: EngineReader, scope: Scope) -> str:
    """Return the app of "app" or "namespace/app"; to a caller who does not see all no other one is named."""
    app = namespace_and_app(text)[1]
    if scope.namespace:
        scope.check(app, text)
    if of.gone and app == text:
        return app
    try:
        return names.app_named(reader, text)
    except UnknownName as error:
        if scope.namespace:
            raise NotInScope(app, text) from error
        raise


def _job(of: Filter, text: str, reader: EngineReader, apps: Apps) -> str:
    """Return the id of a job, also for the beginning of it."""
    try:
        return names.find_job(reader, text, apps).id
    except UnknownName:
        if of.gone or apps is not None:
            return text
        raise


def _day(of: Filter, text: str, _reader: EngineReader, _apps: Apps) -> date:
    try:
        return parse_date(text)
    except TaskKeyError as error:
        wrong = f"{of.name} must be a day, got {text!r:.100}"
        raise WrongUsage(wrong, str(error).partition("; ")[2]) from None


def _task(of: Filter, text: str, reader: EngineReader, apps: Apps) -> str:
    return names.find_task(reader, text, apps, or_schedule=of.or_schedule).ref


def _as_it_is(_: Filter, text: str, _reader: EngineReader, _apps: Apps) -> str:
    return text


NEWEST = 200
"""So many jobs a shell completes."""

NAMED: dict[str, Callable[[EngineReader], Iterable[str]]] = {
    "apps": lambda reader: (each.name for each in reader.app_headers()),
    "schedules": lambda reader: reader.schedule_refs(),
    "tasks": lambda reader: (state.ref for state in reader.schedules(kind=TASK_KIND)),
    "datasets": lambda reader: (
        f"{each.name}/{name}" for each in reader.records(APPS) for name in each.app.datasets
    ),
    "jobs": lambda reader: (job.id for job in reader.jobs(limit=NEWEST)[::-1]),
}
"""What has names in the store."""

KINDS: dict[FilterKind, Kind] = {
    "app": Kind(_as_it_is, NAMED["apps"]),
    "schedule": Kind(
        lambda _, text, reader, apps: names.find_source_of_jobs(reader, text, apps), NAMED["schedules"]
    ),
    "task": Kind(_task, NAMED["tasks"]),
    "dataset": Kind(lambda _, text, reader, apps: names.find_dataset(reader, text, apps), NAMED["datasets"]),
    "state": Kind(_as_it_is, values=lambda of: load(of.of)),
    "reason": Kind(lambda of, text, *_: member_of(of.name, text, Reason), values=lambda _: Reason),
    "job": Kind(_job, NAMED["jobs"]),
    "instant": Kind(lambda of, text, *_: instant_of(text, of.name)),
    "day": Kind(_day),
    "text": Kind(_as_it_is),
    "flag": Kind(_as_it_is),
    "number": Kind(_as_it_is),
}
"""All kinds; flags and numbers are parsed by the faces, states one by one."""
