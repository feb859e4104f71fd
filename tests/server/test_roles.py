"""Which role each route needs, and that a token of one app neither sees nor changes others."""

from typing import Any

import pytest

from tests.server.sales import APP, DAILY, SCHEDULES, SPEC, deployed
from tests.server.serving import NS, Served, problem
from tidegate.scheduler.model.records.token import Role

pytestmark = [pytest.mark.store]

TIMES = "start-time=2026-03-10T00:00:00Z&end-time=2026-03-11T00:00:00Z"
BATCH = [{"app": "sales", "program": "report"}]

ROUTES: list[tuple[str, str, Role, Any]] = [
    ("GET", "/openapi.json", Role.READ, None),
    ("GET", f"{NS}/apps", Role.READ, None),
    ("GET", APP, Role.READ, None),
    ("PUT", APP, Role.ADMIN, {"spec": SPEC}),
    ("GET", SCHEDULES, Role.READ, None),
    ("GET", f"{SCHEDULES}/daily", Role.READ, None),
    ("GET", f"{SCHEDULES}/daily/status", Role.READ, None),
    ("GET", f"{SCHEDULES}/daily/why", Role.READ, None),
    ("GET", f"{APP}/programs/report/schedules", Role.READ, None),
    ("GET", f"{APP}/programs/report/nextruntime", Role.READ, None),
    ("GET", f"{APP}/programs/report/previousruntime", Role.READ, None),
    ("PUT", f"{SCHEDULES}/new", Role.ADMIN, DAILY),
    ("POST", f"{SCHEDULES}/daily/update", Role.ADMIN, {"owner": "ops"}),
    ("POST", f"{SCHEDULES}/daily/enable", Role.OPERATE, {}),
    ("POST", f"{SCHEDULES}/daily/disable", Role.OPERATE, {}),
    ("POST", f"{SCHEDULES}/daily/trigger", Role.OPERATE, {}),
    ("PUT", f"{NS}/schedules/re-enable?{TIMES}", Role.OPERATE, None),
    (
        "GET",
        f"{NS}/schedules/trigger-type/program-status?trigger-app-name=sales&trigger-program-name=report",
        Role.READ,
        None,
    ),
    ("POST", f"{NS}/nextruntime", Role.READ, BATCH),
    ("POST", f"{NS}/previousruntime", Role.READ, BATCH),
    ("DELETE", f"{SCHEDULES}/daily", Role.ADMIN, None),
    ("DELETE", APP, Role.ADMIN, None),
]


@pytest.mark.parametrize(("method", "path", "role", "body"), ROUTES, ids=lambda each: str(each)[-40:])
def test_a_route_needs_its_role(server: Served, method: str, path: str, role: Role, body: Any):
    deployed(server)
    clients = {each: server.of(server.token(each)) for each in Role}

    problem(server.client.request(method, path, json=body), 401)
    for each in Role:
        answer = clients[each].request(method, path, json=body)
        if each.includes(role):
            assert answer.status_code in (200, 202, 409), answer.text
        else:
            problem(answer, 403)


@pytest.mark.parametrize(
    ("method", "path", "role", "body"),
    [each for each in ROUTES if each[1].startswith(APP)],
    ids=lambda each: str(each)[-40:],
)
def test_a_token_of_another_app_is_403(server: Served, method: str, path: str, role: Role, body: Any):
    deployed(server)
    other = server.of(server.token(Role.ADMIN, app="other"))

    problem(other.request(method, path, json=body), 403)


def test_a_token_of_an_app_does_what_it_may_with_it(server: Served):
    deployed(server)
    mine = server.of(server.token(Role.ADMIN, app="sales"))

    assert mine.put(APP, json={"spec": SPEC}).status_code == 200
    assert mine.post(f"{SCHEDULES}/daily/enable").status_code == 200
    with server.store.reading() as reader:
        assert reader.schedules(refs=["sales/daily"])[0].changed_by == "rest:admin-sales"


def test_lists_and_batches_show_only_the_app_of_the_token(server: Served):
    deployed(server)
    deployed(server, {**SPEC, "app": "other"})
    waits = {"program": "report", "trigger": {"run": {"program": "clean"}}}
    for app in ("sales", "other"):
        server.client.put(f"{NS}/apps/{app}/schedules/after", json=waits)
        server.client.post(f"{NS}/apps/{app}/schedules/each_day/disable")
    mine = server.of(server.token(Role.OPERATE, app="sales"))

    assert [each["app"] for each in mine.get(f"{NS}/apps").json()["items"]] == ["sales"]
    query = "trigger-program-name=clean&trigger-app-name"
    path = f"{NS}/schedules/trigger-type/program-status?{query}"
    assert [each["name"] for each in mine.get(f"{path}=sales").json()["items"]] == ["after"]
    assert mine.get(f"{path}=other").json()["items"] == []
    assert mine.put(f"{NS}/schedules/re-enable?{TIMES}").json() == {"enabled": ["sales/each_day"]}
    problem(mine.post(f"{NS}/nextruntime", json=[{"app": "other", "program": "report"}]), 403)


def test_a_page_of_another_site_changes_nothing(server: Served):
    deployed(server)
    path = f"{SCHEDULES}/daily/enable"

    problem(server.client.post(path, headers={"Origin": "https://evil.example"}), 403)
    problem(server.client.post(path, headers={"Origin": "null"}), 403)
    assert server.client.post(path, headers={"Origin": "http://127.0.0.1:8080"}).status_code == 200
