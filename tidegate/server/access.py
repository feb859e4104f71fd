"""Access: who calls, and whether the call is allowed.

    a token in the store   ──► `Authorization: Bearer …` or the cookie of a browser that has signed in is
                               needed: 401 without one, 403 if it allows less
    no token in the store  ──► `[serve] anonymous` says what is allowed, from this machine only: everything
                               to the user who runs the server and to read to others, to read, or nothing
                               (401)

Without tokens a page of another site, opened in a browser on this machine, must not reach the server: the
`Host` has to be a name of this machine, no proxy may be between, and a write of another origin is refused
always.
"""

import hmac
import ipaddress
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

from tidegate.scheduler.model.journal import By
from tidegate.scheduler.model.records.token import TOKENS, Role, Token, token_hash
from tidegate.server.browser_session import find_token
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

COOKIE = "tidegate_session"
"""The cookie of a browser that has signed in to the board."""

ACTOR = "rest"


@dataclass(frozen=True)
class Caller:
    """Who calls.

    Attributes:
        token: None where no token is needed.
        user: the user of this machine, where that is known and there is no token.
        refusal: why it may only read; empty for a caller that may write as well.
    """

    token: Token | None
    user: str = ""
    refusal: str = ""

    @property
    def app(self) -> str | None:
        """The only app that the caller may see and change; None for all."""
        return None if self.token is None else self.token.app

    @property
    def name(self) -> str:
        """The actor in the journal."""
        if self.token is not None:
            return f"{ACTOR}:{self.token.name}"
        return f"{ACTOR} (user {self.user})" if self.user else ACTOR

    def by(self, reason: str = "") -> By:
        """Return the actor with a reason."""
        return By(actor=self.name, reason=reason)

    def check(self, role: Role) -> None:
        """Refuse a call that needs more than the caller's role.

        Raises:
            Problem: 403; 401 without a token where that is only enough to read.
        """
        if self.refusal and role is not Role.READ:
            raise _unknown(self.refusal)
        if self.token is not None and not self.token.role.includes(role):
            raise Problem(403, f"this needs a token of the role {role}, and yours has {self.token.role}")

    def check_app(self, app: str) -> None:
        """Refuse a call about another app than that of the caller's token.

        Raises:
            Problem: 403.
        """
        if self.app not in (None, app):
            raise Problem(403, f"your token is for the app {self.app} only")

    def check_all_apps(self) -> None:
        """Refuse a call that concerns all apps to a token for one.

        Raises:
            Problem: 403.
        """
        if self.app is not None:
            raise Problem(403, f"your token is for the app {self.app} only, and this concerns all apps")

    def sees(self, app: str) -> bool:
        """Return whether lists show an app to the caller."""
        return self.app in (None, app)


def caller_of(request: Request, service: Here) -> Caller:
    """Find out who calls.

    Raises:
        Problem: 401 without a valid token where one is needed, 403 for a page of another site, 429 for too
            many requests.
    """
    refuse_foreign_page(request)
    with service.store.reading() as reader:
        tokens = reader.records(TOKENS)
    secret, session = _secret(request), _session(request)
    token = None
    if secret is not None:
        token = token_of(tokens, secret)
    elif session is not None:
        token = find_token(tokens, session, service.clock())
    count(request, service, token)
    if secret is None and session is None:
        if tokens or not service.loopback or not _is_local(request):
            raise _unknown("a token is needed: Authorization: Bearer TOKEN")
        if service.settings.anonymous == "none":
            raise _unknown("a token is needed ([serve] anonymous), and the store has none yet")
        if service.settings.anonymous == "read":
            return Caller(None, refusal="without a token this server may only be read ([serve] anonymous)")
        return _without_token(request)
    if token is None:
        raise _unknown(
            "the token is unknown or revoked" if session is None else "sign in again: the session is over"
        )
    if token.namespace not in (None, service.namespace):
        raise Problem(
            403,
            f'your token is for the namespace "{token.namespace}" only, and this is "{service.namespace}"',
        )
    return Caller(token)


def _without_token(request: Request) -> Caller:
    """Return a caller of this machine, who may write if it is the user who runs the server."""
    find: Callable[[Request], Peer] | None = request.app.state.peer
    if find is None or request.method in SAFE:
        return Caller(None)
    peer = find(request)
    if peer.is_trusted:
        return Caller(None, user=peer.name)
    others = f"the user {peer.name}" if peer.name else "a caller who is gone already"
    return Caller(
        None,
        refusal=f"without a token only the user who runs this server may change anything, not {others}:"
        " `tidegate token create` makes one",
    )


def count(request: Request, service: Service, token: Token | None) -> None:
    """Count a request in the rate of its token; one without a valid token in that of its address.

    Raises:
        Problem: 429.
    """
    host = "" if request.client is None else request.client.host
    key = f"address {host}" if token is None else f"token {token.name}"
    limit: RateLimit = request.app.state.limit
    pause = limit.count(key, service.clock())
    if pause is not None:
        seconds = max(1, math.ceil(pause.total_seconds()))
        raise Problem(
            429,
            f"more than {limit.per_minute:,} requests a minute; go on in {seconds} s",
            {"Retry-After": str(seconds)},
            hint="`requests_per_minute` of [serve] in tidegate.toml is the limit",
        )


def token_of(tokens: Sequence[Token], secret: str) -> Token | None:
    """Return the token with this secret, unless it is revoked."""
    hashed = token_hash(secret)
    for token in tokens:
        if hmac.compare_digest(token.hash, hashed) and token.revoked_at is None:
            return token
    return None


def _session(request: Request) -> str | None:
    """Return the session of a browser; only for reads, and for writes of the server's pages."""
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
        raise _unknown("the Authorization header must be: Bearer TOKEN")
    return secret.strip()


Called = Annotated[Caller, Depends(caller_of)]
"""The caller, as a parameter of a route."""


def needs(role: Role) -> Callable[[Request, Caller], None]:
    """Return the dependency of routes that need a role; an `{app}` in the path must be the caller's."""

    def check(request: Request, caller: Called) -> None:
        caller.check(role)
        app = request.path_params.get("app")
        if app is not None:
            caller.check_app(app)

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
    """Return whether a token is needed, when a server starts."""
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
    if request.method in SAFE:
        return
    origin, host = request.headers.get("origin"), request.headers.get("host", "")
    foreign = origin is not None and origin.lower().partition("://")[2] != host.lower()
    # Browsers say this of a page even where one in between has removed its origin.
    if foreign or request.headers.get("sec-fetch-site") == "cross-site":
        raise Problem(403, "a page of another site may not change anything here")


def _unknown(detail: str) -> Problem:
    return Problem(401, detail, {"WWW-Authenticate": "Bearer"})
