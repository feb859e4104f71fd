"""*Backfills*: the list, one with its instances, and the buttons that start and cancel one."""

from typing import Any

import pytest

from tests.server.board.board import HTML, shown
from tests.server.serving import Served, problem
from tests.server.shop import shop
from tidegate.scheduler.model.records.token import Role

pytestmark = [pytest.mark.store]

PAGE = "/board/backfills"
FORM = {"task": "shop.revenue", "from": "2026-03-01", "to": "2026-03-03", "lot": "2", "reason": "a bug"}


@pytest.fixture
def served(server: Served) -> Served:
    """A server with the tasks of an app."""
    shop(server)
    return server


def start(server: Served, **changes: str) -> Any:
    return server.client.post(f"{PAGE}/start", data={**FORM, **changes}, follow_redirects=False)


def test_a_button_starts_a_backfill_which_is_listed_with_its_state(served: Served):
    assert "No backfill was started yet" in served.client.get(PAGE).text

    answer = start(served)

    assert answer.status_code == 303, answer.text
    assert answer.headers["location"].startswith(f"{PAGE}/1?done=")
    assert start(served, task="", app="shop", upstream="on").status_code == 303
    lines = shown(served, PAGE)["items"]
    assert [(each["backfill"]["number"], each["state"]) for each in lines] == [(2, "running"), (1, "running")]
    assert (lines[1]["backfill"]["lot"], lines[1]["counts"]["not_run"]) == (2, 3)
    html = served.client.get(PAGE, headers=HTML).text
    assert f'href="{PAGE}/1?status=not_run#instances"' in html


def test_a_backfill_shows_what_each_count_counts(served: Served):
    start(served)

    view = shown(served, f"{PAGE}/1")

    assert view["line"]["by_date"]["2026-03-02"] == {"not_run": 1}
    assert len(view["items"]) == view["line"]["total"] == 3
    assert len(shown(served, f"{PAGE}/1?status=not_run")["items"]) == 3
    assert shown(served, f"{PAGE}/1?status=failed")["items"] == []
    first = shown(served, f"{PAGE}/1?limit=2")
    assert len(shown(served, f"{PAGE}/1?limit=2&cursor={first['next']}")["items"]) == 1
    assert f'href="/board/jobs/{first["items"][0]["job"]}"' in served.client.get(f"{PAGE}/1").text


def test_a_button_cancels_it_once(served: Served):
    start(served)
    not_cancelled = "backfill 1 is not cancelled"
    assert [each["refusal"] for each in shown(served, f"{PAGE}/1")["menu"]] == ["", not_cancelled]

    answer = served.client.post(f"{PAGE}/1/cancel", data={"reason": "wrong"}, follow_redirects=False)

    assert answer.status_code == 303, answer.text
    view = shown(served, f"{PAGE}/1")
    assert (view["line"]["state"], view["items"]) == ("cancelled", [])
    assert [each["refusal"] for each in view["menu"]] == ["backfill 1 has nothing left to cancel", ""]
    assert f'href="{PAGE}/1/cancel"' not in served.client.get(f"{PAGE}/1").text
    problem(served.client.post(f"{PAGE}/1/cancel", data={}), 409)

    answer = served.client.post(f"{PAGE}/1/resume", data={"reason": "right"}, follow_redirects=False)

    assert answer.status_code == 303, answer.text
    assert shown(served, f"{PAGE}/1")["line"]["state"] == "running"


def test_what_cannot_be_started_or_shown_is_refused(served: Served):
    for changes in ({"app": "shop"}, {"task": ""}, {"lot": "two"}, {"from": "soon"}, {"to": "2026-02-01"}):
        problem(start(served, **changes), 400)
    problem(start(served, task="shop.none"), 404)
    problem(served.client.get(f"{PAGE}/9"), 404)
    problem(served.client.get(f"{PAGE}/odd"), 400)
    start(served)
    problem(served.client.get(f"{PAGE}/1?status=odd"), 400)
    reader = served.of(served.token(Role.READ))
    problem(reader.post(f"{PAGE}/start", data=FORM), 403)
    other = served.of(served.token(Role.OPERATE, app="sales"))
    assert other.get(PAGE, params={"format": "json"}).json()["items"] == []
    problem(other.get(f"{PAGE}/1"), 403)
    problem(other.post(f"{PAGE}/1/cancel", data={}), 403)
