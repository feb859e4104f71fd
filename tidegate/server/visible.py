"""What a caller sees: the apps of the namespace, and of these only its own, of a token or person for some."""

import re
from collections.abc import Collection, Generator
from contextlib import contextmanager, suppress

from tidegate.domain.part_name import SEPARATOR, app_of, without_namespace
from tidegate.scheduler.explain.names import find_job, in_namespace
from tidegate.scheduler.model.job import SHORT_DIGITS, Job
from tidegate.scheduler.model.refused import AmbiguousName, UnknownName
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.server.access import Caller
from tidegate.server.deployed import own_apps
from tidegate.server.problem import Problem, refused_as
from tidegate.server.service import Service

SHORT_FORM = f"[0-9a-f]{{{SHORT_DIGITS},}}"
"""The beginning of the hash of a job; a shorter text could be meant for another job, or for nothing."""


def visible_apps(service: Service, reader: EngineReader, caller: Caller) -> frozenset[str] | None:
    """Return the apps that lists show; None for all, with those that are no longer deployed."""
    if caller.apps is not None:
        return caller.apps
    own = own_apps(service, reader)
    return None if len(own) == len(reader.app_headers()) else own


def visible_job(service: Service, reader: EngineReader, caller: Caller, id_: str) -> Job:
    """Return a job of the namespace, also for what lists show of its id.

    Raises:
        Problem: 404 for an unknown one, 403 for one of another app than the token's, 409 for several.
    """
    found = next(iter(reader.jobs(ids=[id_])), None)
    if found is not None:
        caller.check_app(found.app)
    apps = visible_apps(service, reader, caller)
    if found is None and re.fullmatch(SHORT_FORM, id_):
        with named(), suppress(UnknownName):
            found = find_job(reader, id_, apps)
    if found is None or (apps is not None and found.app not in apps):
        raise Problem(404, f'there is no job "{id_:.200}"')
    return found


def name_seen(reader: EngineReader, caller: Caller, name: str) -> str:
    """Return a name that a caller has written, without the namespace that it may begin with.

    Raises:
        Problem: 403 for one of another app than the token's.
        UnknownName: its app is in another namespace.
    """
    whole = without_namespace(name)
    if SEPARATOR in whole:
        caller.check_app(app_of(whole))
    return in_namespace(reader, name)


@contextmanager
def named(unknown: int = 404, ambiguous: int = 409) -> Generator[None]:
    """Answer the look-up of a name with 404 for an unknown one, and 409 for one that several have."""
    try:
        yield
    except UnknownName as error:
        raise Problem(unknown, error.message, hint=error.hint) from error
    except AmbiguousName as error:
        raise Problem(ambiguous, error.message, hint=error.hint) from error


def hidden_from(reader: EngineReader, caller: Caller) -> frozenset[str]:
    """Return the apps of which a caller hears nothing: all others, for a token of one."""
    return (
        frozenset()
        if caller.apps is None
        else frozenset(each.name for each in reader.app_headers() if not caller.sees(each.name))
    )


def names_any(text: str, apps: Collection[str]) -> bool:
    """Return whether a text names one of some apps."""
    return any(word in apps for word in re.findall(r"[a-z][a-z0-9_]*", text))


@contextmanager
def refused_to(reader: EngineReader, caller: Caller, status: int = 409) -> Generator[None]:
    """Answer a refusal with a status (`refused_as`), without the names of parts of apps that are hidden."""
    try:
        with refused_as(status):
            yield
    except Problem as problem:
        hidden = hidden_from(reader, caller)
        message = re.sub(
            r"\b([a-z][a-z0-9_]*)/[a-z][a-z0-9_]*",
            lambda found: "a part of another app" if found[1] in hidden else found[0],
            problem.message,
        )
        hint = "" if names_any(problem.hint, hidden) else problem.hint
        raise Problem(problem.status, message, problem.headers, hint=hint, **problem.more) from problem
