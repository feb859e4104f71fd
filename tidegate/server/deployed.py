"""What is deployed in the namespace of the server, by the names of paths."""

import re

from tidegate.compiler.plan.diff import Diff
from tidegate.compiler.plan.ownership import NO_PROJECT
from tidegate.domain.model import Program
from tidegate.project.one_schedule import NEW_NAME
from tidegate.scheduler.model.deployed import APPS, DeployedApp, ScheduleState
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.engine_rows import record
from tidegate.server.problem import Problem
from tidegate.server.service import Service

NAME = re.compile(r"[\w.@-]{1,255}")
"""What a name in a path may look like; anything else is malformed, not unknown."""


def deployed_apps(service: Service, reader: EngineReader) -> list[DeployedApp]:
    """Return the deployed apps of the namespace, by name."""
    return [each for each in reader.records(APPS) if each.project in (NO_PROJECT, service.settings.name)]


def own_apps(service: Service, reader: EngineReader) -> frozenset[str]:
    """Return the names of the deployed apps of the namespace."""
    own = (NO_PROJECT, service.settings.name)
    return frozenset(each.name for each in reader.app_headers() if each.project in own)


def deployed_app(service: Service, reader: EngineReader, name: str) -> DeployedApp:
    """Return a deployed app.

    Raises:
        Problem: 404 for an unknown one, 400 for a malformed name.
    """
    check_name(name)
    found = record(reader, APPS, name=name)
    if found is None or found.project not in (NO_PROJECT, service.settings.name):
        raise Problem(404, f'there is no app "{name}"')
    return found


def schedule_of(service: Service, reader: EngineReader, app: str, name: str) -> ScheduleState:
    """Return a deployed schedule or task.

    Raises:
        Problem: 404 for an unknown one, 400 for a malformed name.
    """
    deployed_app(service, reader, app)
    check_name(name)
    found = next(iter(reader.schedules(refs=[f"{app}/{name}"])), None)
    if found is None:
        raise Problem(404, f'app {app} has no schedule "{name}"')
    return found


def program_of(deployed: DeployedApp, name: str) -> Program:
    """Return a program of an app.

    Raises:
        Problem: 404 for an unknown one, 400 for a malformed name.
    """
    check_name(name)
    if name not in deployed.app.programs:
        raise Problem(404, f'app {deployed.name} has no program "{name}"')
    return deployed.app.programs[name]


def check_name(name: str) -> None:
    """Refuse what cannot be a name.

    Raises:
        Problem: 400.
    """
    if NAME.fullmatch(name) is None:
        raise Problem(400, f"a name is of letters, digits and `_`, got {name!r:.100}")


def check_new_name(name: str) -> None:
    """Refuse a name that the language does not allow.

    Raises:
        Problem: 400.
    """
    if NEW_NAME.fullmatch(name) is None:
        raise Problem(
            400,
            f"a name is of lower-case letters, digits and `_`, beginning with a letter, got {name!r:.100}",
        )


def discarded(changes: Diff) -> int:
    """Return how many jobs a difference discards."""
    return sum(
        each.count
        for change in changes.schedules()
        for each in change.consequences
        if each.kind == "discards"
    )
