"""The ledger and the deployments over REST."""

import base64
from datetime import timedelta
from typing import Any

import msgspec
import pytest

from tests.server.sales import APP, SCHEDULES, SPEC, deployed
from tests.server.serving import NS, Served, problem
from tests.server.shop import fetched
from tidegate.scheduler.model.event import Event, EventKind, partition_event_key
from tidegate.scheduler.model.records.token import Role

pytestmark = [pytest.mark.store]

LEDGER, DEPLOYMENTS = f"{NS}/ledger", f"{NS}/deployments"


def landed(server: Served, app: str, key: str) -> None:
    """Let a partition of the app's raw data arrive."""
    event = Event(
        id=f"{app} {key}",
        kind=EventKind.PARTITION,
        key=partition_event_key(app, "raw"),
        time=server.now,
        arrived=server.now,
        partition=key,
    )
    with server.store.transaction() as transaction:
        transaction.add_events([event])


@pytest.fixture
def served(server: Served) -> Served:
    """A server of two apps, each with the schedule `each_day` that has collected two days."""
    for app in ("sales", "other"):
        deployed(server, {**SPEC, "app": app})
        landed(server, app, "2026-03-08")
        landed(server, app, "2026-03-09")
    server.pass_time(timedelta(seconds=5))
    return server


def schedules(answer: Any) -> list[str]:
    return [line["schedule"] for line in fetched(answer)["items"]]


def test_the_ledger_has_the_lines_of_the_command(served: Served):
    items = fetched(served.client.get(LEDGER))["items"]

    assert [line["schedule"] for line in items] == ["other/each_day", "sales/each_day"]
    assert items[1] == {
        "schedule": "sales/each_day",
        "landed": 2,
        "consumed": 0,
        "succeeded": 0,
        "running": 0,
        "failed": 0,
        "pending": 2,
        "discarded": 0,
        "failures": {},
        "reasons": {},
    }


def test_the_ledger_of_an_app_and_of_a_schedule(served: Served):
    get = served.client.get

    assert schedules(get(f"{LEDGER}?app=sales")) == ["sales/each_day"]
    assert schedules(get(f"{LEDGER}?schedule=other/each_day")) == ["other/each_day"]
    assert schedules(get(f"{LEDGER}?app=sales&schedule=each_day")) == ["sales/each_day"]
    assert schedules(get(f"{LEDGER}?app=sales&schedule=other/each_day")) == []
    assert schedules(get(f"{LEDGER}?schedule=sales/daily")) == []
    served.client.delete(f"{SCHEDULES}/each_day")
    assert schedules(get(f"{LEDGER}?schedule=sales/each_day")) == ["sales/each_day"]
    for query in (
        "app=none",
        "schedule=none",
        "schedule=daily",
        "schedule=sales/none",
        "limit=0",
        "cursor=x",
    ):
        problem(get(f"{LEDGER}?{query}"), 400)


def test_the_ledger_in_pages(served: Served):
    first = fetched(served.client.get(f"{LEDGER}?limit=1"))
    second = fetched(served.client.get(f"{LEDGER}?limit=1&cursor={first['next']}"))

    assert [first["items"][0]["schedule"], second["items"][0]["schedule"]] == [
        "other/each_day",
        "sales/each_day",
    ]
    assert second["next"] is None
    of_app = fetched(served.client.get(f"{LEDGER}?app=other&limit=1"))
    assert ([line["schedule"] for line in of_app["items"]], of_app["next"]) == (["other/each_day"], None)
    foreign = base64.urlsafe_b64encode(msgspec.json.encode([LEDGER, 1])).decode()
    problem(served.client.get(f"{LEDGER}?cursor={foreign}"), 400)


def test_deployments_say_who_changed_what_and_why(server: Served):
    deployed(server)
    server.pass_time(timedelta(minutes=1))
    server.client.delete(f"{APP}?reason=over")

    newest, first = fetched(server.client.get(DEPLOYMENTS))["items"]

    assert (newest["at"], newest["by"], newest["reason"]) == ("2026-03-10T12:01:00Z", "rest", "over")
    assert newest["apps"]["sales"]["action"] == "delete"
    assert (first["at"], first["by"], first["reason"]) == ("2026-03-10T12:00:00Z", "rest", "")
    assert first["apps"]["sales"]["action"] == "create"
    assert first["apps"]["sales"]["schedules"] == {"daily": "create", "each_day": "create"}
    assert first["update_schedules"] is True
    assert first["force"] is False
    assert newest["number"] > first["number"]


def test_deployments_in_pages_while_others_come(server: Served):
    for app in ("one", "two", "three"):
        deployed(server, {**SPEC, "app": app})
    first = fetched(server.client.get(f"{DEPLOYMENTS}?limit=2"))
    deployed(server, {**SPEC, "app": "four"})
    second = fetched(server.client.get(f"{DEPLOYMENTS}?limit=2&cursor={first['next']}"))

    assert [list(each["apps"]) for each in (*first["items"], *second["items"])] == [
        ["three"],
        ["two"],
        ["one"],
    ]
    assert second["next"] is None
    problem(server.client.get(f"{DEPLOYMENTS}?cursor=bm8"), 400)
    problem(server.client.get(f"{LEDGER}?cursor={first['next']}"), 400)


