"""Who sees what of the board, and who may press its buttons."""

from datetime import timedelta
from typing import cast

import httpx
import msgspec
import pytest
from fastapi import FastAPI

from tests.server.board.board import DAYS, HTML, job_of
from tests.server.serving import Served, problem
from tidegate.scheduler.model.keep import Keep
from tidegate.scheduler.model.records.session import SESSIONS
from tidegate.scheduler.model.records.token import TOKENS, Role, token_hash
from tidegate.scheduler.retention.prune import prune
from tidegate.server.browser_session import COOKIE, KEPT_FOR
from tidegate.server.rate_limit import RateLimit

pytestmark = [pytest.mark.store]


def test_a_browser_signs_in_with_a_token_and_out(board: Served):
    secret = board.token(Role.OPERATE, name="secret-of-a-person")
    client = board.of()
    assert client.get("/").status_code == 401
    form = client.get("/", headers=HTML)
    assert (form.status_code, "password" in form.text) == (401, True)
    own = {"Origin": "http://127.0.0.1:8080"}
    wrong = client.post("/board/sign-in", data={"token": "wrong"}, headers={**own, **HTML})
    assert wrong.status_code == 401
    answer = client.post(
        "/board/sign-in", data={"token": secret, "next": "/board/jobs"}, headers=own, follow_redirects=False
    )
    assert (answer.status_code, answer.headers["location"]) == (303, "/board/jobs")
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=lax" in cookie and "Secure" not in cookie
    assert secret not in cookie and token_hash(secret) not in cookie
    assert client.get("/").status_code == 200
    path = "/board/schedules/sales/each_day/suspend"
    assert client.post(path, data={}, headers=own, follow_redirects=False).status_code == 303
    assert client.post("/board/sign-out", headers=own, follow_redirects=False).status_code == 303
    assert client.get("/").status_code == 401


def test_each_page_says_who_has_signed_in_with_the_way_out_beside_it(board: Served):
    client = board.of()
    signed_in(board, client, board.token(Role.READ, name="night_shift"))
    refused = client.get("/board/schedules/sales/each_day/suspend", headers=HTML)
    for page in (client.get("/", headers=HTML), client.get("/board/jobs", headers=HTML), refused):
        assert "Signed in as <b>token night_shift</b>" in page.text
        assert page.text.count('action="/board/sign-out"') == 2, "in the navigation, and at a narrow foot"
    assert "Signed in as" not in board.of().get("/", headers=HTML).text


def test_without_an_issuer_the_token_is_the_only_way_in(board: Served):
    board.token(Role.READ)
    form = board.of().get("/board/jobs", headers=HTML).text
    assert "Sign in to open this page." in form and "Authorization" not in form
    assert "Token <input" in form
    assert "Sign in with" not in form and "Or with a token" not in form


def signed_in(board: Served, client: httpx.Client, secret: str, **headers: str) -> httpx.Response:
    return client.post("/board/sign-in", data={"token": secret}, headers=headers, follow_redirects=False)


def test_a_session_is_no_token_and_ends_with_its_token(board: Served):
    client = board.of()
    signed_in(board, client, board.token(Role.READ))
    (value,) = client.cookies.values()
    assert client.get("/").status_code == 200
    assert board.of(value).get("/").status_code == 401, "no call takes it as a token"
    with board.store.transaction() as transaction:
        (token,) = transaction.records(TOKENS)
        transaction.put_records(TOKENS, [msgspec.structs.replace(token, revoked_at=token.created_at)])
    assert client.get("/").status_code == 401


def test_the_store_has_the_hash_of_a_cookie_which_signs_in_nowhere(board: Served):
    client = board.of()
    signed_in(board, client, board.token(Role.READ))
    (value,) = client.cookies.values()
    with board.store.reading() as reader:
        (session,) = reader.records(SESSIONS)
    assert session.id == token_hash(value)
    for other in (session.id, session.token, value + "x", "~", "a" * 5000):
        forged = board.of()
        forged.cookies.set(COOKIE, other)
        assert forged.get("/").status_code == 401


def test_a_session_is_over_after_twelve_hours_and_goes_with_what_is_old(server: Served):
    client = server.of()
    signed_in(server, client, server.token(Role.READ))
    server.pass_time(KEPT_FOR - timedelta(seconds=1))
    assert client.get("/").status_code == 200
    prune(server.service.store, Keep(), server.now)
    assert client.get("/").status_code == 200
    server.pass_time(timedelta(seconds=1))
    assert client.get("/").status_code == 401
    server.pass_time(timedelta(hours=1))
    prune(server.service.store, Keep(), server.now)
    with server.store.reading() as reader:
        assert reader.records(SESSIONS) == ()


