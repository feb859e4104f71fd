"""The issuer of OpenID Connect that people sign in with: the authorization code flow, with PKCE.

    begin  ──► discovery ──► address of the issuer's own page, with state, nonce and a verifier's challenge
    finish ──► code and verifier for an id token ──► its signature, iss, aud, exp and nonce ──► who it is

Discovery is read at each sign-in, so an issuer that is down is noticed here and not by the browser. Its keys
are kept for an hour, and read again at once for a token that names an unknown one.
"""

import os
import secrets
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from threading import Lock
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urlsplit

from msgspec import field

from tidegate.domain.error import UserError
from tidegate.domain.value import Value
from tidegate.domain.variables import shown_variable
from tidegate.domain.wording import shown
from tidegate.project.settings.sign_on import SignOn
from tidegate.scheduler.model.records.session import Session
from tidegate.server.problem import LOG, Problem

if TYPE_CHECKING:
    from joserfc.jwk import KeySet

KEYS_KEPT = timedelta(hours=1)
ANSWER_SECONDS = 10
VERIFIER_BYTES = 48

CHALLENGE_BITS = 256
"""Of the hash of the verifier, which the issuer gets first."""

SKEW_SECONDS = 60
"""How far ahead the issuer's clock may be. A token that has expired here is refused at once."""

