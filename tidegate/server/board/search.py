"""*Find*: the results of the search box for a browser without scripts, and the page of a code."""

from fastapi import APIRouter, Request, Response

from tidegate.domain.value import Value
from tidegate.scheduler.explain.codes import near, registry
from tidegate.server.access import READ
from tidegate.server.board.page import PageRoute, page
from tidegate.server.board.rendering import PAGES
from tidegate.server.problem import Problem
from tidegate.server.service import Here

router = APIRouter(prefix="/board", route_class=PageRoute, include_in_schema=False)


class Found(Value, kw_only=True):
    """What the search box leads to.

    Attributes:
        q: what is looked for.
        pages: those of the navigation, with their names.
    """

    q: str
    pages: tuple[tuple[str, str], ...]


@router.get("/search", dependencies=[READ])
def search_page(request: Request, service: Here, q: str = "") -> Response:
    """Show what has a name, and all pages."""
    return page(request, service, "search", "Find", Found(q=q, pages=PAGES))


@router.get("/codes/{code}", dependencies=[READ])
def code_page(code: str, request: Request, service: Here) -> Response:
    """Show what a code means, what has led to it, and what to do."""
    known = registry()
    found = known.get(code.upper())
    if found is None:
        close = near(code, known)
        raise Problem(
            404, f"there is no code {code!r:.100}", hint=f"such as {', '.join(close)}" if close else ""
        )
    return page(request, service, "code", found.code, found)
