"""Access: who calls, and whether the call is allowed.

    a token in the store,  ──► `Authorization: Bearer …` or the cookie of a browser that has signed in is
    or `[serve.oidc]`          needed: 401 without one, 403 if it allows less
    no token in the store  ──► `[serve] anonymous` says what is allowed, from this machine only: everything
                               to the user who runs the server and to read to others, to read, or nothing
                               (401)

Without tokens a page of another site, opened in a browser on this machine, must not reach the server: the
`Host` has to be a name of this machine, no proxy may be between, and a write of another origin is refused
always.
"""

import ipaddress
import math
import re
from collections.abc import Callable
from typing import Annotated

from fastapi import Depends, Request

from tidegate.scheduler.model.records.session import Session
from tidegate.scheduler.model.records.token import TOKENS, Grant, Role, token_hash, token_with
from tidegate.server.browser_session import COOKIE, find_session
from tidegate.server.caller import Caller, unknown
from tidegate.server.issuer import check_sign_on
from tidegate.server.peer import Peer
from tidegate.server.problem import Problem, foreign_namespace
from tidegate.server.rate_limit import RateLimit
from tidegate.server.service import Here, Service

SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
"""Methods that change nothing."""

FORWARDED = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip")
"""Headers of a proxy."""

HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[0-9A-Za-z.-]+)(?::[0-9]*)?")
"""A `Host` header: a name or an address, and perhaps a port."""

ACTOR = "rest"


def caller_of(request: Request, service: Here) -> Caller:
    """Find out who calls.

    Raises:
        Problem: 401 without a valid token where one is needed, 403 for a page of another site, 429 for too
            many requests.
    """
    refuse_foreign_page(request)
    secret, cookie, now = _secret(request), _cookie(request), service.clock()
    with service.store.reading() as reader:
        tokens = reader.records(TOKENS)
        session = None if cookie is None else find_session(reader, cookie, service.namespace, now)
    token = None
    if secret is not None:
        token = token_with(tokens, token_hash(secret))
    elif session is not None:
        token = token_with(tokens, session.token)
    person = None if session is None else person_of(service, session)
    count(request, service, f"token {token.name}" if token else person.name if person else "")
    if person is not None:
        person.check_person()
        return person
    if secret is None and cookie is None:
        return _anonymous(request, service, has_tokens=bool(tokens))
    if token is None:
        raise unknown(
            "the token is unknown or revoked" if cookie is None else "sign in again: the session is over"
        )
    if token.namespace not in (None, service.namespace):
        raise Problem(
            403,
            f'your token is for the namespace "{token.namespace}" only, and this is "{service.namespace}"',
        )
    return Caller(f"{ACTOR}:{token.name}", (Grant(role=token.role, app=token.app),))


def person_of(service: Service, session: Session) -> Caller | None:
    """Return the person of a session, while the settings have the issuer that knows the person."""
    sign_on = service.settings.sign_on
    if not session.subject or sign_on is None or session.issuer != sign_on.issuer:
        return None
    return Caller(session.actor, sign_on.grants_of(session.groups), person=session.person)


def _anonymous(request: Request, service: Service, *, has_tokens: bool) -> Caller:
    """Return a caller without a token and without a session.

    Raises:
        Problem: 401 where one of them is needed.
    """
    if service.settings.sign_on is not None:
        raise unknown("sign in, or send a token: Authorization: Bearer TOKEN")
    if has_tokens or not service.loopback or not _is_local(request):
        raise unknown("a token is needed: Authorization: Bearer TOKEN")
    if service.settings.anonymous == "none":
        raise unknown("a token is needed ([serve] anonymous), and the store has none yet")
    if service.settings.anonymous == "read":
        return Caller(
            ACTOR,
            is_known=False,
            refusal="without a token this server may only be read ([serve] anonymous)",
        )
    return _without_token(request)


