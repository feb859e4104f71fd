"""Health and the description of the server: /healthz, /readyz, /openapi.json."""

from datetime import timedelta

import pytest

from tests.server.serving import Served, problem
from tidegate.scheduler.launch.obstacles import note_locations
from tidegate.scheduler.model.records.token import Role

pytestmark = [pytest.mark.store]


def test_a_server_is_alive_without_a_token(server: Served):
    server.token(Role.READ)

    answer = server.client.get("/healthz")

    assert (answer.status_code, answer.json()) == (200, {"status": "alive"})


def test_a_server_is_ready_while_a_host_or_dispatcher_ticks(server: Served):
    before = server.client.get("/readyz")
    server.pass_time(timedelta(seconds=1))
    ticking = server.client.get("/readyz")
    server.now += timedelta(minutes=10)
    late = server.client.get("/readyz")

    assert (problem(before, 503)["scheduler"], before.json()["ready"]) == ("never ticked", False)
    assert (ticking.status_code, ticking.json()["ready"], ticking.json()["store"]) == (200, True, "reachable")
    assert (late.status_code, late.json()["scheduler"]) == (503, "late")


def test_a_server_is_not_ready_without_its_store(server: Served, tmp_path):
    server.store.close()
    (tmp_path / ".tidegate" / "store.db").write_bytes(b"not a database at all" * 1000)

    answer = server.client.get("/readyz")

    assert (answer.status_code, answer.json()["store"]) == (503, "unreachable")


def test_the_locations_of_the_host_are_listed_with_what_keeps_one_from_loading(server: Served):
    none = server.client.get("/api/v1/locations")
    for problems in ({"ours": "", "acme": ""}, {"ours": "", "acme": "ModuleNotFoundError: no module"}):
        note_locations(server.store, server.service.settings.name, problems, server.now)
        server.now += timedelta(minutes=1)

    answer = server.client.get("/api/v1/locations")

    assert none.json() == {"items": []}
    assert answer.json()["items"] == [
        {
            "name": "acme",
            "state": "failed",
            "problem": "ModuleNotFoundError: no module",
            "since": "2026-03-10T12:01:00Z",
        },
        {"name": "ours", "state": "loaded", "problem": "", "since": "2026-03-10T12:00:00Z"},
    ]
    problem(server.of("wrong").get("/api/v1/locations"), 401)


def test_the_document_lists_the_paths_and_needs_read(server: Served):
    document = server.client.get("/openapi.json").json()

    assert document["openapi"].startswith("3.")
    assert {"/healthz", "/readyz"} <= document["paths"].keys()
    assert not [
        operation
        for methods in document["paths"].values()
        for operation in methods.values()
        if "422" in operation["responses"]
    ]

    reader = server.of(server.token(Role.READ))
    assert reader.get("/openapi.json").status_code == 200
    problem(server.client.get("/openapi.json"), 401)
