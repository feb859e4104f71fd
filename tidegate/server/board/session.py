"""Signing in and out: a session of a browser, for a token that it shows or a person whom the issuer knows.

    token  ──────────────────────────────────────────────► cookie ──► pages, and the buttons on them ──► out
    person ──► /auth/sign-in ──► issuer ──► /auth/callback ──┘

The cookie cannot be read by scripts and is not sent with writes of other sites. The way to the issuer has one
of its own, which binds the answer to the browser that asked: a link signs no person in.
"""

import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode
from datetime import timedelta
from typing import Annotated
from urllib.parse import quote

import msgspec
from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import RedirectResponse

from tidegate.scheduler.model.records.session import Session
from tidegate.scheduler.model.records.token import TOKENS, Role, token_hash, token_with
from tidegate.server.access import (
    FORWARDED,
    HOST,
    Called,
    count,
    is_foreign,
    is_loopback,
    person_of,
    refuse_foreign_page,
)
from tidegate.server.board.page import SEE_OTHER, PageRoute, rendered
from tidegate.server.body import read_form
from tidegate.server.browser_session import COOKIE, KEPT_FOR, end_session, open_session
from tidegate.server.caller import unknown
from tidegate.server.contract import contract
from tidegate.server.issuer import Begun, Issuer
from tidegate.server.problem import Problem, unknown_value
from tidegate.server.service import Here, Service

pages = APIRouter(route_class=PageRoute, include_in_schema=False)
router = APIRouter(tags=["access"])

CALLBACK = "/auth/callback"
ON_THE_WAY = "tidegate_sign_in"
"""The cookie of a browser that is at the issuer."""

WAY_TAKES = timedelta(minutes=10)
FOUND = 302
PATH_CHARACTERS_MAX = 2_000
PRINTABLE = "!#$&'()*+,/:;=?@[]-._~ \""
"""What a header has as it is, beside letters and digits."""


@pages.get("/board/sign-in")
def sign_in_page(request: Request, service: Here, next: str = "/", out: bool = False) -> Response:
    """Show what a person can sign in with.

    Args:
        out: whether the person has just signed out here, and may want to do so at the issuer.
    """
    issuer: Issuer | None = request.app.state.issuer
    leaves = ""
    if out and issuer is not None:
        count(request, service, "")
        leaves = issuer.leaves()
    view = {"detail": "", "hint": "", "next": local(next), "leaves": leaves}
    return rendered(request, service.namespace, "sign_in", "Sign in", view, None)


@pages.post("/board/sign-in")
def sign_in(request: Request, service: Here, form: Annotated[dict[str, str], Depends(read_form)]) -> Response:
    """Open a session for a browser that shows a token.

    Raises:
        Problem: 401, the token is unknown or revoked; 403 for a page of another site; 429 for too many tries.
    """
    refuse_foreign_page(request)
    with service.store.reading() as reader:
        token = token_with(reader.records(TOKENS), token_hash(form.get("token", "").strip()))
    count(request, service, f"token {token.name}" if token else "")
    if token is None:
        raise unknown("the token is unknown or revoked")
    expires = service.clock() + KEPT_FOR
    session = Session(id="", token=token.hash, namespace=service.namespace, expires_at=expires)
    return _signed_in(request, service, session, form.get("next", "/"))


@pages.post("/board/sign-out")
def sign_out(request: Request, service: Here) -> Response:
    """End the session of a browser.

    Raises:
        Problem: 403 for a page of another site.
    """
    refuse_foreign_page(request)
    with service.store.transaction() as transaction:
        end_session(transaction, request.cookies.get(COOKIE))
    answer = RedirectResponse("/board/sign-in?out=true", SEE_OTHER)
    answer.delete_cookie(COOKIE)
    return answer


@pages.get("/auth/sign-in")
def begin(request: Request, service: Here, next: str = "/") -> Response:
    """Send a browser to the issuer.

    Raises:
        Problem: 404 without an issuer; 400 where the cookie would be read on its way; 503 if the issuer
            does not answer.
    """
    count(request, service, "")
    issuer = _issuer_of(request)
    if not _is_encrypted(request, service) and not is_loopback(request.url.hostname or ""):
        raise Problem(400, "people sign in over https only", hint="open this server by its https:// address")
    begun = Begun(next=local(next))
    answer = RedirectResponse(issuer.begin(begun, _callback(request, service)), FOUND)
    value = urlsafe_b64encode(msgspec.json.encode(begun)).decode()
    _set_cookie(answer, request, service, ON_THE_WAY, value, WAY_TAKES, CALLBACK)
    return answer