def _without_token(request: Request) -> Caller:
    """Return a caller of this machine, who may write if it is the user who runs the server."""
    find: Callable[[Request], Peer] | None = request.app.state.peer
    if find is None or request.method in SAFE:
        return Caller(ACTOR, is_known=False)
    peer = find(request)
    if peer.is_trusted:
        return Caller(f"{ACTOR} (user {peer.name})", is_known=False)
    others = f"the user {peer.name}" if peer.name else "a caller who is gone already"
    return Caller(
        ACTOR,
        is_known=False,
        refusal=f"without a token only the user who runs this server may change anything, not {others}:"
        " `tidegate token create` makes one",
    )


def count(request: Request, service: Service, who: str) -> None:
    """Count a request in the rate of its caller; one whose caller is not known in that of its address.

    Raises:
        Problem: 429.
    """
    host = "" if request.client is None else request.client.host
    limit: RateLimit = request.app.state.limit
    pause = limit.count(who or f"address {host}", service.clock())
    if pause is not None:
        seconds = max(1, math.ceil(pause.total_seconds()))
        raise Problem(
            429,
            f"more than {limit.per_minute:,} requests a minute; go on in {seconds} s",
            {"Retry-After": str(seconds)},
            hint="`requests_per_minute` of [serve] in tidegate.toml is the limit",
        )


def _cookie(request: Request) -> str | None:
    """Return the cookie of a browser; only for reads, and for writes of the server's pages."""
    if request.headers.get("authorization") is not None:
        return None
    if request.method not in SAFE and request.headers.get("origin") is None:
        return None
    return request.cookies.get(COOKIE)


def _secret(request: Request) -> str | None:
    given = request.headers.get("authorization")
    if given is None:
        return None
    scheme, _, secret = given.partition(" ")
    if scheme.lower() != "bearer" or not secret.strip():
        raise unknown("the Authorization header must be: Bearer TOKEN")
    return secret.strip()


Called = Annotated[Caller, Depends(caller_of)]
"""The caller, as a parameter of a route."""


def needs(role: Role) -> Callable[[Request, Caller], None]:
    """Return the dependency of routes that need a role; an `{app}` in the path must be the caller's."""

    def check(request: Request, caller: Called) -> None:
        request.state.caller = caller  # for what each page shows around its content
        caller.need(role, request.path_params.get("app"))

    return check


READ = Depends(needs(Role.READ))
OPERATE = Depends(needs(Role.OPERATE))
ADMIN = Depends(needs(Role.ADMIN))


def known_namespace(ns: str, service: Here, _caller: Called) -> None:
    """Refuse the namespace of another project.

    Raises:
        Problem: 404.
    """
    foreign = foreign_namespace(ns, service.namespace)
    if foreign is not None:
        raise foreign


def check_start(service: Service) -> bool:
    """Return whether callers have to say who they are, when a server starts.

    Raises:
        UserError: it lacks what it needs to let people sign in.
    """
    if service.settings.sign_on is not None:
        check_sign_on(service.settings.sign_on)
        return True
    with service.store.reading() as reader:
        return bool(reader.records(TOKENS))


def is_loopback(host: str) -> bool:
    """Return whether a host name or address is of this machine only."""
    if host.lower().rstrip(".") == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]").partition("%")[0]).is_loopback
    except ValueError:
        return False


def _is_local(request: Request) -> bool:
    client = request.client
    if client is None or not is_loopback(client.host):
        return False
    if any(name in request.headers for name in FORWARDED):
        return False
    return all(_names_this_machine(each) for each in request.headers.getlist("host"))


def _names_this_machine(host: str) -> bool:
    """Return whether a `Host` is of this machine; `request.url` would take a malformed one for ours."""
    found = HOST.fullmatch(host)
    return found is not None and is_loopback(found[1])


def refuse_foreign_page(request: Request) -> None:
    """Refuse a write of a page that is not this server's.

    Raises:
        Problem: 403.
    """
    # Browsers say this of a page even where one in between has removed its origin.
    crosses = request.headers.get("sec-fetch-site") == "cross-site"
    if request.method not in SAFE and (is_foreign(request) or crosses):
        raise Problem(403, "a page of another site may not change anything here")


def is_foreign(request: Request) -> bool:
    """Return whether a request says that a page of another origin has made it."""
    origin, host = request.headers.get("origin"), request.headers.get("host", "")
    return origin is not None and origin.lower().partition("://")[2] != host.lower()
