"""Pages: a value of a page becomes HTML by its template, or JSON for tools.

/board/jobs               HTML, complete on the server, nothing from elsewhere; one script of our own
                          reads the same page again and replaces its parts marked `data-live`
/board/jobs?format=json   the same value

The answer to a button: back to its page, which says what was done. The text is in the address, and signed:
a link of another author shows nothing.
"""

import hashlib
import hmac
import secrets
from collections.abc import Callable, Coroutine
from datetime import datetime
from typing import Any
from urllib.parse import quote, urlencode

from fastapi import Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, RedirectResponse
from fastapi.routing import APIRoute

from tidegate.domain.value import Value
from tidegate.project.local_time import in_zone
from tidegate.scheduler.explain.work import LATE_READ, count_failed, count_late
from tidegate.scheduler.launch.active_host import active_host
from tidegate.scheduler.tick.clock import is_late, last_tick
from tidegate.server.access import COOKIE, FORWARDED, Caller
from tidegate.server.board.assets import version
from tidegate.server.board.rendering import ENVIRONMENT, section_of, seen_from
from tidegate.server.contract import json_answer
from tidegate.server.hints import for_page
from tidegate.server.problem import Problem, malformed
from tidegate.server.service import Service
from tidegate.server.visible import visible_apps

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; font-src 'self'; script-src 'self'; connect-src 'self';"
        " img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    ),
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}

UNAUTHORIZED = 401
FOR_PROGRAMS = "Authorization: Bearer"
"""In a refusal that says how a program sends its token."""


class Around(Value, kw_only=True):
    """What each page shows around its content.

    Attributes:
        failed: jobs of schedules and tasks that ended as failed in the last 24 hours.
        late: jobs and periods of datasets that are past their deadline, up to `LATE_READ`.
        silent: whether the engine does not tick.
    """

    failed: int = 0
    late: int = 0
    silent: bool = False


def page(
    request: Request,
    service: Service,
    template: str,
    title: str,
    view: Any,
    zone: str = "",
    answer: Any = None,
    status: int = 200,
    around: Around | None = None,
) -> Response:
    """Return a page.

    Args:
        template: name of its file, without ending.
        view: what the template shows.
        answer: what tools get; None for `view`.
        zone: of its local times; "" for that of the project.
        around: what it has around its content; None if that is still to be read.

    Raises:
        Problem: 400, the wanted format is neither.
    """
    wanted = request.query_params.get("format", "html")
    if wanted == "json":
        return json_answer(view if answer is None else answer)
    if wanted != "html":
        raise Problem(400, f"format has the unknown value {wanted!r:.100}", hint="html or json")
    around = around or _around(service, request.state.caller)
    with in_zone(zone or service.settings.timezone):
        return rendered(request, service.namespace, template, title, view, service.clock(), status, around)


def rendered(
    request: Request,
    namespace: str,
    template: str,
    title: str,
    view: Any,
    now: datetime | None,
    status: int = 200,
    around: Around | None = None,
) -> Response:
    """Return the HTML of a page."""
    ours = (f"{DONE}=", f"{SIGNATURE}=")
    query = "&".join(part for part in request.url.query.split("&") if part and not part.startswith(ours))
    with seen_from(now):
        html = ENVIRONMENT.get_template(f"{template}.html").render(
            title=title,
            view=view,
            now=now,
            namespace=namespace,
            section=section_of(request.url.path),
            path=request.url.path,
            query=query,
            done=done_text(request),
            signed_in=COOKIE in request.cookies,
            person=_person(request),
            issuer=request.app.state.issuer,
            tag=getattr(request.state, "tag", ""),
            around=around or Around(),
        )
    return HTMLResponse(html, status, HEADERS)


def _person(request: Request) -> str:
    """Return who has signed in, by the name of the person or of the token; "" if it is not known."""
    caller: Caller | None = getattr(request.state, "caller", None)
    return "" if caller is None or not caller.is_known else caller.shown