@pages.get(CALLBACK)
def finish(
    request: Request,
    service: Here,
    state: str = "",
    code: str = "",
    error: str = "",
    error_description: str = "",
) -> Response:
    """Open a session for the person with whom a browser comes back from the issuer.

    Raises:
        Problem: 400, this browser has not begun this sign-in; 401, the issuer says no, or its token is not
            valid; 403, no group of the person may come in; 503, the issuer does not answer.
    """
    count(request, service, "")
    issuer, begun = _issuer_of(request), _begun(request)
    if begun is None or not hmac.compare_digest(begun.state.encode(), state.encode()):
        raise Problem(
            400,
            "this sign-in was not begun in this browser at this address, or more than 10 minutes ago",
            hint="begin again",
        )
    if error or not code:
        detail = f"{error or 'no code'}: {error_description}".rstrip(": ")
        raise unknown(f"{issuer.host} has not signed you in: {detail:.200}")
    callback = _callback(request, service)
    session = issuer.finish(begun, callback, code, service.namespace, service.clock())
    caller = person_of(service, session)
    assert caller is not None, "the issuer of the settings has made it"
    caller.check_person()
    answer = _signed_in(request, service, session, begun.next)
    answer.delete_cookie(ON_THE_WAY, CALLBACK)
    return answer


@router.get("/auth/check", **contract(None, status=204, errors=(400, 403)))
def check(
    request: Request,
    caller: Called,
    role: Annotated[str, Query(description="that is needed: read, operate or admin")] = Role.READ,
    app: Annotated[str, Query(description="the only one that is behind the proxy; all without it")] = "",
) -> Response:
    """Say whether a browser may go on to what a proxy protects, such as Dagster's UI, and who it is.

    The answer has no body: `X-Tidegate-Person` is the person, or the token, and `X-Tidegate-Role` its
    highest role there. 401 for a caller who has not signed in; 403 for one who has less than the role, or
    has it for some apps only where all are shown, and for a page of another site.
    """
    if role not in list(Role):
        raise unknown_value("role", role, Role)
    if not caller.is_known:
        raise unknown("sign in, or send a token: Authorization: Bearer TOKEN")
    if is_foreign(request):
        raise Problem(403, "a page of another site may not pass here")
    caller.need(Role(role))
    if app:
        caller.check_app(app)
    else:
        caller.check_all_apps()
    held = [each for each in Role if (apps := caller.apps_with(each)) is None or app in apps]
    person = quote(caller.person or caller.name, safe=PRINTABLE)
    return Response(status_code=204, headers={"X-Tidegate-Person": person, "X-Tidegate-Role": held[-1]})


def _signed_in(request: Request, service: Service, session: Session, to: str) -> Response:
    """Open a session, and lead its browser to a page. Whatever session it had before ends."""
    with service.store.transaction() as transaction:
        value = open_session(transaction, session, request.cookies.get(COOKIE))
    answer = RedirectResponse(local(to), SEE_OTHER)
    _set_cookie(answer, request, service, COOKIE, value, session.expires_at - service.clock())
    return answer


def _set_cookie(
    answer: Response,
    request: Request,
    service: Service,
    name: str,
    value: str,
    kept: timedelta,
    path: str = "/",
) -> None:
    answer.set_cookie(
        name,
        value,
        max_age=int(kept.total_seconds()),
        path=path,
        httponly=True,
        samesite="lax",
        secure=_is_encrypted(request, service),
    )


def _issuer_of(request: Request) -> Issuer:
    found: Issuer | None = request.app.state.issuer
    if found is None:
        raise Problem(404, "people sign in with a token here", hint="[serve.oidc] names an issuer")
    return found


def _begun(request: Request) -> Begun | None:
    """Return the sign-in that this browser has begun."""
    try:
        return msgspec.json.decode(urlsafe_b64decode(request.cookies.get(ON_THE_WAY, "")), type=Begun)
    except ValueError:
        return None


def _callback(request: Request, service: Service) -> str:
    """Return the address that the issuer sends a browser back to, which its operator knows."""
    host = request.headers.get("host", "")
    if service.settings.serve_url:
        return f"{service.settings.serve_url}{CALLBACK}"
    if HOST.fullmatch(host) is None:
        raise Problem(400, "the Host header names no machine")
    return f"{'https' if _is_encrypted(request, service) else 'http'}://{host}{CALLBACK}"


def _is_encrypted(request: Request, service: Service) -> bool:
    """Return whether the browser's own connection is: to this server, or to the proxy before it.

    A proxy that does not say so is taken for one with TLS, as docs/security.md describes it.
    """
    if request.url.scheme == "https" or service.settings.serve_url.startswith("https://"):
        return True
    behind_proxy = any(name in request.headers for name in FORWARDED)
    return request.headers.get("x-forwarded-proto", "https" if behind_proxy else "http").lower() == "https"


def local(path: str) -> str:
    """Return a path of this server; the first page for anything else."""
    is_own = path.startswith("/") and not path.startswith("//") and "\\" not in path and path.isprintable()
    return path if is_own and len(path) <= PATH_CHARACTERS_MAX else "/"
