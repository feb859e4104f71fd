"""Holds of apps over REST and on the board."""

from datetime import timedelta
from typing import Any

import pytest

from tests.server.board.board import HTML, shown
from tests.server.sales import APP, deployed
from tests.server.serving import NOON, NS, Served, problem
from tests.worlds.by import CLI
from tidegate.scheduler.commands.by_hand.held_apps import hold_app
from tidegate.scheduler.model.records.token import Role

pytestmark = [pytest.mark.store]

HOLD, RELEASE = f"{APP}/hold", f"{APP}/release"


@pytest.fixture
def sales(server: Served) -> Served:
    deployed(server)
    return server


def launches(server: Served) -> Any:
    (line,) = server.client.get(f"{NS}/apps").json()["items"]
    return line["hold"]


def test_an_app_is_held_and_released_with_a_reason(sales: Served):
    assert launches(sales) is None

    answer = sales.client.post(HOLD, json={"reason": "an upgrade", "expires": "30m"})

    assert answer.status_code == 200, answer.text
    hold = {
        "app": "sales",
        "since": "2026-03-10T12:00:00Z",
        "by": "rest",
        "reason": "an upgrade",
        "expires_at": "2026-03-10T12:30:00Z",
        "deployed": True,
    }
    assert answer.json() == {"app": "sales", "hold": hold}
    assert launches(sales) == hold
    problem(sales.client.post(HOLD, json={}), 409)
    later = sales.client.post(HOLD, json={"expires": "1h"})
    assert later.json()["hold"]["expires_at"] == "2026-03-10T13:00:00Z"
    assert sales.client.post(RELEASE).json() == {"app": "sales", "hold": None}
    problem(sales.client.post(RELEASE, json={"reason": "again"}), 409)


def test_who_may_hold_what(sales: Served):
    problem(sales.client.post(f"{NS}/apps/none/hold"), 404)
    problem(sales.client.post(HOLD, json={"expires": "soon"}), 400)
    problem(sales.client.post(RELEASE, json={"expires": "1h"}), 400)
    reader = sales.of(sales.token(Role.READ))
    problem(reader.post(HOLD), 403)
    other = sales.of(sales.token(Role.OPERATE, app="other"))
    problem(other.post(HOLD), 403)
    own = sales.of(sales.token(Role.OPERATE, app="sales"))
    assert own.post(HOLD).status_code == 200
    assert other.get("/", params={"format": "json"}).json()["held"] == []


def test_the_board_holds_an_app_and_now_leads_to_the_button_that_releases_it(sales: Served):
    page = "/board/schedules?app=sales"
    assert "/board/apps/sales/release" not in sales.client.get(page).text

    form = {"reason": "an upgrade", "expires": "30m"}
    answer = sales.client.post("/board/apps/sales/hold", data=form, follow_redirects=False)

    assert answer.status_code == 303, answer.text
    assert "sales is on hold" in sales.client.get(answer.headers["location"], headers=HTML).text
    (held,) = shown(sales, "/")["held"]
    assert (held["app"], held["by"], held["reason"]) == ("sales", "rest", "an upgrade")
    now = sales.client.get("/").text
    assert f'href="{page}"' in now and "an upgrade" in now and "tidegate apps" not in now
    html = sales.client.get(page).text
    assert 'href="/board/apps/sales/release"' in html and 'href="/board/apps/sales/hold"' not in html
    answer = sales.client.post("/board/apps/sales/release", data={}, follow_redirects=False)
    assert answer.headers["location"].startswith("/board/schedules?app=sales&done=")
    assert shown(sales, "/")["held"] == []
    again = sales.client.post("/board/apps/sales/release", data={}, follow_redirects=False)
    assert "nothing+has+changed" in again.headers["location"]


def test_an_app_that_is_gone_can_still_be_released(sales: Served):
    with sales.store.transaction() as transaction:
        hold_app(transaction, "gone", NOON - timedelta(hours=1), by=CLI)
    (held,) = shown(sales, "/")["held"]
    assert (held["app"], held["deployed"]) == ("gone", False)
    assert "app=gone" not in sales.client.get("/").text
    problem(sales.client.post(f"{NS}/apps/gone/hold"), 404)
    assert sales.client.post(f"{NS}/apps/gone/release").status_code == 200