TEXT_CHARACTERS_MAX = 255
"""Of a subject, as OpenID Connect has it, and of a name or an address."""

ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""Signatures that only the issuer can make: none of a shared secret, and never `none`."""

DISCOVERY = "/.well-known/openid-configuration"
ENDPOINTS = ("authorization_endpoint", "token_endpoint", "jwks_uri")
USER_INFO = "userinfo_endpoint"
END_SESSION = "end_session_endpoint"


class Begun(Value, kw_only=True):
    """A sign-in that has begun: what its browser keeps until it is back.

    Attributes:
        state: in the address that the issuer sends it back to.
        nonce: in the id token.
        verifier: what only the code's own browser has.
        next: the page here that it came from.
    """

    state: str = field(default_factory=secrets.token_urlsafe)
    nonce: str = field(default_factory=secrets.token_urlsafe)
    verifier: str = field(default_factory=lambda: secrets.token_urlsafe(VERIFIER_BYTES))
    next: str = "/"


class Issuer:
    """The issuer of a server. Any thread may call it."""

    def __init__(self, settings: SignOn) -> None:
        self.settings = settings
        self.host = urlsplit(settings.issuer).netloc
        self._lock = Lock()
        self._keys: tuple[datetime, KeySet] | None = None

    def begin(self, begun: Begun, callback: str) -> str:
        """Return the address at the issuer that a browser is sent to.

        Args:
            callback: the address here that it comes back to.

        Raises:
            Problem: 503, the issuer does not answer.
        """
        with self._client(callback) as client:
            endpoint = self._discovered(client)["authorization_endpoint"]
            url, _ = client.create_authorization_url(
                endpoint, state=begun.state, nonce=begun.nonce, code_verifier=begun.verifier
            )
        return url

    def finish(self, begun: Begun, callback: str, code: str, namespace: str, now: datetime) -> Session:
        """Return the session of the person for whom the issuer has given a code.

        Raises:
            Problem: 401, the code or the token is not valid; 503, the issuer does not answer.
        """
        with self._client(callback) as client:
            found = self._discovered(client)
            token = self._token(client, found, code, begun.verifier)
            claims = self._checked(client, found, token, begun.nonce, now)
            wanted = {self.settings.groups_claim, *({"email"} & {*self.settings.scopes})}
            if not wanted <= claims.keys() and USER_INFO in found:
                claims = {**self._user_info(client, found, claims["sub"]), **claims}
        return self._session(claims, namespace, now)

    def leaves(self) -> str:
        """Return the address at the issuer that ends its own session; "" if it has none or does not answer.

        It says which client asks and no more: an address to come back to would have to be registered there.
        """
        try:
            with self._client("") as client:
                found: Any = self._discovered(client).get(END_SESSION)
        except Problem:
            return ""
        if not self._is_usable(found):
            return ""
        return f"{found}{'&' if '?' in found else '?'}{urlencode({'client_id': self.settings.client_id})}"

    def _client(self, callback: str) -> Any:
        from authlib.integrations.requests_client import OAuth2Session

        try:
            secret = secret_of(self.settings)
        except UserError as error:
            LOG.error("%s", error)
            raise self._down("lacks its secret here") from error
        return OAuth2Session(
            self.settings.client_id,
            secret,
            scope=" ".join(self.settings.scopes),
            redirect_uri=callback,
            code_challenge_method=f"S{CHALLENGE_BITS}",
            default_timeout=ANSWER_SECONDS,
        )

    def _discovered(self, client: Any) -> Mapping[str, Any]:
        """Return the discovery document, whose addresses are of the issuer's own scheme or https."""
        found = self._read(client, f"{self.settings.issuer.rstrip('/')}{DISCOVERY}")
        said = found.get("issuer")
        if not isinstance(said, str) or said.rstrip("/") != self.settings.issuer.rstrip("/"):
            raise self._down(f"calls itself {shown(said)}")
        for name in (*ENDPOINTS, *({USER_INFO} & found.keys())):
            if not self._is_usable(found.get(name)):
                raise self._down(f"has no usable {name}")
        methods = found.get("token_endpoint_auth_methods_supported", ())
        if "client_secret_post" in methods and "client_secret_basic" not in methods:
            client.token_endpoint_auth_method = "client_secret_post"
        return found

    def _is_usable(self, url: Any) -> bool:
        """Return whether an address of the discovery document is of the issuer's own scheme, or https."""
        return urlsplit(str(url)).scheme in ("https", urlsplit(self.settings.issuer).scheme)

    def _token(self, client: Any, found: Mapping[str, Any], code: str, verifier: str) -> Any:
        from authlib.common.errors import AuthlibBaseError

        def fetch() -> Any:
            return client.fetch_token(
                found["token_endpoint"],
                grant_type="authorization_code",
                code=code,
                code_verifier=verifier,
                allow_redirects=False,
            )

        try:
            return self._answer(fetch)
        except AuthlibBaseError as error:
            LOG.warning("the issuer %s gives no token: %s", self.settings.issuer, error)
            said = f"{error.error}: {error.description or ''}".rstrip(": ")
            raise self._invalid(f"{self.host} gives no token for this sign-in: {said:.200}") from error

    def _checked(
        self,
        client: Any,
        found: Mapping[str, Any],
        token: Mapping[str, Any],
        nonce: str,
        now: datetime,
    ) -> dict[str, Any]:
        """Return the claims of the id token of an answer, which was signed by the issuer for this sign-in."""
        from authlib.oidc.core import CodeIDToken
        from joserfc import jwt
        from joserfc.errors import InvalidKeyIdError, JoseError

        text = str(token.get("id_token", ""))
        try:
            try:
                decoded = jwt.decode(text, self._keys_of(client, found, now), ALGORITHMS)
            except InvalidKeyIdError:
                decoded = jwt.decode(text, self._keys_of(client, found, now, again=True), ALGORITHMS)
            claims = CodeIDToken(
                decoded.claims,
                decoded.header,
                {
                    "iss": {"essential": True, "value": found["issuer"]},
                    "aud": {"essential": True, "value": self.settings.client_id},
                },
                {
                    "nonce": nonce,
                    "client_id": self.settings.client_id,
                    "access_token": token.get("access_token"),
                },
            )
            claims.validate(now.timestamp(), SKEW_SECONDS)
        except (JoseError, ValueError) as error:
            LOG.warning("an id token of %s is not valid: %s", self.settings.issuer, error)
            raise self._invalid(f"the id token of {self.host} is not valid: {error}") from error
        if claims["exp"] <= now.timestamp():
            raise self._invalid(f"the id token of {self.host} has expired")
        if not _text(claims, "sub"):
            raise self._invalid(f"the id token of {self.host} has no usable subject")
        return dict(claims)

    def _keys_of(
        self, client: Any, found: Mapping[str, Any], now: datetime, *, again: bool = False
    ) -> "KeySet":
        from joserfc.errors import JoseError
        from joserfc.jwk import KeySet

        with self._lock:
            if self._keys is None or again or not timedelta(0) <= now - self._keys[0] < KEYS_KEPT:
                keys: Any = self._read(client, found["jwks_uri"]).get("keys")
                try:
                    signing = [key for key in keys if key["kty"] != "oct" and key.get("use", "sig") == "sig"]
                    self._keys = now, KeySet.import_key_set({"keys": signing})
                except (JoseError, ValueError, KeyError, TypeError, AttributeError) as error:
                    raise self._down("has keys that cannot be read") from error
            return self._keys[1]

    def _user_info(self, client: Any, found: Mapping[str, Any], subject: str) -> dict[str, Any]:
        """Return what the issuer says of the person beside the id token."""
        said = self._read(client, found[USER_INFO], signed_in=True)
        if said.get("sub") != subject:
            raise self._invalid(f"{self.host} names another person than its id token")
        return said

    def _session(self, claims: Mapping[str, Any], namespace: str, now: datetime) -> Session:
        given = claims.get(self.settings.groups_claim)
        listed = given if isinstance(given, list) else [given]
        groups = {each for each in listed if isinstance(each, str)}
        # An address that the issuer has not checked may be another person's.
        email = "" if claims.get("email_verified") is False else _text(claims, "email")
        return Session(
            id="",
            issuer=self.settings.issuer,
            subject=claims["sub"],
            email=email,
            name=_text(claims, "name") or _text(claims, "preferred_username"),
            groups=tuple(sorted(groups & self.settings.grants.keys())),
            namespace=namespace,
            expires_at=now + self.settings.session,
        )

    def _read(self, client: Any, url: str, *, signed_in: bool = False) -> dict[str, Any]:
        def get() -> Any:
            answer = client.get(url, withhold_token=not signed_in, allow_redirects=False)
            answer.raise_for_status()
            return answer.json()

        found = self._answer(get)
        if not isinstance(found, dict):
            raise self._down(f"answers {urlsplit(url).path} with something else than a document")
        return found

    def _answer(self, ask: Callable[[], Any]) -> Any:
        from requests import RequestException

        try:
            return ask()
        except (RequestException, ValueError) as error:
            LOG.warning("the issuer %s does not answer: %s", self.settings.issuer, error)
            raise self._down("does not answer") from error

    def _down(self, what: str) -> Problem:
        return Problem(
            503,
            f"the sign-on {self.host} {what}; no person can sign in with it now",
            {"Retry-After": "30"},
            hint="who has signed in stays so, and a token signs in without it",
        )

    def _invalid(self, detail: str) -> Problem:
        return Problem(401, detail, {"WWW-Authenticate": "Bearer"}, hint="begin the sign-in again")


def secret_of(settings: SignOn) -> str:
    """Return the secret of the client.

    Raises:
        UserError: its variable is not set.
    """
    found = os.environ.get(settings.client_secret_env, "")
    if not found:
        raise UserError(
            f"the environment variable {shown_variable(settings.client_secret_env)} is not set, which"
            " serve.oidc.client_secret_env names",
            "set it to the secret of the client for the process of `tidegate serve`",
        )
    return found


def check_sign_on(settings: SignOn) -> None:
    """Check that a server has what it needs to let people sign in.

    Raises:
        UserError: the secret or the package is missing.
    """
    from importlib.util import find_spec

    if find_spec("authlib") is None:
        raise UserError(
            "[serve.oidc] needs the package authlib, which is not installed",
            'run `pip install "tidegate[oidc]"`',
        )
    secret_of(settings)


def _text(claims: Mapping[str, Any], name: str) -> str:
    """Return a text that the journal and a header can have; "" for any other value."""
    found = claims.get(name)
    if not isinstance(found, str) or not found.isprintable() or len(found) > TEXT_CHARACTERS_MAX:
        return ""
    return found.strip()