def test_deployments_are_found_by_app_person_and_time(server: Served):
    deployed(server, {**SPEC, "app": "one"})
    server.pass_time(timedelta(minutes=1))
    deployed(server, {**SPEC, "app": "two"})
    server.client.delete(f"{NS}/apps/one?reason=over")

    def found(query: str) -> list[list[str]]:
        return [list(each["apps"]) for each in fetched(server.client.get(f"{DEPLOYMENTS}?{query}"))["items"]]

    # It is deployed no longer.
    assert found("app=one") == [["one"], ["one"]]
    assert found("by=rest&since=2026-03-10T12:01:00Z") == [["one"], ["two"]]
    assert found("by=ann") == []
    problem(server.client.get(f"{DEPLOYMENTS}?app=none"), 400)


def test_a_token_of_an_app_sees_that_app_only(served: Served):
    mine = served.of(served.token(Role.READ, app="sales"))

    assert schedules(mine.get(LEDGER)) == ["sales/each_day"]
    assert schedules(mine.get(f"{LEDGER}?schedule=sales/each_day")) == ["sales/each_day"]
    problem(mine.get(f"{LEDGER}?app=other"), 403)
    problem(mine.get(f"{LEDGER}?schedule=other/each_day"), 403)
    page = fetched(mine.get(f"{DEPLOYMENTS}?limit=1"))
    assert ([list(each["apps"]) for each in page["items"]], page["next"]) == ([["sales"]], None)


def test_they_need_a_token_where_there_are_some(served: Served):
    served.token(Role.READ)

    problem(served.client.get(LEDGER), 401)
    problem(served.client.get(DEPLOYMENTS), 401)


def changed_twice(server: Served) -> tuple[int, int]:
    """Deploy an app, change a schedule of it by a call, and return the numbers of both."""
    deployed(server)
    args = {"args": {"depth": 3}}
    fetched(server.client.post(f"{SCHEDULES}/daily/update", json=args))
    second, first = fetched(server.client.get(DEPLOYMENTS))["items"]
    return first["number"], second["number"]


def test_a_deployment_is_shown_with_its_changes_and_compared(server: Served):
    first, second = changed_twice(server)

    shown = fetched(server.client.get(f"{DEPLOYMENTS}/{second}"))
    assert shown["deployment"]["number"] == second
    (app,) = shown["changes"]["apps"]
    assert (app["name"], app["action"]) == ("sales", "change")
    between = fetched(server.client.get(f"{DEPLOYMENTS}/{first}/diff?to={second}"))
    assert between["apps"] == shown["changes"]["apps"]
    assert fetched(server.client.get(f"{DEPLOYMENTS}/{first}/diff")) == between
    problem(server.client.get(f"{DEPLOYMENTS}/{second + 99}"), 404)
    problem(server.client.get(f"{DEPLOYMENTS}/{second}/diff?to=99999"), 404)
    for wrong in ("x", "0x1", "9" * 30, "-1"):
        problem(server.client.get(f"{DEPLOYMENTS}/{wrong}"), 400)


def test_a_rollback_over_rest_is_one_new_deployment(server: Served):
    first, second = changed_twice(server)

    problem(server.client.post(f"{DEPLOYMENTS}/{first}/rollback", json={"reason": " "}), 400)
    problem(server.client.post(f"{DEPLOYMENTS}/{second + 99}/rollback", json={"reason": "x"}), 404)
    problem(server.client.post(f"{DEPLOYMENTS}/{second}/rollback", json={"reason": "x"}), 409)
    done = fetched(server.client.post(f"{DEPLOYMENTS}/{first}/rollback", json={"reason": "too deep"}))

    newest = fetched(server.client.get(DEPLOYMENTS))["items"][0]
    assert (newest["number"], newest["rollback_to"], newest["reason"]) == (done["number"], first, "too deep")
    assert "args" not in fetched(server.client.get(f"{SCHEDULES}/daily"))


def test_only_an_admin_rolls_back_and_the_token_of_an_app_that_app_alone(served: Served):
    number = fetched(served.client.get(DEPLOYMENTS))["items"][0]["number"]
    for app in ("sales", "other"):
        path = f"{NS}/apps/{app}/schedules/daily"
        fetched(served.client.delete(path))
    mine = served.of(served.token(Role.ADMIN, app="sales"))
    operator = served.of(served.token(Role.OPERATE))

    problem(operator.post(f"{DEPLOYMENTS}/{number}/rollback", json={"reason": "x"}), 403)
    problem(mine.post(f"{DEPLOYMENTS}/{number}/rollback", json={"reason": "x"}), 404)
    first = fetched(mine.get(DEPLOYMENTS))["items"][-1]["number"]
    fetched(mine.post(f"{DEPLOYMENTS}/{first}/rollback", json={"reason": "x"}))
    every = served.of(served.token(Role.READ))
    assert every.get(f"{NS}/apps/sales/schedules/daily").status_code == 200
    assert every.get(f"{NS}/apps/other/schedules/daily").status_code == 404
