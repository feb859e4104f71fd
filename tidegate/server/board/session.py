"""The session of a browser, in a cookie that scripts cannot read and other sites do not send.

sign in with a token ──► cookie ──► pages, and the buttons on them ──► sign out
"""

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import RedirectResponse

from tidegate.scheduler.model.records.token import TOKENS
from tidegate.server.access import COOKIE, FORWARDED, count, refuse_foreign_page, token_of
from tidegate.server.board.page import SEE_OTHER, PageRoute, rendered
from tidegate.server.body import read_form
from tidegate.server.browser_session import KEPT_FOR, make_value
from tidegate.server.problem import Problem
from tidegate.server.service import Here

router = APIRouter(prefix="/board", route_class=PageRoute, include_in_schema=False)


@router.get("/sign-in")
def sign_in_page(request: Request, service: Here) -> Response:
    """Show the form that asks for a token."""
    view = {"detail": "", "next": "/"}
    return rendered(request, service.namespace, "sign_in", "Sign in", view, None)


@router.post("/sign-in")
def sign_in(request: Request, service: Here, form: Annotated[dict[str, str], Depends(read_form)]) -> Response:
    """Open a session for a browser that shows a token.

    Raises:
        Problem: 401, the token is unknown or revoked; 403 for a page of another site; 429 for too many tries.
    """
    refuse_foreign_page(request)
    with service.store.reading() as reader:
        token = token_of(reader.records(TOKENS), form.get("token", "").strip())
    count(request, service, token)
    if token is None:
        raise Problem(401, "the token is unknown or revoked", {"WWW-Authenticate": "Bearer"})
    answer = RedirectResponse(local(form.get("next", "/")), SEE_OTHER)
    answer.set_cookie(
        COOKIE,
        make_value(token, service.clock()),
        max_age=int(KEPT_FOR.total_seconds()),
        httponly=True,
        samesite="strict",
        secure=_is_encrypted(request),
    )
    return answer


@router.post("/sign-out")
def sign_out(request: Request) -> Response:
    """End the session of a browser.

    Raises:
        Problem: 403 for a page of another site.
    """
    refuse_foreign_page(request)
    answer = RedirectResponse("/board/sign-in", SEE_OTHER)
    answer.delete_cookie(COOKIE)
    return answer


def _is_encrypted(request: Request) -> bool:
    """Return whether the browser's own connection is: to this server, or to the proxy before it.

    A proxy that does not say so is taken for one with TLS, as docs/security.md describes it.
    """
    if request.url.scheme == "https":
        return True
    behind_proxy = any(name in request.headers for name in FORWARDED)
    return request.headers.get("x-forwarded-proto", "https" if behind_proxy else "http").lower() == "https"


def local(path: str) -> str:
    """Return a path of this server; the first page for anything else."""
    return path if path.startswith("/") and not path.startswith(("//", "/\\")) else "/"
