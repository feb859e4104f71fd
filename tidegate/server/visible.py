"""What a caller sees: the apps of the namespace, and of these only that of a token for one."""

from collections.abc import Generator
from contextlib import contextmanager

from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.refused import AmbiguousName, UnknownName
from tidegate.scheduler.store.protocol import Reader
from tidegate.server.access import Caller
from tidegate.server.deployed import deployed_apps
from tidegate.server.problem import Problem
from tidegate.server.service import Service


def visible_apps(service: Service, reader: Reader, caller: Caller) -> frozenset[str] | None:
    """Return the apps that lists show; None for all, with those that are no longer deployed."""
    if caller.app is not None:
        return frozenset({caller.app})
    own = frozenset(each.name for each in deployed_apps(service, reader))
    return None if own == reader.revisions().keys() else own


def visible_job(service: Service, reader: Reader, caller: Caller, id_: str) -> Job:
    """Return a job of the namespace.

    Raises:
        Problem: 404 for an unknown one, 403 for one of another app than the token's.
    """
    found = next(iter(reader.jobs(ids=[id_])), None)
    if found is not None:
        caller.check_app(found.app)
    apps = visible_apps(service, reader, caller)
    if found is None or (apps is not None and found.app not in apps):
        raise Problem(404, f'there is no job "{id_:.200}"')
    return found


def check_known_app(service: Service, reader: Reader, caller: Caller, app: str) -> None:
    """Refuse a filter by an app that the caller may not ask for.

    Raises:
        Problem: 400 for an unknown app, 403 for one of another than the token's.
    """
    caller.check_app(app)
    if app not in {each.name for each in deployed_apps(service, reader)}:
        raise Problem(400, f'there is no app "{app:.100}"')


@contextmanager
def named(unknown: int = 404, ambiguous: int = 409) -> Generator[None]:
    """Answer the look-up of a name with 404 for an unknown one, and 409 for one that several have."""
    try:
        yield
    except UnknownName as error:
        raise Problem(unknown, error.message, hint=error.hint) from error
    except AmbiguousName as error:
        raise Problem(ambiguous, error.message, hint=error.hint) from error
