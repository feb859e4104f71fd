"""Health: whether the server is alive and ready, the code locations of the host, and what the paths are."""

from datetime import datetime
from typing import Any, Literal

import msgspec
from fastapi import APIRouter, Request, Response

from tidegate.domain.error import UserError
from tidegate.domain.value import Value
from tidegate.scheduler.launch.active_host import active_host
from tidegate.scheduler.launch.obstacles import location_states
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.tick.clock import is_ahead, is_late, last_tick
from tidegate.server.access import READ
from tidegate.server.contract import contract, json_answer
from tidegate.server.problem import Problem
from tidegate.server.service import Here, Service

router = APIRouter(tags=["health"])

SERVICE_UNAVAILABLE = 503


class Alive(Value, kw_only=True):
    """The server answers.

    Attributes:
        status: "alive".
    """

    status: str = "alive"


class Ready(Value, kw_only=True):
    """Whether what the server needs is there.

    Attributes:
        ready: whether all of it is there.
        store: "reachable" or "unreachable".
        scheduler: "ticking", "late" or "never ticked"; "ahead" if the last tick is of the future, so that a
            clock is wrong; "unknown" without a store.
        last_tick: when a host or dispatcher ticked last.
    """

    ready: bool
    store: str
    scheduler: str
    last_tick: datetime | None = None


class Location(Value, kw_only=True):
    """A code location of the host's workspace.

    Attributes:
        name: of the location.
        state: "loaded" or "failed".
        problem: the first line of the error; "" for one that is loaded.
        since: from when it has been so.
    """

    name: str
    state: Literal["loaded", "failed"]
    problem: str
    since: datetime


class Locations(Value, kw_only=True):
    """The code locations of the host's workspace.

    Attributes:
        items: as the host has seen them last, by name; none before a host has looked.
    """

    items: tuple[Location, ...]


class OpenApi(Value, kw_only=True):
    """The description of all paths, by the OpenAPI Specification.

    Attributes:
        openapi: the version of the specification.
        info: name and version of the server.
        paths: the operations, by path and method.
        components: the types of bodies and answers, and how a caller is known, by name.
        security: what every operation needs.
    """

    openapi: str
    info: dict[str, Any]
    paths: dict[str, dict[str, Any]]
    components: dict[str, dict[str, Any]]
    security: list[dict[str, list[str]]]


@router.get("/healthz", **contract(Alive))
def healthz() -> Response:
    """Say that the server is alive."""
    return json_answer(Alive())


@router.get("/readyz", **contract(Ready))
def readyz(service: Here) -> Response:
    """Say whether the store is reachable, and a host or dispatcher ticks."""
    found = _ready(service)
    if not found.ready:
        detail = f"the store is {found.store}, the scheduler: {found.scheduler}"
        raise Problem(SERVICE_UNAVAILABLE, detail, **msgspec.to_builtins(found))
    return json_answer(found)


def _ready(service: Service) -> Ready:
    now, settings = service.clock(), service.settings
    try:
        with service.store.reading() as reader:
            ticked, host = last_tick(reader), active_host(reader, settings.name, now)
    except UserError:
        return Ready(ready=False, store="unreachable", scheduler="unknown")
    ahead = ticked is not None and is_ahead(ticked, now)
    ticks = not ahead and (host is not None or not is_late(ticked, now, settings.tick_seconds))
    scheduler = "ticking" if ticks else "never ticked" if ticked is None else "ahead" if ahead else "late"
    return Ready(ready=ticks, store="reachable", scheduler=scheduler, last_tick=ticked)


@router.get("/api/v1/locations", dependencies=[READ], **contract(Locations))
def locations(service: Here) -> Response:
    """List the code locations of the host's workspace, and why one is not loaded."""
    with service.store.reading() as reader:
        return json_answer(Locations(items=locations_seen(reader, service.settings.name)))


def locations_seen(reader: EngineReader, project: str) -> tuple[Location, ...]:
    """Return the code locations that the host of a project has seen last, in the order of their names."""
    return tuple(
        Location(
            name=name,
            state="failed" if each.problem else "loaded",
            problem=each.problem,
            since=each.since,
        )
        for name, each in sorted(location_states(reader, project).items())
    )


@router.get("/openapi.json", dependencies=[READ], **contract(OpenApi))
def openapi(request: Request) -> Response:
    """Describe all paths."""
    found: dict[str, Any] = request.app.openapi()
    return json_answer(found)
