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
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import quote, urlencode

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, RedirectResponse
from fastapi.routing import APIRoute
from jinja2 import Environment, PackageLoader, StrictUndefined
from msgspec import UNSET

from tidegate.listings.declared import LISTINGS
from tidegate.project.local_time import in_zone, local_instant
from tidegate.scheduler.explain.operations.measure_text import age_text, value_text
from tidegate.scheduler.model.reason import Reason
from tidegate.server.access import COOKIE
from tidegate.server.contract import json_answer
from tidegate.server.hints import for_page
from tidegate.server.problem import Problem, malformed
from tidegate.server.service import Service

PAGES = (
    ("/", "Now"),
    ("/board/schedules", "Schedules"),
    ("/board/jobs", "Jobs"),
    ("/board/tasks", "Tasks"),
    ("/board/instances", "Instances"),
    ("/board/datasets", "Datasets"),
    ("/board/day", "Day"),
    ("/board/backfills", "Backfills"),
    ("/board/events", "Events"),
    ("/board/ledger", "Ledger"),
    ("/board/maintenance", "Maintenance"),
    ("/board/late", "Late"),
    ("/board/commits", "Commits"),
    ("/board/watermarks", "Watermarks"),
    ("/board/gauges", "Gauges"),
    ("/board/alerts", "Alerts"),
    ("/board/overrides", "Overrides"),
    ("/board/deployments", "Deployments"),
)
"""The pages of the menu, by path."""

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self';"
        " form-action 'self';"
        " frame-ancestors 'none'; base-uri 'none'"
    ),
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}

UNAUTHORIZED = 401

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


def _environment() -> Environment:
    found = Environment(
        loader=PackageLoader("tidegate.server.board"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters["instant"] = local_instant
    found.filters["span"] = span
    found.globals["listings"] = LISTINGS
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
        return rendered(request, service.namespace, template, title, view, service.clock())


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
    html = ENVIRONMENT.get_template(f"{template}.html").render(
        title=title,
        view=view,
        now=now,
        namespace=namespace,
        pages=PAGES,
        path=request.url.path,
        query=query,
        done=done_text(request),
        signed_in=COOKIE in request.cookies,
    )
    return HTMLResponse(html, status, HEADERS)


class PageRoute(APIRoute):
    """A route whose errors are pages where the caller is a browser, unless it asks for JSON."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def with_pages(request: Request) -> Response:
            if not _is_for_people(request):
                return await handle(request)
            try:
                return await handle(request)
            except Problem as problem:
                return _problem_page(request, problem)
            except RequestValidationError as error:
                return _problem_page(request, malformed(error))

        return with_pages


def _is_for_people(request: Request) -> bool:
    """Return whether an error is answered with a page: to a browser that has not asked for JSON."""
    asks_json = request.query_params.get("format") == "json"
    return not asks_json and "text/html" in request.headers.get("accept", "")


def _problem_page(request: Request, problem: Problem) -> Response:
    service: Service = request.app.state.service
    view = {"status": problem.status, "detail": problem.message, "hint": for_page(problem.hint)}
    if problem.status == UNAUTHORIZED:
        view["next"] = request.url.path
        return rendered(request, service.namespace, "sign_in", "Sign in", view, None, problem.status)
    return rendered(request, service.namespace, "problem", "Problem", view, None, problem.status)


SEE_OTHER = 303
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
