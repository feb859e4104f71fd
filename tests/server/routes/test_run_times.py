"""Run times of crons, single and in batches; schedules that a program triggers; enabling again."""

from datetime import timedelta

import pytest

from tests.server.sales import APP, DAILY, SCHEDULES, SPEC, deployed, shown
from tests.server.serving import NS, Served, problem

pytestmark = [pytest.mark.store]

PROGRAM = f"{APP}/programs/report"


@pytest.fixture(autouse=True)
def sales(server: Served) -> None:
    nested = {"program": "report", "trigger": {"any": [{"cron": "0 1 * * *"}, {"cron": "0 2 * * *"}]}}
    schedules = {
        **SPEC["schedules"],
        "daily": {**DAILY, "status": "active"},
        "hourly": {"program": "report", "trigger": {"cron": "30 * * * *"}, "status": "active"},
        "quiet": DAILY,
        "nested": {**nested, "status": "active"},
    }
    deployed(server, {**SPEC, "schedules": schedules})


def test_the_next_run_times_are_those_of_active_crons_at_the_root(server: Served):
    assert server.client.get(f"{PROGRAM}/nextruntime").json() == [
        {"schedule": "hourly", "time": "2026-03-10T12:30:00Z"},
        {"schedule": "daily", "time": "2026-03-11T06:00:00Z"},
    ]
    two = server.client.get(f"{PROGRAM}/nextruntime?n=2").json()
    assert [each["time"] for each in two if each["schedule"] == "hourly"] == [
        "2026-03-10T12:30:00Z",
        "2026-03-10T13:30:00Z",
    ]
    assert server.client.get(f"{APP}/programs/clean/nextruntime").json() == []


def test_the_previous_run_times_are_of_crons_that_ever_fired_suspended_ones_too(server: Served):
    assert server.client.get(f"{PROGRAM}/previousruntime").json() == []

    server.pass_time(timedelta(minutes=31))
    server.client.post(f"{SCHEDULES}/hourly/disable")
    server.now += timedelta(hours=5)

    assert server.client.get(f"{PROGRAM}/previousruntime").json() == [
        {"schedule": "hourly", "time": "2026-03-10T12:30:00Z"}
    ]


@pytest.mark.parametrize("kind", ["nextruntime", "previousruntime"])
def test_run_times_of_something_unknown_are_404(server: Served, kind: str):
    problem(server.client.get(f"{APP}/programs/none/{kind}"), 404)
    problem(server.client.get(f"{NS}/apps/none/programs/report/{kind}"), 404)


@pytest.mark.parametrize("n", ["0", "-1", "x", "1001"])
def test_a_wrong_number_is_400(server: Served, n: str):
    problem(server.client.get(f"{PROGRAM}/nextruntime?n={n}"), 400)


def test_a_batch_has_an_entry_each_in_the_order_asked(server: Served):
    asked = [
        {"app": "sales", "program": "none"},
        {"app": "sales", "program": "report"},
        {"app": "none", "program": "report"},
        {"app": "no app", "program": "report"},
    ]

    answer = server.client.post(f"{NS}/nextruntime", json=asked)

    assert answer.status_code == 200
    assert [each["status_code"] for each in answer.json()] == [404, 200, 404, 400]
    assert answer.json()[1] == {
        "app": "sales",
        "program": "report",
        "status_code": 200,
        "schedules": server.client.get(f"{PROGRAM}/nextruntime").json(),
    }
    assert server.client.post(f"{NS}/previousruntime", json=asked[1:2]).json()[0]["schedules"] == []
    assert server.client.post(f"{NS}/nextruntime", json=[]).json() == []


@pytest.mark.parametrize(
    "body", [{}, [5], [{"app": "sales"}], [{"app": "sales", "program": "report", "x": 1}]]
)
@pytest.mark.parametrize("kind", ["nextruntime", "previousruntime"])
def test_a_malformed_batch_is_400(server: Served, kind: str, body: object):
    problem(server.client.post(f"{NS}/{kind}", json=body), 400)


STATUS = f"{NS}/schedules/trigger-type/program-status"


def test_schedules_that_a_program_triggers_composites_too(server: Served):
    def after(status: str, program: str) -> dict[str, object]:
        return {"run": {"program": program, "status": status}}

    both = {"all": [after("failed", "sales/report"), {"cron": "0 6 * * *"}]}
    spec = {
        "app": "after",
        "programs": {"build": {"run": "p.b"}, "other": {"run": "p.o"}},
        "schedules": {
            "ok": {"program": "build", "trigger": after("succeeded", "sales/report")},
            "both": {"program": "build", "trigger": both},
            "own": {"program": "other", "trigger": after("succeeded", "build")},
        },
    }
    deployed(server, spec)

    def names(query: str) -> list[str]:
        answer = server.client.get(f"{STATUS}?trigger-app-name=sales&trigger-program-name=report{query}")
        assert answer.status_code == 200, answer.text
        return [f"{each['app']}/{each['name']}" for each in answer.json()["items"]]

    assert names("") == ["after/both", "after/ok"]
    assert names("&trigger-program-statuses=succeeded") == ["after/ok"]
    assert names("&trigger-program-statuses=FAILED,started") == ["after/both"]
    problem(server.client.get(f"{STATUS}?trigger-app-name=sales"), 400)
    problem(server.client.get(f"{STATUS}?trigger-program-name=report"), 400)
    wrong = "trigger-app-name=sales&trigger-program-name=report&trigger-program-statuses=succeeded,late"
    problem(server.client.get(f"{STATUS}?{wrong}"), 400)


AGAIN = f"{NS}/schedules/re-enable"


def test_those_suspended_in_a_range_and_still_so_are_enabled_again(server: Served):
    for name in ("daily", "hourly", "nested"):
        server.client.post(f"{SCHEDULES}/{name}/disable")
        server.now += timedelta(minutes=1)
    server.client.post(f"{SCHEDULES}/hourly/enable")

    start, end = "2026-03-10T12:00:00Z", "2026-03-10T13:02:00+01:00"
    answer = server.client.put(AGAIN, params={"start-time": start, "end-time": end})

    assert (answer.status_code, answer.json()) == (200, {"enabled": ["sales/daily"]})
    assert shown(server, "nested")["status"] == "suspended"
    # Suspended since its creation: no person did it.
    assert shown(server, "quiet")["status"] == "suspended"


@pytest.mark.parametrize(
    ("start", "end"),
    [
        ("", "2026-03-10T12:00:00Z"),
        ("2026-03-10T12:00:00Z", ""),
        ("yesterday", "2026-03-10T12:00:00Z"),
        ("2026-03-10T12:00:00", "2026-03-10T13:00:00Z"),
        ("2026-03-10T12:00:01Z", "2026-03-10T12:00:00Z"),
        ("0001-01-01T00:00:00+14:00", "2026-03-10T12:00:00Z"),
    ],
)
def test_a_missing_or_malformed_time_is_400(server: Served, start: str, end: str):
    given = {"start-time": start, "end-time": end}
    problem(server.client.put(AGAIN, params={key: value for key, value in given.items() if value}), 400)