def _around(service: Service, caller: Caller) -> Around:
    now = service.clock()
    with service.store.reading() as reader:
        apps = visible_apps(service, reader, caller)
        host = active_host(reader, service.settings.name, now)
        return Around(
            failed=count_failed(reader, apps, now),
            late=count_late(reader, apps, LATE_READ),
            silent=host is None and is_late(last_tick(reader), now, service.settings.tick_seconds),
        )


class PageRoute(APIRoute):
    """A route whose errors are pages where the caller is a browser, unless it asks for JSON."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def with_pages(request: Request) -> Response:
            if not is_for_people(request):
                return await handle(request)
            try:
                return await _unless_same(request, handle)
            except Problem as problem:
                return _problem_page(request, problem)
            except RequestValidationError as error:
                return _problem_page(request, malformed(error))

        return with_pages


async def _unless_same(
    request: Request, handle: Callable[[Request], Coroutine[Any, Any, Response]]
) -> Response:
    """Return a page, or 304 if the browser has it: nothing but the store's count of changes is read then.

    The count is read before the page is, so a change in between is on the page of the next question.
    """
    if request.method != "GET":
        return await handle(request)
    request.state.tag = tag = await run_in_threadpool(_tag, request)
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=NOT_MODIFIED, headers={**HEADERS, "ETag": tag})
    answer = await handle(request)
    if answer.status_code == OK:
        answer.headers["ETag"] = tag
    return answer


def _tag(request: Request) -> str:
    """Return what a page depends on, signed: its address, who asks, the store, and the minute.

    The minute is for what the clock alone changes, such as relative times and an engine that does not tick.
    """
    service: Service = request.app.state.service
    minute = int(service.clock().timestamp()) // TAG_SECONDS
    client = "" if request.client is None else request.client.host
    of_caller = [request.headers.get(name, "") for name in CALLER_HEADERS]
    seen = [str(request.url), client, *of_caller, version(), str(service.store.changes()), str(minute)]
    return f'"{_signature(chr(0).join(seen))}"'


def is_for_people(request: Request) -> bool:
    """Return whether an error is answered with a page: to a browser that has not asked for JSON."""
    asks_json = request.query_params.get("format") == "json"
    return not asks_json and "text/html" in request.headers.get("accept", "")


def _problem_page(request: Request, problem: Problem) -> Response:
    service: Service = request.app.state.service
    view = {"status": problem.status, "detail": problem.message, "hint": for_page(problem.hint)}
    signs_in = request.url.path.startswith("/auth/")
    if problem.status == UNAUTHORIZED or signs_in:
        query = f"?{request.url.query}" if request.method == "GET" and request.url.query else ""
        view["leaves"] = ""
        if FOR_PROGRAMS in problem.message:
            view["detail"] = "Sign in to open this page."
        view["next"] = "/" if signs_in else f"{request.url.path}{query}"
        return rendered(request, service.namespace, "sign_in", "Sign in", view, None, problem.status)
    return rendered(request, service.namespace, "problem", "Problem", view, None, problem.status)


OK, SEE_OTHER, NOT_MODIFIED = 200, 303, 304

TAG_SECONDS = 60
"""So long a page without any change of the store is the same."""

CALLER_HEADERS = ("host", "cookie", "authorization", *FORWARDED)
"""Headers that say who asks."""

DONE, SIGNATURE = "done", "signed"

_KEY = secrets.token_bytes(32)
"""Of this process: after a restart an address in a browser shows its text no more."""


def back(path: str, done: str, **query: str) -> Response:
    """Return the way back to a page.

    Args:
        query: of the page.
    """
    said = {**query, DONE: done, SIGNATURE: _signature(done)}
    return RedirectResponse(f"{quote(path)}?{urlencode(said)}", SEE_OTHER)


def done_text(request: Request) -> str:
    """Return what the address says was done; "" unless `back` has written it."""
    done, signature = (request.query_params.get(name, "") for name in (DONE, SIGNATURE))
    known = hmac.compare_digest(_signature(done).encode(), signature.encode("utf-8", "replace"))
    return done if known else ""


def _signature(done: str) -> str:
    return hmac.new(_KEY, done.encode("utf-8", "replace"), hashlib.sha256).hexdigest()[:32]
