"""Gauges over REST: what is reported counts, what is refused, and who may report."""

from typing import Any

import pytest

from tests.server.sales import DAILY, SPEC, deployed
from tests.server.serving import NS, Served, problem
from tests.server.shop import fetched, journaled
from tidegate.scheduler.model.journal import EntryKind
from tidegate.scheduler.model.records.token import Role
from tidegate.scheduler.model.run import GAUGES

pytestmark = [pytest.mark.store]

CPU = f"{NS}/gauges/cpu"
LIMITED = {**DAILY, "constraints": [{"load": {"gauge": "cpu", "max": 80}}]}


def test_a_report_counts_and_shows_who_waits_for_it(server: Served):
    deployed(server, {**SPEC, "schedules": {"daily": LIMITED}})

    answer = fetched(server.client.post(CPU, json={"value": 95, "reason": "busy"}))

    assert answer == {
        "name": "cpu",
        "value": 95.0,
        "reported_at": "2026-03-10T12:00:00Z",
        "limits": {"sales/daily": 80.0},
    }
    with server.store.reading() as reader:
        assert [(gauge.name, gauge.value) for gauge in reader.records(GAUGES)] == [("cpu", 95.0)]
    assert journaled(server, EntryKind.GAUGE) == [("rest", "busy")]


def test_the_last_reports_are_listed_by_name_with_who_waits_for_them(server: Served):
    deployed(server, {**SPEC, "schedules": {"daily": LIMITED}})
    assert fetched(server.client.get(f"{NS}/gauges")) == {"items": [], "next": None}
    problem(server.client.get(CPU), 404)
    cpu = fetched(server.client.post(CPU, json={"value": 95}))
    memory = fetched(server.client.post(f"{NS}/gauges/memory", json={"value": 7}))

    first = fetched(server.client.get(f"{NS}/gauges?limit=1"))
    rest = fetched(server.client.get(f"{NS}/gauges?limit=1&cursor={first['next']}"))

    lines = [cpu, memory]
    assert ([*first["items"], *rest["items"]], rest["next"]) == (lines, None)
    assert fetched(server.client.get(CPU)) == cpu
    own = server.of(server.token(Role.READ, app="sales"))
    assert fetched(own.get(f"{NS}/gauges"))["items"] == lines[:1]
    assert fetched(own.get(CPU)) == cpu
    problem(own.get(f"{NS}/gauges/memory"), 404)
    other = server.of(server.token(Role.READ, app="other"))
    assert fetched(other.get(f"{NS}/gauges"))["items"] == []


def test_a_gauge_that_no_schedule_waits_for_is_kept(server: Served):
    assert fetched(server.client.post(CPU, json={"value": -1.5}))["limits"] == {}


@pytest.mark.parametrize(
    ("path", "body"),
    [
        (CPU, {}),
        (CPU, []),
        (CPU, {"value": "95"}),
        (CPU, {"value": None}),
        (CPU, {"value": True}),
        (CPU, {"value": 1, "other": 2}),
        (f"{NS}/gauges/No-Name", {"value": 1}),
        (f"{NS}/gauges/{'a' * 64}", {"value": 1}),
    ],
)
def test_what_is_malformed_is_400(server: Served, path: str, body: Any):
    problem(server.client.post(path, json=body), 400)
    with server.store.reading() as reader:
        assert reader.records(GAUGES) == ()


def test_a_number_that_is_not_finite_is_400(server: Served):
    answer = server.client.post(
        CPU, content=b'{"value": 1e999}', headers={"Content-Type": "application/json"}
    )

    problem(answer, 400)


def test_it_needs_operate_for_all_apps(server: Served):
    clients = {role: server.of(server.token(role)) for role in Role}

    problem(server.client.post(CPU, json={"value": 1}), 401)
    problem(clients[Role.READ].post(CPU, json={"value": 1}), 403)
    fetched(clients[Role.OPERATE].post(CPU, json={"value": 1}))
    problem(server.of(server.token(Role.OPERATE, app="sales")).post(CPU, json={"value": 1}), 403)
    assert journaled(server, EntryKind.GAUGE) == [("rest:operate-all", None)]
