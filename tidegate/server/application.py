"""The application: all routes of a server, with its errors."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

import anyio.to_thread
from fastapi import APIRouter, Depends, FastAPI, Request
from starlette.datastructures import State

from tidegate.release import release
from tidegate.server.access import known_namespace
from tidegate.server.board import BOARD, search
from tidegate.server.contract import describe
from tidegate.server.issuer import Issuer
from tidegate.server.nul import NoNul
from tidegate.server.peer import Peer
from tidegate.server.problem import add_handlers
from tidegate.server.rate_limit import RateLimit
from tidegate.server.routes import (
    across_apps,
    alerts,
    apps,
    backfills,
    commits,
    deployments,
    events,
    gauges,
    health,
    holds,
    instances,
    jobs,
    lists,
    maintenance,
    metrics,
    reverts,
    run_times,
    schedules,
    task_reports,
    time_line,
    watermarks,
    why,
)
from tidegate.server.service import Service

NAMESPACE = "/v3/namespaces/{ns}"

DESCRIPTION = (
    "Apps, schedules, jobs, events, tasks and tables of a project. `tidegate docs rest` explains it."
)

OF_NAMESPACE: tuple[APIRouter, ...] = (
    apps.router,
    holds.router,
    reverts.router,
    schedules.router,
    across_apps.router,
    run_times.router,
    why.router,
    jobs.router,
    instances.router,
    task_reports.router,
    backfills.router,
    events.router,
    gauges.router,
    lists.router,
    search.api,
    time_line.router,
    deployments.router,
    watermarks.router,
    commits.router,
    alerts.router,
)
"""The routes below `NAMESPACE`."""

OTHERS: tuple[APIRouter, ...] = (health.router, metrics.router, maintenance.router, *BOARD)
"""The routes with whole paths."""


THREADS = 12
"""Requests that are worked on at once; each holds one connection to the store, of which there are 15."""


@asynccontextmanager
async def _few_threads(_application: FastAPI) -> AsyncGenerator[None]:
    anyio.to_thread.current_default_thread_limiter().total_tokens = THREADS
    yield


def create_application(service: Service, peer: Callable[[Request], Peer] | None = None) -> FastAPI:
    """Return the application of a service.

    Args:
        peer: finds the user of this machine who has sent a request; None where that cannot be known.
    """
    return for_service(assemble(), service, peer)


def for_service(
    application: FastAPI, service: Service, peer: Callable[[Request], Peer] | None = None
) -> FastAPI:
    """Let an application answer for a service, and return it; see `create_application`."""
    application.state = State()
    application.state.peer = peer
    application.state.service = service
    sign_on = service.settings.sign_on
    application.state.issuer = None if sign_on is None else Issuer(sign_on)
    application.state.limit = RateLimit(service.settings.requests_per_minute)
    return application


def assemble() -> FastAPI:
    """Return an application with all routes, which has no service yet."""
    application = FastAPI(
        title="Tidegate",
        version=release() or "0",
        description=DESCRIPTION,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,
        lifespan=_few_threads,
    )
    add_handlers(application)
    application.add_middleware(NoNul)
    for router in OF_NAMESPACE:
        application.include_router(router, prefix=NAMESPACE, dependencies=[Depends(known_namespace)])
    for router in OTHERS:
        application.include_router(router)
    describe(application)
    return application
