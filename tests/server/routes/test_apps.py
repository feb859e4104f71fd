"""Apps: deployed with and without the update flag, read as they were written, refused and deleted."""

import json
from datetime import timedelta
from typing import Any

import msgspec
import pytest

from tests.server.sales import APP, DAILY, EACH_DAY, SCHEDULES, SPEC, deployed, shown
from tests.server.serving import NS, Served, problem, served
from tests.worlds.by import CLI
from tidegate.compiler.compile import compile_files
from tidegate.compiler.plan.ownership import Scope
from tidegate.scheduler.commands.deployment.deploy import deploy
from tidegate.scheduler.commands.deployment.live import difference
from tidegate.scheduler.model.deployed import APPS
from tidegate.scheduler.model.journal import EntryKind

pytestmark = [pytest.mark.store]

UPDATE = "app.deploy.update.schedules"
HEADER = "X-App-Deploy-Update-Schedules"
NOTHING = {"created": [], "updated": [], "deleted": [], "unchanged": [], "discarded_jobs": 0}
CHANGED = {**SPEC, "schedules": {"daily": {**DAILY, "timeout": "2h"}, "new": DAILY}}


def test_a_first_deployment_creates_the_schedules(server: Served):
    assert deployed(server) == {**NOTHING, "revision": 1, "created": ["daily", "each_day"]}
    assert shown(server, "each_day")["status"] == "active"
    with server.store.reading() as reader:
        (entry,) = [each for each in reader.journal() if each.kind is EntryKind.DEPLOY]
    assert entry.data["by"] == "rest"


def test_the_deployed_spec_put_again_changes_nothing(server: Served):
    task = {"cycle": "day", "at": {"time": "02:00"}, "program": "report"}
    spec = {**SPEC, "description": "Sales of all shops", "tasks": {"nightly": task}}
    deployed(server, spec)
    server.client.put(f"{SCHEDULES}/called", json={**DAILY, "args": {"a": [1, 2.5, None, "ü"]}})
    before = server.client.get(APP).json()
    states = [shown(server, name) for name in ("called", "daily", "each_day", "nightly")]
    server.now += timedelta(seconds=1)

    again = deployed(server, before["spec"])

    names = ["called", "daily", "each_day", "nightly"]
    assert again == {**NOTHING, "revision": before["revision"], "unchanged": names}
    assert server.client.get(APP).json() == before
    assert [shown(server, name) for name in names] == states
    assert {key: before["spec"][key] for key in spec if key != "schedules"} == {
        key: value for key, value in spec.items() if key != "schedules"
    }


def test_a_spec_has_templates_and_shows_their_parts_but_reads_no_rows(server: Served):
    template: dict[str, Any] = {
        "for": {"shop": ["north", "south"], "retries": [2]},
        "schedules": {"daily_${each.shop}": {**DAILY, "retries": "${each.retries}"}},
    }
    spec: dict[str, Any] = {
        **SPEC,
        "templates": {"shops": template},
        "defaults": {"schedules": {"owner": "feeds"}},
    }

    created = deployed(server, spec)["created"]

    assert created == ["daily", "daily_north", "daily_south", "each_day"]
    shown_spec = server.client.get(APP).json()["spec"]
    assert not {"templates", "defaults"} & shown_spec.keys()
    part = shown_spec["schedules"]["daily_south"]
    assert (part["retries"], part["owner"]) == (2, "feeds")
    assert deployed(server, shown_spec)["unchanged"] == created
    template["for"] = {"rows": "shops.csv"}
    answer = server.client.put(APP, json={"spec": spec})
    assert answer.status_code == 400
    (diagnostic,) = answer.json()["diagnostics"]
    assert (diagnostic["code"], diagnostic["path"]) == ("R132", "templates.shops.for.rows")


def test_with_updating_schedules_follow_the_spec(server: Served):
    deployed(server)
    job = server.client.post(f"{SCHEDULES}/each_day/trigger", json={"key": "2026-03-09"}).json()["job"]
    server.now += timedelta(seconds=1)

    answer = deployed(server, CHANGED)

    assert answer == {
        "revision": 2,
        "created": ["new"],
        "updated": ["daily"],
        "deleted": ["each_day"],
        "unchanged": [],
        "discarded_jobs": 1,
    }
    with server.store.reading() as reader:
        assert reader.jobs(ids=[job])[0].reason == "D-DELETED"


