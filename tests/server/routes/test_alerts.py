"""Alerts over REST and on the board: lists in pages, filters, tokens of one app, and sending again."""

from datetime import timedelta
from typing import Any

import msgspec
import pytest

from tests.alerts.samples import alert
from tests.server.board.board import HTML, shown
from tests.server.sales import deployed
from tests.server.serving import NOON, NS, Served, problem
from tidegate.scheduler.alerts.outbox import TRIES_MAX
from tidegate.scheduler.model.journal import EntryKind
from tidegate.scheduler.model.records.alert import ALERTS, Alert, AlertState
from tidegate.scheduler.model.records.token import Role

pytestmark = [pytest.mark.store]

PATH = f"{NS}/alerts"
DEAD: dict[str, Any] = {
    "state": AlertState.DEAD,
    "tries": TRIES_MAX,
    "error": "HTTP 500",
    "next_at": None,
    "ended_at": NOON,
}


@pytest.fixture
def alerted(server: Served) -> Served:
    """One alert is sent, one to another channel is tried again, and of another app one is abandoned."""
    deployed(server)
    sent = alert(id="sent")
    again = alert("duty", id="again")
    dead = alert(id="dead", subject="shop/orders")
    changes: list[tuple[Alert, dict[str, Any]]] = [
        (sent, {"state": AlertState.SENT, "next_at": None, "ended_at": NOON}),
        (again, {"tries": 2, "error": "refused", "made_at": NOON + timedelta(minutes=1)}),
        (dead, {**DEAD, "made_at": NOON + timedelta(minutes=2)}),
        (alert(id="theirs"), {"project": "another"}),
    ]
    project = server.service.settings.name
    with server.store.transaction() as transaction:
        transaction.put_records(
            ALERTS, [msgspec.structs.replace(each, **({"project": project} | more)) for each, more in changes]
        )
    return server


def ids(server: Served, query: str = "") -> list[str]:
    answer = server.client.get(f"{PATH}{query}")
    assert answer.status_code == 200, answer.text
    return [each["id"] for each in answer.json()["items"]]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", ["dead", "again", "sent"]),
        ("?state=pending", ["again"]),
        ("?state=DEAD", ["dead"]),
        ("?channel=ops", ["dead", "sent"]),
        ("?app=sales", ["again", "sent"]),
        ("?app=shop", ["dead"]),
        ("?state=sent&state=pending", ["again", "sent"]),
        ("?app=sales&channel=ops&state=dead", []),
    ],
)
def test_alerts_of_the_project_are_listed_newest_first(alerted: Served, query: str, expected: list[str]):
    assert ids(alerted, query) == expected


def test_pages_follow_each_other(alerted: Served):
    first = alerted.client.get(f"{PATH}?limit=2").json()
    rest = alerted.client.get(f"{PATH}?limit=2&cursor={first['next']}").json()
    assert [each["id"] for each in (*first["items"], *rest["items"])] == ["dead", "again", "sent"]
    assert rest["next"] is None


def test_an_unknown_state_and_a_foreign_cursor_are_400(alerted: Served):
    problem(alerted.client.get(f"{PATH}?state=lost"), 400)
    cursor = alerted.client.get(f"{NS}/apps?limit=1").json()["next"] or "x"
    problem(alerted.client.get(f"{PATH}?cursor={cursor}"), 400)


def test_an_abandoned_alert_is_sent_again_and_the_journal_says_by_whom(alerted: Served):
    client = alerted.of(alerted.token(Role.OPERATE))
    answer = client.post(f"{PATH}/dead/retry", json={"reason": "the channel works again"})
    assert answer.status_code == 200, answer.text
    again = answer.json()["alert"]
    assert (again["state"], again["tries"], again["ended_at"]) == ("pending", 0, None)
    with alerted.store.reading() as reader:
        entry = next(each for each in reader.journal() if each.kind is EntryKind.ALERT)
    assert entry.data["action"] == "retry"
    assert entry.data["by"] == "rest:operate-all"
    assert entry.data["why"] == "the channel works again"


def test_one_that_was_sent_is_409_and_an_unknown_one_404(alerted: Served):
    problem(alerted.client.post(f"{PATH}/sent/retry"), 409)
    problem(alerted.client.post(f"{PATH}/nothing/retry"), 404)
    problem(alerted.client.post(f"{PATH}/theirs/retry"), 404)


def test_reading_needs_read_and_sending_operate(alerted: Served):
    reading = alerted.of(alerted.token(Role.READ))
    assert reading.get(PATH).status_code == 200
    problem(reading.post(f"{PATH}/dead/retry"), 403)
    problem(alerted.of().get(PATH), 401)


def test_a_token_of_an_app_sees_and_sends_its_alerts_only(alerted: Served):
    mine = alerted.of(alerted.token(Role.OPERATE, app="sales"))
    assert [each["id"] for each in mine.get(PATH).json()["items"]] == ["again", "sent"]
    problem(mine.get(f"{PATH}?app=shop"), 403)
    problem(mine.post(f"{PATH}/dead/retry"), 403)
    assert mine.post(f"{PATH}/again/retry").status_code == 200


def test_the_board_lists_alerts_with_counts_that_lead_to_them(alerted: Served):
    view = shown(alerted, "/board/alerts?channel=ops")
    assert [(each["id"], each["title"]) for each in view["items"]] == [
        ("dead", "shop/orders failed"),
        ("sent", "sales/report failed"),
    ]
    page = alerted.client.get("/board/alerts", headers=HTML).text
    for state in AlertState:
        assert f'<a href="/board/alerts?state={state}" aria-label="1 alerts, {state}">1</a>' in page
    assert "HTTP 500" in page
    assert page.count("/retry") == 2  # not of the one that was sent


def test_now_shows_alerts_that_are_not_sent(alerted: Served):
    assert unsent(shown(alerted, "/")) == 2
    page = alerted.client.get("/", headers=HTML).text
    assert 'href="/board/alerts"' in page
    token = alerted.token(Role.READ, app="sales")
    assert unsent(alerted.of(token).get("/?format=json").json()) == 1


def unsent(page: Any) -> int:
    """The number of the tile of alerts."""
    return next(tile["number"] for tile in page["tiles"] if tile["label"] == "Alerts")


def test_the_button_sends_an_alert_again(alerted: Served):
    answer = alerted.client.post(
        "/board/alerts/dead/retry",
        data={"reason": "repaired"},
        headers={"Origin": "http://127.0.0.1:8080"},
        follow_redirects=False,
    )
    assert answer.status_code == 303
    assert ids(alerted, "?state=pending") == ["dead", "again"]
