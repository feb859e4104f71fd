"""Namespaces over REST: names with one, tokens for one, and what a server serves of a store with several."""

from datetime import timedelta
from pathlib import Path

import pytest

from tests.server.board.board import DAYS, fill
from tests.server.sales import SPEC, deployed
from tests.server.serving import NS, Served, problem, served
from tests.worlds.by import CLI
from tidegate.scheduler.commands.tokens import create_token
from tidegate.scheduler.model.deployed import APPS
from tidegate.scheduler.model.records.token import Role, token_hash

pytestmark = [pytest.mark.store]


def in_namespace(server: Served, namespace: str) -> str:
    """Create a token for the apps of a namespace; it is its own name."""
    name = f"of-{namespace}"
    with server.store.transaction() as transaction:
        create_token(
            transaction, name, Role.ADMIN, None, token_hash(name), server.now, CLI, namespace=namespace
        )
    return name


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("jobs?schedule=default/sales/each_day", 200),
        ("jobs?schedule=lake/sales/each_day", 400),
        ("ledger?schedule=default/sales/each_day", 200),
        ("ledger?schedule=lake/sales/each_day", 400),
        ("events?schedule=default/sales/each_day", 200),
        ("events?schedule=lake/sales/each_day", 400),
        ("events?dataset=default/sales/raw", 200),
        ("events?dataset=lake/sales/raw", 400),
        ("commits?dataset=default/sales/raw", 200),
        ("commits?dataset=lake/sales/raw", 400),
        ("late?dataset=default/sales/raw", 200),
        ("late?dataset=lake/sales/raw", 400),
    ],
)
def test_a_parameter_takes_the_namespace_of_the_app(server: Served, path: str, expected: int):
    fill(server)
    answer = server.client.get(f"{NS}/{path}")
    assert answer.status_code == expected, answer.text
    if expected == 200 and "jobs" in path:
        assert {each["key"] for each in answer.json()["items"]} == set(DAYS)
    if expected == 400:
        assert 'is in the namespace "default", not in "lake"' in problem(answer, 400)["detail"]


@pytest.mark.parametrize("path", ["ledger", "events", "late", "overrides", "commits", "watermarks", "alerts"])
def test_a_filter_by_app_takes_its_namespace(server: Served, path: str):
    deployed(server)
    assert server.client.get(f"{NS}/{path}?app=default/sales").status_code == 200
    for wrong in ("lake/sales", "default/sale", "sale"):
        detail = problem(server.client.get(f"{NS}/{path}?app={wrong}"), 400)["detail"]
        assert detail == f'there is no app "{wrong}"'


def test_a_task_is_named_with_its_namespace(server: Served):
    deployed(server, {**SPEC, "tasks": {"nightly": {"program": "report", "cycle": "day"}}})
    assert server.client.get(f"{NS}/instances?task=default/sales/nightly").status_code == 200
    problem(server.client.get(f"{NS}/instances?task=lake/sales/nightly"), 404)


def test_a_specification_takes_the_namespace_of_an_app(server: Served):
    deployed(server)
    schedule = {"program": "read", "trigger": {"partitions": {"dataset": "default/sales/raw"}}}
    spec = {
        "app": "reader",
        "programs": {"read": {"run": "programs.read", "reads": ["default/sales/raw"]}},
        "schedules": {"each": schedule},
    }
    path = f"{NS}/apps/reader"
    assert server.client.put(path, json={"spec": spec}).status_code == 200
    assert server.client.get(path).json()["spec"]["schedules"]["each"]["trigger"] == schedule["trigger"]

    wrong = {"program": "read", "trigger": {"partitions": {"dataset": "lake/sales/raw"}}}
    for answer in (
        server.client.put(path, json={"spec": {**spec, "schedules": {"each": wrong}}}),
        server.client.put(f"{path}/schedules/other", json=wrong),
    ):
        (found,) = problem(answer, 400)["diagnostics"]
        assert found["code"] == "N320"
        assert 'the app sales is in the namespace "default"' in found["summary"]


def test_a_token_of_another_namespace_is_403(server: Served):
    deployed(server)
    mine, other = server.of(in_namespace(server, "default")), server.of(in_namespace(server, "lake"))

    assert mine.get(f"{NS}/apps").status_code == 200
    assert mine.post(f"{NS}/gauges/cpu", json={"value": 1}).status_code == 200
    for path in (f"{NS}/apps", "/v3/namespaces/lake/apps", "/metrics", "/"):
        detail = problem(other.get(path), 403)["detail"]
        assert detail == 'your token is for the namespace "lake" only, and this is "default"'
    problem(mine.get("/v3/namespaces/lake/apps"), 404)


def test_a_server_serves_its_project_in_its_namespace(server: Served, tmp_path: Path):
    deployed(server)
    folder = tmp_path / "lake"
    folder.mkdir()
    file = server.service.settings.store_url
    settings = f'[project]\nname = "landing"\nnamespace = "lake"\n[store]\nurl = "{file}"\n'
    with served(folder, settings) as lake:
        space = "/v3/namespaces/lake"
        assert lake.client.get(f"{space}/apps").json()["items"] == []
        problem(lake.client.get(f"{NS}/apps"), 404)
        answer = lake.client.put(f"{space}/apps/sales", json={"spec": SPEC})
        assert 'belongs to project "' in problem(answer, 409)["detail"]
        assert 'of the namespace "default"' in problem(answer, 409)["detail"]
        feeds = {"app": "feeds", "datasets": {"raw": {"path": "landing/feeds"}}}
        assert lake.client.put(f"{space}/apps/feeds", json={"spec": feeds}).status_code == 200
        lake.pass_time(timedelta(minutes=1))
    with server.store.reading() as reader:
        assert {each.name: each.namespace for each in reader.records(APPS)} == {
            "feeds": "lake",
            "sales": "default",
        }
    assert [each["app"] for each in server.client.get(f"{NS}/apps").json()["items"]] == ["sales"]