def test_without_updating_they_stay(server: Served):
    deployed(server)

    answer = deployed(server, CHANGED, **{UPDATE: False})

    assert answer == {**NOTHING, "revision": 1, "unchanged": ["daily", "each_day"]}
    assert shown(server, "daily")["timeout"] == "90m"


@pytest.mark.parametrize(
    ("settings", "header", "field", "updates"),
    [
        ("", None, None, True),
        ("[deploy]\nupdate_schedules = false", None, None, False),
        ("[deploy]\nupdate_schedules = false", "true", None, True),
        ("", "false", None, False),
        ("", "False", None, False),
        ("", "false", True, True),
        ("", "true", False, False),
    ],
)
def test_the_field_comes_before_the_header_before_the_project(
    tmp_path, settings: str, header: str | None, field: bool | None, updates: bool
):
    with served(tmp_path, settings) as server:
        deployed(server, SPEC, **{UPDATE: True})
        body: dict[str, Any] = {"spec": CHANGED} if field is None else {"spec": CHANGED, UPDATE: field}
        answer = server.client.put(APP, json=body, headers={} if header is None else {HEADER: header})

    assert bool(answer.json()["created"]) == updates, answer.text


def test_a_deployment_with_updating_undoes_what_calls_did(server: Served):
    deployed(server)
    server.client.put(f"{SCHEDULES}/called", json=DAILY)
    server.client.post(f"{SCHEDULES}/daily/update", json={"timeout": "5m"})
    with server.store.reading() as reader:
        wanted = {app.name: app.app for app in reader.records(APPS)}
        (compiled,) = compile_files({"a.yaml": json.dumps(SPEC).encode()}).models().values()
        scope = Scope(project=server.service.settings.name, only=frozenset(wanted), removable=frozenset())
        planned = {
            c.name: c.because for c in difference(reader, {"sales": compiled}, scope=scope).schedules()
        }
    assert planned == {
        "called": "it was created over REST",
        "daily": "it was changed over REST",
        "each_day": "",
    }

    kept = deployed(server, SPEC, **{UPDATE: False})
    assert kept["unchanged"] == ["called", "daily", "each_day"]
    answer = deployed(server)

    assert (answer["deleted"], answer["updated"]) == (["called"], ["daily"])
    assert shown(server, "daily")["timeout"] == "90m"
    with server.store.reading() as reader:
        assert not any(state.overridden for state in reader.schedules())


def test_a_status_set_by_hand_stays_through_deployments(server: Served):
    deployed(server)
    server.client.post(f"{SCHEDULES}/each_day/disable")

    deployed(server, {**SPEC, "schedules": {"daily": DAILY, "each_day": {**EACH_DAY, "owner": "ops"}}})

    found = shown(server, "each_day")
    assert (found["status"], found["owner"]) == ("suspended", "ops")
    assert found["suspended_at"] == "2026-03-10T12:00:00Z"


def test_a_removed_program_takes_its_schedules_with_it(server: Served):
    deployed(server)
    server.client.put(f"{SCHEDULES}/called", json=DAILY)
    programs = {"clean": SPEC["programs"]["clean"]}
    spec = {**SPEC, "programs": programs, "schedules": {"each_day": EACH_DAY}}

    answer = deployed(server, spec, **{UPDATE: False})

    assert answer["deleted"] == ["called", "daily"]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({}, "spec"),
        ({"spec": []}, "object"),
        ({"spec": {**SPEC, "app": "other"}}, "other"),
        ({"spec": {**SPEC, "app": 5}}, "5"),
        ({"spec": SPEC, UPDATE: "true"}, "bool"),
        ({"spec": SPEC, "force": 1}, "bool"),
        ({"spec": SPEC, "more": 1}, "more"),
        ({"spec": {**SPEC, "schedules": {"daily": {**DAILY, "program": "none"}}}}, "none"),
        ({"spec": {**SPEC, "colour": 1}}, "colour"),
    ],
)
def test_a_malformed_deployment_is_400(server: Served, body: dict[str, Any], said: str):
    found = problem(server.client.put(APP, json=body), 400)

    assert said in found["detail"]
    problem(server.client.get(APP), 404)


def test_a_malformed_header_is_400(server: Served):
    problem(server.client.put(APP, json={"spec": SPEC}, headers={HEADER: "maybe"}), 400)


def test_a_wrong_spec_has_diagnostics_with_paths(server: Served):
    wrong = {**SPEC, "schedules": {"daily": {**DAILY, "trigger": {"cron": "99 * * * *"}}}}

    found = problem(server.client.put(APP, json={"spec": wrong}), 400)

    assert [each["path"] for each in found["diagnostics"]] == ["schedules.daily.trigger.cron"]


