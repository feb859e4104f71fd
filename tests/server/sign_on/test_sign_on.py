"""People sign in with an issuer: whom the server believes, where it leads them, and what ends it."""

from datetime import timedelta
from typing import Any, cast

import pytest
from joserfc.jwk import OctKey

from tests.server.serving import NS, Served, problem
from tests.server.sign_on.issuing import (
    HTML,
    KEY,
    OTHER_KEY,
    OWN,
    SECRET,
    SECRET_VARIABLE,
    FakeIssuer,
    begun,
    come_back,
    sessions,
    signed_in,
)
from tidegate.domain.error import UserError
from tidegate.scheduler.model.records.token import Role
from tidegate.server.access import check_start
from tidegate.server.browser_session import COOKIE

pytestmark = [pytest.mark.store]


def test_a_person_signs_in_by_code_pkce_state_and_nonce_and_comes_back_to_the_page(
    server: Served, issuer: FakeIssuer
):
    client = server.of()
    page = client.get("/board/jobs?state=failed", headers=HTML)
    assert page.status_code == 401
    assert 'href="/auth/sign-in?next=/board/jobs%3Fstate%3Dfailed"' in page.text and "password" in page.text
    sent = begun(client, "/board/jobs?state=failed")
    assert (
        sent.items()
        >= {
            "response_type": "code",
            "client_id": "tidegate",
            "scope": "openid groups",
            "redirect_uri": "http://127.0.0.1:8080/auth/callback",
            "code_challenge_method": "S" + "256",
        }.items()
    )
    issuer.claims = {"nonce": sent["nonce"], "groups": ["ops"]}
    query = {"state": sent["state"], "code": "the code"}
    answer = client.get("/auth/callback", params=query, follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/board/jobs?state=failed")
    cookie = next(each for each in answer.headers.get_list("set-cookie") if each.startswith(COOKIE))
    assert "HttpOnly" in cookie and "SameSite=lax" in cookie and f"Max-Age={8 * 3600}" in cookie
    assert issuer.form["code"] == ["the code"] and issuer.form["code_verifier"]
    assert issuer.form["redirect_uri"] == ["http://127.0.0.1:8080/auth/callback"]
    assert issuer.form["authorization"][0].startswith("Basic ")
    assert client.get("/board/jobs", headers=HTML).status_code == 200
    again = client.get("/auth/callback", params=query)
    assert again.status_code == 400, "an answer counts once"


def test_without_a_session_or_token_all_is_closed_even_on_this_machine(server: Served):
    problem(server.client.get(f"{NS}/apps"), 401)
    problem(server.client.get("/auth/check"), 401)
    assert server.of(server.token(Role.READ)).get(f"{NS}/apps").status_code == 200


@pytest.mark.parametrize(
    "claims",
    [
        {"nonce": "of another sign-in"},
        {"nonce": None},
        {"aud": "another client"},
        {"aud": ["tidegate", "another"]},
        {"aud": None},
        {"iss": "https://evil.example"},
        {"exp": 1_700_000_000},
        {"exp": None},
        {"sub": ""},
        {"sub": "ann\nrest:admin"},
        {"sub": "a" * 256},
        {"sub": None},
    ],
    ids=str,
)
def test_an_id_token_that_is_not_for_this_sign_in_signs_nobody_in(
    server: Served, issuer: FakeIssuer, claims: dict[str, Any]
):
    client = server.of()
    problem(come_back(client, issuer, groups=["ops"], **claims), 401)
    assert sessions(server) == 0 and COOKIE not in client.cookies


def test_a_token_that_has_just_expired_counts_no_more(server: Served, issuer: FakeIssuer):
    client, now = server.of(), int(server.now.timestamp())
    problem(come_back(client, issuer, groups=["ops"], exp=now - 1), 401)
    assert come_back(client, issuer, groups=["ops"], iat=now + 30).status_code == 303, "clocks differ"


def test_a_signature_counts_of_the_keys_of_the_issuer_only(server: Served, issuer: FakeIssuer):
    client = server.of()
    issuer.signing = OTHER_KEY
    problem(come_back(client, issuer, groups=["ops"]), 401)
    issuer.header = {"kid": KEY.kid}
    problem(come_back(client, issuer, groups=["ops"]), 401)
    issuer.signing, issuer.header = KEY, {}
    whole = come_back(client, issuer, groups=["ops"])
    assert whole.status_code == 303
    sent = begun(client)
    issuer.claims = {"nonce": sent["nonce"], "groups": ["ops"]}
    head, body, _ = issuer.signed().split(".")
    none = "eyJhbGciOiJub25lIn0"  # {"alg":"none"}
    for forged in (f"{none}.{body}.", f"{head}.{body}.", "", "a.b.c", f"{head}.{body}.AAAA"):
        issuer.id_token = forged or "x"
        problem(client.get("/auth/callback", params={"state": sent["state"], "code": "c"}), 401)
    issuer.id_token = ""
    issuer.signing, issuer.header = cast(Any, OctKey.import_key(SECRET)), {"alg": "HS256", "kid": KEY.kid}
    problem(client.get("/auth/callback", params={"state": sent["state"], "code": "c"}), 401)


def test_keys_are_kept_for_an_hour_and_read_once_more_for_an_unknown_one(server: Served, issuer: FakeIssuer):
    client = server.of()
    for _ in range(2):
        come_back(client, issuer, groups=["ops"])
    assert issuer.asked.count("/jwks") == 1
    issuer.keys, issuer.signing = [KEY, OTHER_KEY], OTHER_KEY
    assert come_back(client, issuer, groups=["ops"]).status_code == 303
    assert issuer.asked.count("/jwks") == 2
    issuer.keys = [KEY]
    assert come_back(client, issuer, groups=["ops"]).status_code == 303, "a key that is gone, within the hour"
    server.now += timedelta(hours=1)
    problem(come_back(client, issuer, groups=["ops"], exp=int(server.now.timestamp()) + 60), 401)


def test_a_sign_in_ends_in_the_browser_that_has_begun_it(server: Served, issuer: FakeIssuer):
    attacker, victim = server.of(), server.of()
    sent = begun(attacker)
    issuer.claims = {"nonce": sent["nonce"], "groups": ["ops"]}
    link = {"state": sent["state"], "code": "c"}
    problem(victim.get("/auth/callback", params=link), 400)
    begun(victim)
    problem(victim.get("/auth/callback", params=link), 400)
    problem(victim.get("/auth/callback", params={"code": "c"}), 400)
    victim.cookies.set("tidegate_sign_in", "bm90IGpzb24=", path="/auth/callback")
    problem(victim.get("/auth/callback", params=link), 400)
    assert sessions(server) == 0


def test_what_the_issuer_refuses_is_said_on_the_page_that_signs_in(server: Served):
    client = server.of()
    sent = begun(client)
    said = {"error": "access_denied", "error_description": "<b>not you</b>", "state": sent["state"]}
    page = client.get("/auth/callback", params=said, headers=HTML)
    assert page.status_code == 401
    assert "access_denied: &lt;b&gt;not you&lt;/b&gt;" in page.text and "/auth/sign-in" in page.text


def test_a_session_has_a_new_id_at_each_sign_in(server: Served, issuer: FakeIssuer):
    client = server.of()
    client.cookies.set(COOKIE, "chosen by another")
    come_back(client, issuer, groups=["ops"])
    first = client.cookies.get(COOKIE, domain="127.0.0.1") or client.cookies[COOKIE]
    assert first != "chosen by another"
    come_back(client, issuer, groups=["ops"])
    assert sessions(server) == 1, "the one before has ended"


@pytest.mark.parametrize(
    "to", ["//evil.example", "https://evil.example", "/\\evil.example", "/\t/evil.example"]
)
def test_a_sign_in_leads_to_no_other_site(server: Served, issuer: FakeIssuer, to: str):
    answer = come_back(server.of(), issuer, to, groups=["ops"])
    assert (answer.status_code, answer.headers["location"]) == (303, "/")


def test_an_issuer_that_is_down_is_said_and_who_is_in_stays(server: Served, issuer: FakeIssuer):
    client = signed_in(server, issuer, "ops")
    sent = begun(client)
    issuer.is_down = True
    assert client.get("/", headers=HTML).status_code == 200
    page = client.get("/auth/sign-in", headers=HTML)
    assert page.status_code == 503 and "does not answer" in page.text and "password" in page.text
    problem(client.get("/auth/callback", params={"state": sent["state"], "code": "c"}), 503)
    assert client.get("/", headers=HTML).status_code == 200


@pytest.mark.parametrize(
    "said",
    [
        {"issuer": "https://evil.example"},
        {"token_endpoint": "ftp://a/b"},
        {"jwks_uri": None},
        {"authorization_endpoint": "javascript:alert(1)"},
    ],
    ids=str,
)
def test_a_document_of_another_issuer_is_refused(server: Served, issuer: FakeIssuer, said: dict[str, Any]):
    issuer.said = said
    problem(server.of().get("/auth/sign-in"), 503)


def test_a_session_ends_by_signing_out_by_time_and_by_the_settings(server: Served, issuer: FakeIssuer):
    client = signed_in(server, issuer, "ops")
    copy = server.of()
    copy.cookies.set(COOKIE, client.cookies[COOKIE])
    assert client.post("/board/sign-out", headers=OWN, follow_redirects=False).status_code == 303
    problem(copy.get(f"{NS}/apps"), 401)
    client = signed_in(server, issuer, "ops")
    server.now += timedelta(hours=8)
    problem(client.get(f"{NS}/apps"), 401)


@pytest.mark.parametrize(
    ("at", "leads"),
    [
        ("https://id.example.com/end", "https://id.example.com/end?client_id=tidegate"),
        ("https://id.example.com/end?a=b", "https://id.example.com/end?a=b&amp;client_id=tidegate"),
        (None, ""),
        ("javascript:alert(1)", ""),
    ],
    ids=str,
)
def test_who_has_signed_out_may_end_the_session_of_the_issuer_too(
    server: Served, issuer: FakeIssuer, at: str | None, leads: str
):
    client = signed_in(server, issuer, "ops")
    issuer.said = {} if at is None else {"end_session_endpoint": at}
    page = client.post("/board/sign-out", headers={**OWN, **HTML}, follow_redirects=True)
    assert page.status_code == 200 and "Sign in with" in page.text
    assert (f'href="{leads}">Sign out of' in page.text) if leads else ("Sign out of" not in page.text)
    issuer.is_down = True
    page = client.get("/board/sign-in", params={"out": "true"}, headers=HTML)
    assert page.status_code == 200 and "Sign out of" not in page.text


def test_the_page_that_signs_in_has_the_issuer_first_then_the_token(server: Served, issuer: FakeIssuer):
    page = server.of().get("/board/jobs", headers=HTML).text
    assert 0 < page.index("Sign in with 127.0.0.1") < page.index("Or with a token") < page.index("password")
    client = signed_in(server, issuer, "ops", name="<Ann>")
    assert "Signed in as <b>&lt;Ann&gt;</b>" in client.get("/board/jobs", headers=HTML).text


def test_people_sign_in_over_https_but_on_this_machine(server: Served, issuer: FakeIssuer):
    client = server.of(host="tidegate.example.com")
    problem(client.get("/auth/sign-in"), 400)
    client.headers["X-Forwarded-Proto"] = "https"
    answer = client.get("/auth/sign-in", follow_redirects=False)
    assert "Secure" in answer.headers["set-cookie"]
    assert "redirect_uri=https%3A%2F%2Ftidegate.example.com%2Fauth%2Fcallback" in answer.headers["location"]


def test_a_server_does_not_start_without_the_secret(server: Served, monkeypatch: pytest.MonkeyPatch):
    assert check_start(server.service)
    monkeypatch.delenv(SECRET_VARIABLE)
    with pytest.raises(UserError, match=SECRET_VARIABLE):
        check_start(server.service)
    problem(server.of().get("/auth/sign-in"), 503)
