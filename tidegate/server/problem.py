"""Problems: every error of the server as `application/problem+json` (RFC 9457).

A route raises `Problem`; whatever else goes wrong becomes one here. What a caller sent is repeated in
messages, what is inside the server (addresses, statements, tracebacks) never is.
"""

import logging
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any

import msgspec
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute, Match

from tidegate.domain.error import UserError
from tidegate.scheduler.model.refused import RefusedWithCode
from tidegate.scheduler.store.error import StoreError
from tidegate.server.hints import for_call

MEDIA_TYPE = "application/problem+json"

METHODS = ("DELETE", "GET", "POST", "PUT")
"""Of all routes."""


LOG = logging.getLogger("tidegate.server")


class Problem(UserError):
    """An error that is answered to the caller.

    Attributes:
        status: of HTTP.
        more: further members of the answer, such as `code` and `diagnostics`.
    """

    def __init__(
        self,
        status: int,
        message: str,
        headers: Mapping[str, str] | None = None,
        *,
        hint: str = "",
        **more: Any,
    ) -> None:
        super().__init__(message, hint)
        self.status = status
        self.headers = dict(headers or {})
        self.more = more


def unknown_value(name: str, value: str, known: Iterable[str]) -> Problem:
    """Return the refusal of a parameter whose value is none of those that it can have."""
    return Problem(400, f"{name} has the unknown value {value!r:.100}", hint=f"one of {', '.join(known)}")


def answer_of(problem: Problem) -> Response:
    """Return the answer of a problem."""
    more = {"hint": for_call(problem.hint), **problem.more}
    content = {
        "type": "about:blank",
        "title": HTTPStatus(problem.status).phrase,
        "status": problem.status,
        "detail": problem.message,
        **{name: value for name, value in more.items() if value not in (None, "")},
    }
    return Response(
        msgspec.json.encode(content), problem.status, headers=problem.headers, media_type=MEDIA_TYPE
    )


STATUS_OF_CODE = {
    "E-TASK": 404,
    "E-TABLE": 404,
    "E-POLICY": 404,
    "E-TIME": 400,
    "E-RANGE": 400,
    "E-DISABLED": 409,
    "E-STATE": 409,
    "E-ACTIVE": 409,
}
"""The status of refusals that have a code."""


@contextmanager
def refused_as(status: int) -> Generator[None]:
    """Answer a refusal of the engine with a status; one that has a code with that of the code."""
    try:
        yield
    except (Problem, StoreError):
        raise
    except UserError as error:
        code = error.code if isinstance(error, RefusedWithCode) else None
        found = STATUS_OF_CODE.get(code or "", status)
        raise Problem(found, error.message, hint=error.hint, code=code) from error


def add_handlers(application: FastAPI) -> None:
    """Answer every error with a problem."""
    application.add_exception_handler(Problem, _problem)
    application.add_exception_handler(RequestValidationError, _malformed)
    application.add_exception_handler(HTTPException, _of_http)
    application.add_exception_handler(StoreError, _store)
    application.add_exception_handler(Exception, _unexpected)


async def _problem(_request: Request, error: Exception) -> Response:
    assert isinstance(error, Problem)
    return answer_of(error)


async def _malformed(_request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    return answer_of(malformed(error))


def malformed(error: RequestValidationError) -> Problem:
    """Return the problem of a path or query that does not fit."""
    return Problem(400, "; ".join(_words(error.errors())))


def _words(errors: Sequence[Any]) -> list[str]:
    return [f"{' '.join(map(str, each['loc']))}: {each['msg']}" for each in errors]


async def _of_http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    path = request.url.path
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        foreign = foreign_namespace(request.path_params.get("ns"), request.app.state.service.namespace)
        allowed = {"Allow": ", ".join(_methods(request))}
        return answer_of(foreign or Problem(405, f"{path} does not take {request.method}", allowed))
    detail = f"there is nothing at {path}" if error.status_code == HTTPStatus.NOT_FOUND else str(error.detail)
    return answer_of(Problem(error.status_code, detail, error.headers))


def foreign_namespace(given: str | None, own: str) -> Problem | None:
    """Return the problem of a path in the namespace of another project; None for a path of this one."""
    if given in (None, own):
        return None
    return Problem(404, f'there is no namespace "{given:.100}" here; this one is "{own}"')


def _methods(request: Request) -> list[str]:
    """Return the methods that the path of a request takes."""
    routes: Sequence[BaseRoute] = request.app.routes

    def takes(method: str) -> bool:
        scope = {**request.scope, "method": method}
        return any(route.matches(scope)[0] is Match.FULL for route in routes)

    return [method for method in METHODS if takes(method)]


async def _store(_request: Request, error: Exception) -> Response:
    LOG.error("the store failed: %s", error)
    return answer_of(Problem(503, "the schedule store cannot be used now; try again", {"Retry-After": "5"}))


async def _unexpected(request: Request, error: Exception) -> Response:
    LOG.error("%s %s failed", request.method, request.url.path, exc_info=error)
    return answer_of(Problem(500, "the server failed; its log has the cause"))
