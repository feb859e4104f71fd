"""An obstacle: why the runs of a program that is an existing job cannot be created now.

Its code location is not loaded, or no process can create runs there. The process that drives the engine (a
host, or without one the dispatcher) notes the obstacles of each app whenever they change; decisions read them
like a gauge, before a slot is taken. A program of which nothing is noted can be launched.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec

from tidegate.domain.value import Value
from tidegate.scheduler.model.reason import Reason

OBSTACLE = "obstacle:"
"""Prefix of the resource on which the jobs of a program with an obstacle are blocked."""


class Obstacle(Value, kw_only=True):
    """What keeps a program from being launched.

    Attributes:
        reason: W-LOCATION or W-HOST.
        text: what is missing, for people.
    """

    reason: Reason
    text: str


def obstacle_resource(program: str) -> str:
    """Return the resource that the end of the obstacle of a program ("app/program") wakes."""
    return f"{OBSTACLE}{program}"


def obstacles_cursor(app: str) -> str:
    """Return the name of the cursor that holds the obstacles of an app's programs."""
    return f"obstacles:{app}"


def obstacles_of(stored: Any) -> Mapping[str, Obstacle]:
    """Return the obstacles in a cursor, by the name of the program."""
    return {} if stored is None else msgspec.convert(stored, dict[str, Obstacle])


class LocationState(Value, kw_only=True):
    """A code location of the workspace, as the host sees it.

    Attributes:
        problem: the first line of why it is not loaded; "" while it is.
        since: from when it has been so.
    """

    problem: str = ""
    since: datetime


def locations_cursor(project: str) -> str:
    """Return the name of the cursor that holds the states of the locations of a project's workspace."""
    return f"locations:{project}"


def locations_of(stored: Any) -> Mapping[str, LocationState]:
    """Return the states in a cursor, by the name of the location."""
    return {} if stored is None else msgspec.convert(stored, dict[str, LocationState])
