"""Reports of tasks over REST: answered once, repeated, refused, and who may send them."""

from datetime import timedelta
from typing import Any

import pytest

from tests.server.serving import Served, problem
from tests.server.shop import FOURTEEN, INSTANCES, SHOP, TASKS, THIRTEEN, TODAY, fetched, journaled, shop
from tidegate.scheduler.model.journal import EntryKind
from tidegate.scheduler.model.records.token import Role

pytestmark = [pytest.mark.store]


@pytest.fixture
def served(server: Served) -> Served:
    """A server with the tasks of an app, after the second hour of its feed."""
    shop(server)
    server.pass_time(timedelta(hours=2))
    return server


def report(server: Served, path: str = "feed", /, **body: Any) -> Any:
    wanted = {"scheduled": [THIRTEEN], "status": "successful", **body}
    return server.client.post(
        f"{TASKS}/{path}/report", json={key: value for key, value in wanted.items() if value is not None}
    )


def status(server: Served, path: str) -> Any:
    return fetched(server.client.get(f"{INSTANCES}/{path}"))["status"]


def test_a_report_opens_the_gate_and_journals_who_and_why(served: Served):
    answer = fetched(report(served, reason="landed"), 202)

    assert (answer["task"], answer["status"]) == ("shop/feed", "successful")
    assert answer["instances"] == {THIRTEEN: "reported"}
    assert status(served, f"feed/{THIRTEEN}") == "successful"
    assert journaled(served, EntryKind.REPORTED) == [("rest", "landed")]
    served.pass_time(timedelta(seconds=5))
    assert (status(served, f"clean/{THIRTEEN}"), status(served, f"clean/{FOURTEEN}")) == (
        "waiting",
        "not_run",
    )


def test_a_range_and_a_failure(served: Served):
    body = {"scheduled": None, "from": THIRTEEN, "to": FOURTEEN, "status": "failed", "task": "shop.feed"}

    answer = fetched(report(served, "shop.feed", **body), 202)

    assert list(answer["instances"]) == [THIRTEEN, FOURTEEN]
    assert status(served, f"feed/{FOURTEEN}") == "failed"


def test_the_same_request_is_answered_as_the_first_time(served: Served):
    first = fetched(report(served, request="r1"), 202)
    second = fetched(report(served, request="r1"), 200)

    assert second == {**first, "repeated": True}
    assert len(journaled(served, EntryKind.REPORTED)) == 1
    problem(report(served, request="r1", status="failed"), 409)
    problem(report(served, request="r1", scheduled=[FOURTEEN]), 409)
    assert status(served, f"feed/{FOURTEEN}") == "not_run"
    assert fetched(report(served, request="r2", scheduled=[FOURTEEN]), 202)["repeated"] is False


def test_a_refused_call_is_not_remembered(served: Served):
    problem(report(served, request="r1", scheduled=[THIRTEEN, "2026-03-11-13:00"]), 400)

    assert status(served, f"feed/{THIRTEEN}") == "not_run"
    assert fetched(report(served, request="r1"), 202)["repeated"] is False


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"scheduled": ["soon"]}, "E-TIME"),
        ({"scheduled": [THIRTEEN, "2026-03-10-25:00"]}, "E-TIME"),
        ({"scheduled": ["2026-03-10-15:00"]}, "E-TIME"),
        ({"scheduled": []}, "E-TIME"),
        ({"scheduled": None}, "E-TIME"),
        ({"from": THIRTEEN, "to": FOURTEEN}, "E-TIME"),
        ({"scheduled": None, "from": THIRTEEN}, "E-TIME"),
        ({"scheduled": None, "from": FOURTEEN, "to": THIRTEEN}, "E-RANGE"),
        ({"status": "done"}, None),
        ({"status": None}, None),
        ({"scheduled": THIRTEEN}, None),
        ({"scheduled": [13]}, None),
        ({"request": 1}, None),
        ({"request": "a\u0000"}, None),
        ({"request": "x" * 501}, None),
        ({"more": 1}, None),
        ({"app": "none"}, None),
        ({"task": "none/feed"}, None),
        ({"task": "clean"}, None),
    ],
)
def test_malformed_reports_are_400_and_change_nothing(served: Served, body: dict[str, Any], code: str | None):
    assert problem(report(served, **body), 400).get("code") == code
    assert journaled(served, EntryKind.REPORTED) == []


def test_unknown_tasks_are_404_unknown_apps_400_as_is_no_body(served: Served):
    assert problem(report(served, "none"), 404)["code"] == "E-TASK"
    assert problem(report(served, "shop.none"), 404)["code"] == "E-TASK"
    assert problem(report(served, "clean"), 404)["code"] == "E-TASK"
    problem(report(served, "none.feed"), 400)
    problem(report(served, "a%20b"), 400)
    problem(served.client.post(f"{TASKS}/feed/report", json=[]), 400)
    problem(served.client.post(f"{TASKS}/feed/report"), 400)


def test_a_disabled_task_is_409(served: Served):
    feed = {**SHOP["tasks"]["feed"], "enabled": False}
    shop(served, tasks={**SHOP["tasks"], "feed": feed})

    assert problem(report(served), 409)["code"] == "E-DISABLED"


def test_an_ambiguous_name_is_409_unless_the_body_names_the_app(served: Served):
    shop(served, "store")

    problem(report(served), 409)
    assert fetched(report(served, app="store"), 202)["task"] == "store/feed"
    assert fetched(report(served, "shop.feed"), 202)["task"] == "shop/feed"
    problem(report(served, "shop.feed", app="store"), 400)


def test_roles_and_apps_of_tokens(served: Served):
    tokens = {
        "reads": served.token(Role.READ),
        "mine": served.token(Role.OPERATE, app="shop"),
        "other": served.token(Role.OPERATE, app="other"),
    }
    clients = {name: served.of(token) for name, token in tokens.items()}
    body = {"scheduled": [f"{TODAY}-13:00"], "status": "successful"}

    for task in ("feed", "shop.feed"):
        problem(clients["other"].post(f"{TASKS}/{task}/report", json=body), 403)
        problem(clients["reads"].post(f"{TASKS}/{task}/report", json=body), 403)
    problem(clients["other"].post(f"{TASKS}/feed/report", json={**body, "app": "shop"}), 403)
    problem(served.client.post(f"{TASKS}/feed/report", json=body), 401)
    fetched(clients["mine"].post(f"{TASKS}/feed/report", json=body), 202)
    assert journaled(served, EntryKind.REPORTED) == [("rest:operate-shop", "")]
