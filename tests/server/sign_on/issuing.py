"""An issuer of OpenID Connect on this machine that says whatever a test wants, also what no real one does."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from time import time
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
from joserfc import jwt
from joserfc.jwk import RSAKey

from tests.server.serving import Served
from tidegate.scheduler.model.records.session import SESSIONS

SECRET_VARIABLE = "TIDEGATE_TEST_SSO"
SECRET = "the secret of the client"

OWN = {"Origin": "http://127.0.0.1:8080"}
HTML = {"Accept": "text/html"}

KEY, OTHER_KEY = (RSAKey.generate_key(2048, auto_kid=True) for _ in range(2))
"""To make one takes a tenth of a second."""


class FakeIssuer:
    """See the module.

    Attributes:
        claims: that its next id token has beside those of a good one; None leaves one out.
        header: of its next id token.
        keys: those that it shows.
        signing: that it signs with.
        asked: the paths that were asked, and of the token endpoint the form.
        user_info: what it says beside the id token.
        said: what its discovery document has beside that of a good one.
        id_token: its next one, as it is; made from the others if it is "".
        is_down: it answers nothing of use.
    """

    def __init__(self, address: str) -> None:
        self.address = address
        self.claims: dict[str, Any] = {}
        self.header: dict[str, Any] = {}
        self.keys, self.signing = [KEY], KEY
        self.asked: list[str] = []
        self.form: dict[str, list[str]] = {}
        self.user_info: dict[str, Any] = {}
        self.said: dict[str, Any] = {}
        self.id_token = ""
        self.is_down = False

    def answer(self, path: str) -> Any:
        """What it answers to a path."""
        self.asked.append(path)
        if self.is_down:
            return None
        match path:
            case "/.well-known/openid-configuration":
                names = {"authorization_endpoint": "authorize", "token_endpoint": "token", "jwks_uri": "jwks"}
                places = {name: f"{self.address}/{to}" for name, to in names.items()}
                more = {"userinfo_endpoint": f"{self.address}/userinfo"} if self.user_info else {}
                return {"issuer": self.address, **places, **more, **self.said}
            case "/jwks":
                return {"keys": [key.as_dict(private=False) for key in self.keys]}
            case "/token":
                return {
                    "access_token": "a",
                    "token_type": "Bearer",
                    "id_token": self.id_token or self.signed(),
                }
            case "/userinfo":
                return self.user_info
            case _:
                return None

    def signed(self) -> str:
        """The id token of a person."""
        now = int(time())
        good = {"iss": self.address, "aud": "tidegate", "sub": "ann", "iat": now, "exp": now + 60}
        claims = {name: value for name, value in {**good, **self.claims}.items() if value is not None}
        header = {"alg": "RS256", "kid": self.signing.kid, **self.header}
        return jwt.encode(header, claims, self.signing)


@contextmanager
def issuing() -> Iterator[FakeIssuer]:
    """A fake issuer that answers."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._say(issuer.answer(urlsplit(self.path).path))

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            issuer.form = parse_qs(body) | {"authorization": [self.headers.get("Authorization", "")]}
            self._say(issuer.answer(self.path))

        def _say(self, value: Any) -> None:
            self.send_response(200 if value is not None else 404)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(json.dumps(value).encode())

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    issuer = FakeIssuer(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield issuer
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def settings_of(issuer: str, *grants: str, more: str = "") -> str:
    """The settings with an issuer and with grants such as `group = "ops", role = "admin"`."""
    each = [f"{{ {grant} }}" for grant in grants]
    return (
        f'[serve.oidc]\nissuer = "{issuer}"\nclient_id = "tidegate"\n'
        f'client_secret_env = "{SECRET_VARIABLE}"\ngrants = [{", ".join(each)}]\n{more}'
    )


def begun(client: httpx.Client, to: str = "/") -> dict[str, str]:
    """Begin a sign-in, and return what the issuer is sent."""
    answer = client.get("/auth/sign-in", params={"next": to}, follow_redirects=False)
    assert answer.status_code == 302, answer.text
    return {name: values[0] for name, values in parse_qs(urlsplit(answer.headers["location"]).query).items()}


def come_back(client: httpx.Client, issuer: FakeIssuer, to: str = "/", **claims: Any) -> httpx.Response:
    """Sign a person in with some claims, and return the last answer."""
    sent = begun(client, to)
    issuer.claims = {"nonce": sent["nonce"], **claims}
    query = {"state": sent["state"], "code": "c"}
    return client.get("/auth/callback", params=query, follow_redirects=False)


def signed_in(server: Served, issuer: FakeIssuer, *groups: str, **claims: Any) -> Any:
    """The client of a person of some groups."""
    client = server.of()
    answer = come_back(client, issuer, groups=list(groups), **claims)
    assert answer.status_code == 303, answer.text
    return client


def sessions(server: Served) -> int:
    with server.store.reading() as reader:
        return len(reader.records(SESSIONS))