def test_a_removal_that_others_need_is_refused_unless_forced(server: Served):
    deployed(server)
    after = {"program": "build", "trigger": {"run": {"program": "sales/report"}}}
    others = {"app": "after", "programs": {"build": {"run": "p.b"}}, "schedules": {"after": after}}
    deployed(server, others)
    without = {**SPEC, "programs": {"clean": SPEC["programs"]["clean"]}, "schedules": {}}

    found = problem(server.client.put(APP, json={"spec": without}), 409)
    assert "after/after" in found["detail"]
    problem(server.client.delete(APP), 409)
    assert server.client.put(APP, json={"spec": without, "force": True}).status_code == 200
    assert server.client.delete(f"{APP}?force=true").status_code == 200


def test_a_deleted_app_is_gone_with_its_schedules(server: Served):
    deployed(server)

    answer = server.client.delete(APP)

    assert answer.json() == {"deleted": ["daily", "each_day"], "discarded_jobs": 0}
    for path in (APP, SCHEDULES, f"{SCHEDULES}/daily"):
        problem(server.client.get(path), 404)
    problem(server.client.delete(APP), 404)
    assert server.client.get(f"{NS}/apps").json() == {"items": [], "next": None}


def test_apps_are_listed_by_name_in_pages(server: Served):
    for name in ("c", "a", "b"):
        deployed(server, {**SPEC, "app": name})

    first = server.client.get(f"{NS}/apps?limit=2").json()
    second = server.client.get(f"{NS}/apps?limit=2&cursor={first['next']}").json()

    assert [each["app"] for each in first["items"]] == ["a", "b"]
    assert [each["app"] for each in second["items"]] == ["c"]
    assert second["next"] is None
    assert first["items"][0]["namespace"] == "default"


def test_an_app_without_a_text_is_deployed_once_more(server: Served):
    deployed(server)
    with server.store.transaction() as transaction:
        (app,) = transaction.records(APPS)
        transaction.put_records(
            APPS, [msgspec.structs.replace(app, app=msgspec.structs.replace(app.app, written={}), digest="")]
        )

    problem(server.client.get(APP), 409)
    assert deployed(server)["unchanged"] == ["daily", "each_day"]
    assert server.client.get(APP).json()["spec"] == SPEC


def test_apps_of_another_project_are_not_in_the_namespace(server: Served):
    deployed(server)
    other = compile_files({"o.yaml": b"app: other\nprograms: {p: {run: m.p}}"}).models()
    with server.store.transaction() as transaction:
        deploy(transaction, other, server.now, scope=Scope(project="other project"), by=CLI)

    assert [each["app"] for each in server.client.get(f"{NS}/apps").json()["items"]] == ["sales"]
    problem(server.client.get(f"{NS}/apps/other"), 404)
    problem(server.client.delete(f"{NS}/apps/other"), 404)
    found = problem(server.client.put(f"{NS}/apps/other", json={"spec": {"app": "other"}}), 409)
    assert "other project" in found["detail"]


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/apps"),
        ("PUT", "/apps/x"),
        ("POST", "/nextruntime"),
        ("PATCH", "/apps/x"),
        ("POST", "/apps"),
    ],
)
def test_an_unknown_namespace_is_404_everywhere(server: Served, method: str, path: str):
    problem(server.client.request(method, f"/v3/namespaces/other{path}", json={}), 404)


def test_a_project_names_its_namespace(tmp_path):
    with served(tmp_path, '[project]\nnamespace = "analytics"') as server:
        assert server.client.get("/v3/namespaces/analytics/apps").status_code == 200
        problem(server.client.get(f"{NS}/apps"), 404)


def test_bodies_are_json_in_utf_8_up_to_5_mb(server: Served):
    for kind in ("text/plain", "application/x-www-form-urlencoded", "application/json; charset=latin-1", ""):
        problem(server.client.put(APP, content=b"{}", headers={"Content-Type": kind}), 415)
    headers = {"Content-Type": "application/json; charset=UTF-8"}
    problem(server.client.put(APP, content=b" " * 5_000_001, headers=headers), 413)
    problem(server.client.put(APP, content=(b" " * 2**20 for _ in range(6)), headers=headers), 413)
    problem(server.client.put(APP, content=b" " * 5_000_000, headers=headers), 400)
    problem(server.client.put(APP, content=b"{}", headers=headers), 400)
