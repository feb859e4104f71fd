"""Backfills over REST: start, follow, cancel, what is refused, and who may."""

from datetime import timedelta
from typing import Any

import pytest

from tests.server.serving import NS, Served, problem
from tests.server.shop import BACKFILLS, INSTANCES, fetched, journaled, shop
from tidegate.scheduler.model.journal import EntryKind
from tidegate.scheduler.model.records.token import Role

pytestmark = [pytest.mark.store]

DATES = {"from": "2026-03-01", "to": "2026-03-03"}
WHOLE = {"task": "revenue", **DATES}


@pytest.fixture
def served(server: Served) -> Served:
    """A server with the tasks of an app."""
    shop(server)
    return server


def start(server: Served, **body: Any) -> Any:
    wanted = {"task": "revenue", **DATES, **body}
    return server.client.post(
        BACKFILLS, json={key: value for key, value in wanted.items() if value is not None}
    )


def test_a_backfill_is_started_shown_and_journaled(served: Served):
    started = fetched(start(served, lot=2, reason="a bug"), 202)

    assert (started["id"], started["state"], started["total"]) == (1, "running", 3)
    assert started["backfill"]["tasks"] == ["shop/revenue"]
    assert started["by_date"]["2026-03-02"] == {"not_run": 1}
    assert fetched(served.client.get(f"{BACKFILLS}/1")) == started
    assert journaled(served, EntryKind.BACKFILL) == [("rest", "a bug")]
    items = fetched(served.client.get(f"{INSTANCES}?backfill=1"))["items"]
    assert [(each["business_date"], each["lot"]) for each in items] == [
        ("2026-03-01", 1),
        ("2026-03-02", 1),
        ("2026-03-03", 2),
    ]
    shown = fetched(served.client.get(f"{INSTANCES}/revenue/2026-03-02?backfill=1"))
    assert (shown["kind"], shown["business_date"]) == ("backfill", "2026-03-01")


def test_a_backfill_has_the_priority_that_it_was_started_with_or_none(served: Served):
    urgent, usual = fetched(start(served, priority="high"), 202), fetched(start(served), 202)

    assert [each["backfill"]["priority"] for each in (urgent, usual)] == ["high", None]
    assert "priority" in problem(start(served, priority="urgent"), 400)["detail"]


def test_backfills_are_listed_newest_first_with_their_state(served: Served):
    assert fetched(served.client.get(BACKFILLS)) == {"items": [], "next": None}
    made = [fetched(start(served, to=f"2026-03-0{day}"), 202) for day in (1, 2, 3)]
    served.client.post(f"{BACKFILLS}/2/cancel", json={})

    first = fetched(served.client.get(f"{BACKFILLS}?limit=2"))
    rest = fetched(served.client.get(f"{BACKFILLS}?limit=2&cursor={first['next']}"))

    found = [*first["items"], *rest["items"]]
    assert [(each["id"], each["state"], each["total"]) for each in found] == [
        (3, "running", 3),
        (2, "cancelled", 0),
        (1, "running", 1),
    ]
    assert rest["next"] is None
    assert found[0] == {key: value for key, value in made[2].items() if key != "by_date"}
    problem(served.client.get(f"{BACKFILLS}?cursor=odd"), 400)
    other = served.of(served.token(Role.READ, app="sales"))
    assert fetched(other.get(BACKFILLS))["items"] == []


def test_an_app_whole_upstream_tasks_and_some_of_them(served: Served):
    whole = fetched(start(served, task=None, app="shop"), 202)["backfill"]
    assert whole["tasks"] == ["shop/clean", "shop/feed", "shop/revenue"]
    assert whole["disabled"] == ["shop/off"]
    with_upstream = fetched(start(served, task="shop.revenue", upstream=True), 202)["backfill"]
    assert with_upstream["tasks"] == ["shop/clean", "shop/feed", "shop/revenue"]
    some = fetched(start(served, task="shop/revenue", upstream=True, only=["shop.clean"]), 202)
    assert some["backfill"]["tasks"] == ["shop/clean"]


