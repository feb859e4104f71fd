"""The list of schedules: of all apps, of one and of a program, and with each key of the YAML."""

import json

from tests.server.sales import APP, SCHEDULES, SPEC, deployed
from tests.server.serving import NS, Served, problem
from tidegate.compiler.schema import schema_text
from tidegate.listings.schedules import KEYS
from tidegate.scheduler.model.records.token import Role

LIST = f"{NS}/schedules"


def names(server: Served, path: str) -> list[str]:
    answer = server.client.get(path)
    assert answer.status_code == 200, answer.text
    return [each["ref"] for each in answer.json()["items"]]


def with_apps(server: Served) -> None:
    for app in ("sales", "other"):
        deployed(server, {**SPEC, "app": app})


def test_every_key_of_the_language_is_a_field():
    defined = json.loads(schema_text())["$defs"]
    written = {*defined["schedule"]["properties"], *defined["task"]["properties"]}
    assert {*KEYS, "status"} == written


def test_all_apps_are_listed_page_by_page(server: Served):
    with_apps(server)
    whole = names(server, LIST)
    assert whole == ["other/daily", "other/each_day", "sales/daily", "sales/each_day"]
    found, cursor = list[str](), ""
    while cursor is not None:
        page = server.client.get(f"{LIST}?limit=3{cursor}").json()
        found += [each["ref"] for each in page["items"]]
        cursor = f"&cursor={page['next']}" if page["next"] else None
    assert found == whole


def test_several_kinds_and_statuses_are_listed_together(server: Served):
    with_apps(server)
    both = "trigger-type=cron&trigger-type=partitions"
    assert names(server, f"{LIST}?app=sales&{both}") == ["sales/daily", "sales/each_day"]
    assert names(server, f"{LIST}?schedule-status=active,suspended&app=other") == [
        "other/daily",
        "other/each_day",
    ]
    assert names(server, f"{LIST}?{both}&schedule-status=scheduled") == ["other/each_day", "sales/each_day"]
    assert names(server, f"{APP}/programs/report/schedules?schedule-status=active") == []


def test_a_token_of_an_app_lists_that_app(server: Served):
    with_apps(server)
    mine = server.of(server.token(Role.READ, app="sales"))
    assert {each["app"] for each in mine.get(LIST).json()["items"]} == {"sales"}
    problem(mine.get(f"{LIST}?app=other"), 403)
    problem(mine.get(f"{LIST}?program=none"), 400)


def test_an_item_says_what_the_store_knows_and_may_be_sent_again(server: Served):
    deployed(server)
    server.client.post(f"{SCHEDULES}/daily/suspend")
    server.client.post(f"{SCHEDULES}/each_day/suspend", json={"reason": "late feed"})
    server.client.post(f"{SCHEDULES}/daily/trigger")
    daily, each_day = server.client.get(SCHEDULES).json()["items"]
    assert (daily["trigger_type"], daily["trigger_text"]) == ("cron", "cron 0 6 * * * UTC")
    assert (daily["waiting_jobs"], each_day["waiting_jobs"]) == (1, 0)
    assert each_day["overrides"] == ["suspended by rest (late feed)"]
    server.client.delete(f"{SCHEDULES}/each_day")
    again = server.client.put(f"{SCHEDULES}/each_day", json=each_day)
    assert (again.status_code, again.json()["args"]) == (200, SPEC["schedules"]["each_day"]["args"])
