"""Who sees what of the board, and who may press its buttons."""

import pytest

from tests.server.board.board import DAYS, HTML, job_of
from tests.server.serving import Served, problem
from tidegate.scheduler.model.records.token import Role

pytestmark = [pytest.mark.store]


def test_a_browser_signs_in_with_a_token_and_out(board: Served):
    secret = board.token(Role.OPERATE)
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
    assert "HttpOnly" in cookie and "SameSite=strict" in cookie
    assert client.get("/").status_code == 200
    path = "/board/schedules/sales/each_day/suspend"
    assert client.post(path, data={}, headers=own, follow_redirects=False).status_code == 303
    assert client.post("/board/sign-out", headers=own, follow_redirects=False).status_code == 303
    assert client.get("/").status_code == 401


@pytest.mark.parametrize("headers", [{}, {"Origin": "http://evil.example"}])
def test_a_cookie_alone_changes_nothing(board: Served, headers: dict[str, str]):
    client = board.of()
    client.cookies.set("tidegate_token", board.token(Role.ADMIN))
    answer = client.post("/board/schedules/sales/each_day/suspend", data={}, headers=headers)
    assert answer.status_code in (401, 403)
    with board.store.reading() as reader:
        assert reader.schedules(refs=["sales/each_day"])[0].active


@pytest.mark.parametrize("to", ["//evil.example", "http://evil.example", "/\\evil.example"])
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
    assert (view["waiting"], view["failed"], view["ahead"]) == ([], [], [])
    problem(other.get("/board/schedules/sales/each_day"), 403)
    problem(other.get(f"/board/jobs/{job_of(board, DAYS[0])}"), 403)
    assert other.get("/board/ledger", params={"format": "json"}).json()["items"] == []


def test_pages_are_kept_from_frames_caches_and_foreign_assets(board: Served):
    headers = board.client.get("/", headers=HTML).headers
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert headers["cache-control"] == "no-store"