def test_cancel_keeps_what_is_done_and_comes_once(served: Served):
    fetched(start(served), 202)
    fetched(served.client.post(f"{INSTANCES}/revenue/2026-03-02/mark_successful?backfill=1"))

    left = fetched(served.client.post(f"{BACKFILLS}/1/cancel", json={"reason": "wrong"}))

    assert (left["id"], left["state"], left["total"]) == (1, "cancelled", 1)
    assert journaled(served, EntryKind.BACKFILL)[-1] == ("rest", "wrong")
    assert problem(served.client.post(f"{BACKFILLS}/1/cancel"), 409)["code"] == "E-STATE"


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"task": "none"}, 404, "E-TASK"),
        ({"task": "none.revenue"}, 404, "E-TASK"),
        ({"task": None, "app": "none"}, 404, "E-TASK"),
        ({"only": ["none"]}, 404, "E-TASK"),
        ({"task": "off"}, 409, "E-DISABLED"),
        ({"from": "2026-03-03", "to": "2026-03-01"}, 400, "E-RANGE"),
        ({"to": "2026-03-10"}, 400, "E-RANGE"),
        ({"lot": 0}, 400, "E-RANGE"),
        ({"from": "March"}, 400, "E-TIME"),
        ({"to": "2026-02-30"}, 400, "E-TIME"),
        ({"task": None}, 400, None),
        ({"app": "shop"}, 400, None),
        ({"task": "a b"}, 400, None),
        ({"task": None, "app": "a b"}, 400, None),
        ({"from": None}, 400, None),
        ({"lot": 10**30}, 400, None),
        ({"lot": "2"}, 400, None),
        ({"upstream": 1}, 400, None),
        ({"only": "clean"}, 400, None),
        ({"more": 1}, 400, None),
    ],
)
def test_refused_backfills_make_nothing(served: Served, body: dict[str, Any], status: int, code: str | None):
    assert problem(start(served, **body), status).get("code") == code
    problem(served.client.get(f"{BACKFILLS}/1"), 404)


def test_unknown_and_malformed_numbers(served: Served):
    for path in ("1", "9"):
        problem(served.client.get(f"{BACKFILLS}/{path}"), 404)
        problem(served.client.post(f"{BACKFILLS}/{path}/cancel"), 404)
    for path in ("x", "0", "-1", "1.5", "1_0", "9" * 30):
        problem(served.client.get(f"{BACKFILLS}/{path}"), 400)
        problem(served.client.post(f"{BACKFILLS}/{path}/cancel"), 400)
    problem(served.client.post(f"{BACKFILLS}/1/cancel", json={"reson": "x"}), 400)


def test_an_ambiguous_task_is_409(served: Served):
    shop(served, "store")

    problem(start(served), 409)
    assert fetched(start(served, task="store.revenue"), 202)["backfill"]["app"] == "store"


def test_roles_and_apps_of_tokens(served: Served):
    reads, mine = served.of(served.token(Role.READ)), served.of(served.token(Role.OPERATE, app="shop"))
    other = served.of(served.token(Role.OPERATE, app="other"))

    problem(served.client.post(BACKFILLS, json=WHOLE), 401)
    problem(reads.post(BACKFILLS, json=WHOLE), 403)
    problem(other.post(BACKFILLS, json=WHOLE), 403)
    problem(other.post(BACKFILLS, json={**DATES, "app": "shop"}), 403)
    fetched(mine.post(BACKFILLS, json=WHOLE), 202)
    fetched(reads.get(f"{BACKFILLS}/1"))
    problem(reads.post(f"{BACKFILLS}/1/cancel"), 403)
    problem(other.get(f"{BACKFILLS}/1"), 403)
    problem(other.post(f"{BACKFILLS}/1/cancel"), 403)
    fetched(mine.post(f"{BACKFILLS}/1/cancel"))


def test_a_token_backfills_no_upstream_tasks_of_other_apps(server: Served):
    shop(server)
    later = {
        "app": "later",
        "programs": {"sum": {"run": "programs.sum"}},
        "tasks": {"sum": {"program": "sum", "cycle": "day", "depends_on": ["shop/revenue"]}},
    }
    fetched(server.client.put(f"{NS}/apps/later", json={"spec": later}))
    server.pass_time(timedelta(seconds=1))
    mine, whole = server.of(server.token(Role.OPERATE, app="later")), server.of(server.token(Role.OPERATE))
    body = {"task": "sum", **DATES}

    problem(mine.post(BACKFILLS, json={**body, "upstream": True}), 403)
    problem(whole.get(f"{BACKFILLS}/1"), 404)
    assert fetched(mine.post(BACKFILLS, json=body), 202)["id"] == 1
    fetched(whole.post(BACKFILLS, json={**body, "upstream": True}), 202)
    problem(mine.get(f"{BACKFILLS}/2"), 403)


def test_a_call_that_is_repeated_after_a_lost_answer_starts_nothing_more(served: Served):
    started = fetched(start(served, request="fix-17", reason="a bug"), 202)
    again = fetched(start(served, request="fix-17", reason="said otherwise"), 200)

    assert again == {**started, "repeated": True}
    assert len(fetched(served.client.get(BACKFILLS))["items"]) == 1
    assert journaled(served, EntryKind.BACKFILL) == [("rest", "a bug")]
    detail = problem(start(served, request="fix-17", to="2026-03-02"), 409)["detail"]
    assert detail == "the request fix-17 was another backfill of shop"
    assert fetched(start(served, request="fix-18"), 202)["id"] == 2
    problem(start(served, request="fix-19", to="2026-02-01"), 400)
    assert fetched(start(served, request="fix-19"), 202)["id"] == 3, "a refused call is not remembered"