def test_signing_in_again_and_out_end_the_session_that_was(board: Served):
    client, other, secret = board.of(), board.of(), board.token(Role.READ)
    signed_in(board, client, secret)
    other.cookies.set(COOKIE, client.cookies[COOKIE])
    signed_in(board, client, secret)
    assert other.get("/").status_code == 401
    other.cookies.set(COOKIE, client.cookies[COOKIE])
    assert other.get("/").status_code == 200
    own = {"Origin": "http://127.0.0.1:8080"}
    assert client.post("/board/sign-out", headers=own, follow_redirects=False).status_code == 303
    assert other.get("/").status_code == 401, "a copy of the cookie is worth nothing"


@pytest.mark.parametrize(
    ("headers", "secure"),
    [
        ({"X-Forwarded-For": "192.0.2.1"}, True),
        ({"X-Forwarded-For": "192.0.2.1", "X-Forwarded-Proto": "https"}, True),
        ({"X-Forwarded-For": "192.0.2.1", "X-Forwarded-Proto": "http"}, False),
        ({}, False),
    ],
)
def test_behind_a_proxy_the_cookie_goes_over_tls_only(board: Served, headers: dict[str, str], secure: bool):
    answer = signed_in(board, board.of(), board.token(Role.READ), **headers)
    assert ("Secure" in answer.headers["set-cookie"]) is secure


def test_signing_in_counts_in_the_rate_limit_and_checks_the_page_it_comes_from(board: Served):
    client, secret = board.of(), board.token(Role.READ)
    assert signed_in(board, client, secret, Origin="http://evil.example").status_code == 403
    assert client.post("/board/sign-out", headers={"Origin": "http://evil.example"}).status_code == 403
    cast(FastAPI, client.app).state.limit = RateLimit(3)
    codes = [signed_in(board, client, "wrong").status_code for _ in range(4)]
    assert codes == [401, 401, 401, 429]


def test_a_page_says_only_what_the_server_has_written(board: Served):
    client = board.of(board.token(Role.OPERATE))
    own = {"Origin": "http://127.0.0.1:8080"}
    path = "/board/schedules/sales/each_day/suspend"
    to = client.post(path, data={}, headers=own, follow_redirects=False).headers["location"]
    empty = 'role="status"></p>'
    assert empty not in client.get(to, headers=HTML).text
    for link in ("/?done=pay+us", f"{to}x", to.replace("done=", "done=not+")):
        assert empty in client.get(link, headers=HTML).text


@pytest.mark.parametrize("headers", [{}, {"Origin": "http://evil.example"}])
def test_a_cookie_alone_changes_nothing(board: Served, headers: dict[str, str]):
    client = board.of()
    signed_in(board, client, board.token(Role.ADMIN))
    answer = client.post("/board/schedules/sales/each_day/suspend", data={}, headers=headers)
    assert answer.status_code in (401, 403)
    with board.store.reading() as reader:
        assert reader.schedules(refs=["sales/each_day"])[0].active


@pytest.mark.parametrize(
    "to", ["//evil.example", "http://evil.example", "/\\evil.example", "/\t/evil", "evil"]
)
def test_signing_in_leads_to_no_other_site(board: Served, to: str):
    secret = board.token(Role.READ)
    answer = board.of().post("/board/sign-in", data={"token": secret, "next": to}, follow_redirects=False)
    assert answer.headers["location"] == "/"


def test_a_reader_presses_no_button_and_a_token_for_one_app_sees_only_that(board: Served):
    reader = board.of(board.token(Role.READ))
    assert reader.get("/").status_code == 200
    problem(reader.post("/board/schedules/sales/each_day/suspend", data={}), 403)
    other = board.of(board.token(Role.OPERATE, app="shop"))
    view = other.get("/", params={"format": "json"}).json()
    assert (view["waits"]["groups"], view["needs"], view["time_line"]["apps"]) == ([], [], [])
    assert {tile["number"] for tile in view["tiles"]} == {0}
    problem(other.get("/board/schedules/sales/each_day"), 403)
    problem(other.get(f"/board/jobs/{job_of(board, DAYS[0])}"), 403)
    assert other.get("/board/ledger", params={"format": "json"}).json()["items"] == []


def test_pages_are_kept_from_frames_caches_and_foreign_assets(board: Served):
    headers = board.client.get("/", headers=HTML).headers
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert headers["cache-control"] == "no-store"
