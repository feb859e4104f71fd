"""The session of a browser: its token in a cookie that scripts cannot read and other sites do not send.

sign in with a token ──► cookie ──► pages, and the buttons on them ──► sign out
"""

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import RedirectResponse

from tidegate.server.access import COOKIE, token_of
from tidegate.server.board.back import SEE_OTHER
from tidegate.server.board.page import PageRoute, rendered
from tidegate.server.body import read_form
from tidegate.server.problem import Problem
from tidegate.server.service import Here

router = APIRouter(prefix="/board", route_class=PageRoute, include_in_schema=False)

HOURS_KEPT = 12


@router.get("/sign-in")
def sign_in_page(request: Request, service: Here) -> Response:
    """Show the form that asks for a token."""
    view = {"detail": "", "next": "/"}
    return rendered(request, service.namespace, "sign_in", "Sign in", view, None)


@router.post("/sign-in")
def sign_in(request: Request, service: Here, form: Annotated[dict[str, str], Depends(read_form)]) -> Response:
    """Keep the token of a browser.

    Raises:
        Problem: 401, the token is unknown or revoked.
    """
    secret = form.get("token", "").strip()
    with service.store.reading() as reader:
        if token_of(reader.tokens(), secret) is None:
            raise Problem(401, "the token is unknown or revoked", {"WWW-Authenticate": "Bearer"})
    answer = RedirectResponse(local(form.get("next", "/")), SEE_OTHER)
    answer.set_cookie(
        COOKIE,
        secret,
        max_age=HOURS_KEPT * 3600,
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
    )
    return answer


@router.post("/sign-out")
def sign_out() -> Response:
    """Forget the token of a browser."""
    answer = RedirectResponse("/board/sign-in", SEE_OTHER)
    answer.delete_cookie(COOKIE)
    return answer


def local(path: str) -> str:
    """Return a path of this server; the first page for anything else."""
    return path if path.startswith("/") and not path.startswith(("//", "/\\")) else "/"
