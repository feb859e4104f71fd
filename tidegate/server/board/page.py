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
from collections.abc import Callable, Coroutine, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import quote, urlencode

from fastapi import Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, RedirectResponse
from fastapi.routing import APIRoute
from jinja2 import Environment, PackageLoader, StrictUndefined
from msgspec import UNSET

from tidegate.domain.duration import is_never
from tidegate.listings.declared import LISTINGS
from tidegate.project.local_time import in_zone, local_clock, local_instant
from tidegate.release import release
from tidegate.scheduler.explain.operations.measure_text import age_text, value_text
from tidegate.scheduler.model.reason import Reason
from tidegate.server.access import COOKIE, FORWARDED
from tidegate.server.board.assets import STYLES, asset, version
from tidegate.server.contract import json_answer
from tidegate.server.hints import for_page
from tidegate.server.problem import Problem, malformed
from tidegate.server.service import Service

MAIN_PAGES = (
    ("/", "Now", "now"),
    ("/board/schedules", "Schedules", "schedules"),
    ("/board/jobs", "Jobs", "jobs"),
    ("/board/datasets", "Datasets", "datasets"),
    ("/board/maintenance", "Tables", "tables"),
    ("/board/deployments", "Deployments", "deployments"),
)
"""The pages of the navigation, by path, with their icon."""

MORE_PAGES = (
    ("/board/day", "Days"),
    ("/board/tasks", "Tasks"),
    ("/board/instances", "Instances"),
    ("/board/backfills", "Backfills"),
    ("/board/events", "Events"),
    ("/board/ledger", "Ledger"),
    ("/board/late", "Deadlines"),
    ("/board/alerts", "Alerts"),
    ("/board/overrides", "Overrides"),
    ("/board/commits", "Commits"),
    ("/board/watermarks", "Watermarks"),
    ("/board/gauges", "Gauges"),
)
"""Those under *More*."""

PAGES = (*((path, name) for path, name, _ in MAIN_PAGES), *MORE_PAGES)
"""All of them, by path."""

SHAPES = {
    "pending_trigger": "waiting",
    "pending_constraint": "waiting",
    "pending_launch": "queued",
    "launched": "running",
    "started": "running",
    "starting": "queued",
    "paused": "held",
    "successful": "succeeded",
    "sent": "succeeded",
    "dead": "failed",
    "cancelled": "discarded",
    "absent": "discarded",
    "pruned": "discarded",
    "fresh": "succeeded",
    "never": "discarded",
}
"""The shape and colour of a state, by its name, where that is not the name of the shape itself."""

OWN_SHAPES = frozenset(
    (
        "queued",
        "running",
        "waiting",
        "held",
        "succeeded",
        "failed",
        "late",
        "suspended",
        "discarded",
        "active",
    )
)
"""States that are shapes (static/icons.svg); any other state has that of what waits, the normal one."""

WORDS = {
    "pending_trigger": "waiting",
    "pending_constraint": "waiting",
    "pending_launch": "queued",
    "launched": "running",
    "dead": "abandoned",
}
"""The word of a state, where it is not its name."""

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

DAY_HOURS = 48
"""Relative times of so many hours and more are in days."""

SHORT = 12
"""Characters of an id that are shown."""

_NOW: ContextVar[datetime] = ContextVar("instant of the page")

_STEPS = (
    (timedelta(days=2), 86_400, "d"),
    (timedelta(hours=2), 3600, "h"),
    (timedelta(minutes=2), 60, "min"),
)


def span(passed: timedelta) -> str:
    """Return a span in its largest unit: "3 h"."""
    for least, seconds, unit in _STEPS:
        if passed >= least:
            return f"{int(passed.total_seconds()) // seconds} {unit}"
    return f"{max(int(passed.total_seconds()), 0)} s"


def relative(at: datetime) -> str:
    """Return an instant as seen from that of the page: "4 h 02 min ago", "in 12 min"."""
    if is_never(at, _NOW.get()):
        return local_instant(at, now=_NOW.get())
    passed = _NOW.get() - at
    minutes = int(abs(passed).total_seconds()) // 60
    if minutes == 0:
        return "just now" if passed >= timedelta() else "within a minute"
    hours, rest = divmod(minutes, 60)
    if hours == 0:
        words = f"{minutes} min"
    elif hours < DAY_HOURS:
        words = f"{hours} h {rest:02} min"
    else:
        words = f"{hours // 24} d"
    return f"{words} ago" if passed >= timedelta() else f"in {words}"


def shape(state: str) -> str:
    """Return the shape of a state: the end of its class, and the name of its icon."""
    name = state.lower()
    return name if name in OWN_SHAPES else SHAPES.get(name, "waiting")


def word(state: str) -> str:
    """Return the word of a state."""
    return WORDS.get(state.lower(), state.lower().replace("_", " "))


def short(id: str) -> str:
    """Return what tells an id apart: the hexadecimal end of it, or its first characters."""
    return id.rpartition("-")[2][:SHORT] or id[:SHORT]


def _environment() -> Environment:
    found = Environment(
        loader=PackageLoader("tidegate.server.board"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters["instant"] = lambda at, zone="": local_instant(at, zone, _NOW.get(None))
    found.filters["clock"] = lambda at: local_clock(at, _NOW.get())
    found.filters |= {"relative": relative, "short": short, "shape": shape, "word": word}
    found.filters["asset"] = asset
    found.filters["span"] = span
    found.globals["listings"] = LISTINGS
    found.globals["styles"] = STYLES
    found.globals["main_pages"] = MAIN_PAGES
    found.globals["more_pages"] = MORE_PAGES
    found.globals["release"] = release()
    found.filters["measure"] = lambda value, name: value_text(name, value)
    found.filters["age"] = lambda seconds: age_text(timedelta(seconds=seconds))
    found.filters["summary"] = lambda code: Reason(code).summary
    found.tests["unset"] = lambda value: value is UNSET
    return found


ENVIRONMENT = _environment()


def page(
    request: Request,
    service: Service,
    template: str,
    title: str,
    view: Any,
    zone: str = "",
    answer: Any = None,
    status: int = 200,
) -> Response:
    """Return a page.

    Args:
        template: name of its file, without ending.
        view: what the template shows.
        answer: what tools get; None for `view`.
        zone: of its local times; "" for that of the project.

    Raises:
        Problem: 400, the wanted format is neither.
    """
    wanted = request.query_params.get("format", "html")
    if wanted == "json":
        return json_answer(view if answer is None else answer)
    if wanted != "html":
        raise Problem(400, f"format has the unknown value {wanted!r:.100}", hint="html or json")
    with in_zone(zone or service.settings.timezone):
        return rendered(request, service.namespace, template, title, view, service.clock(), status)


def rendered(
    request: Request,
    namespace: str,
    template: str,
    title: str,
    view: Any,
    now: datetime | None,
    status: int = 200,
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
            section=_section(request.url.path),
            path=request.url.path,
            query=query,
            done=done_text(request),
            signed_in=COOKIE in request.cookies,
            issuer=request.app.state.issuer,
            tag=getattr(request.state, "tag", ""),
        )
    return HTMLResponse(html, status, HEADERS)


@contextmanager
def seen_from(now: datetime | None) -> Generator[None]:
    """Let relative times be those of an instant within the context; None for a page without any."""
    if now is None:
        yield
        return
    token = _NOW.set(now)
    try:
        yield
    finally:
        _NOW.reset(token)


def _section(path: str) -> str:
    """Return the name of the page of the navigation that a page belongs to; "" for none."""
    return next((name for to, name in PAGES if path == to or (to != "/" and path.startswith(f"{to}/"))), "")


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
