"""Backfills of schedules over REST: by key and by range, what is refused, cancel and resume."""

from typing import Any

import pytest

from tests.server.sales import deployed
from tests.server.serving import Served, problem
from tests.server.shop import BACKFILLS, INSTANCES, fetched

pytestmark = [pytest.mark.store]

DATES = {"from": "2026-03-01", "to": "2026-03-03"}


@pytest.fixture
def served(server: Served) -> Served:
    """A server with schedules of an app: one for each day, one at six whose output has no time."""
    deployed(server)
    return server


def start(server: Served, **body: Any) -> Any:
    return server.client.post(BACKFILLS, json=body)


def keys(server: Served, number: int) -> list[str]:
    items = fetched(server.client.get(f"{INSTANCES}?backfill={number}"))["items"]
    return [each["scheduled"] for each in items]


def test_a_range_is_started_cancelled_and_resumed(served: Served):
    started = fetched(start(served, name="each_day", **DATES, lot=2, which="missing"), 202)

    assert (started["total"], started["state"]) == (3, "running")
    assert started["backfill"]["tasks"] == ["sales/each_day"]
    assert set(started["by_date"]) == {"2026-03-01", "2026-03-02", "2026-03-03"}
    assert fetched(served.client.post(f"{BACKFILLS}/1/cancel"))["state"] == "cancelled"
    assert keys(served, 1) == []
    resumed = fetched(served.client.post(f"{BACKFILLS}/1/resume", json={"reason": "right after all"}))
    assert (resumed["total"], resumed["backfill"]["resumed"]) == (3, 1)
    assert problem(served.client.post(f"{BACKFILLS}/1/resume"), 409)["code"] == "E-STATE"
    assert problem(served.client.post(f"{BACKFILLS}/7/resume"), 404)["code"] == "E-TASK"
    assert keys(served, 1) == ["2026-03-01", "2026-03-02", "2026-03-03"]


def test_single_keys_of_a_cron(served: Served):
    body = {"name": "daily", "app": "sales", "keys": ["2026-03-02"], "quiet_downstream": True}

    started = fetched(start(served, **body), 202)

    assert (started["backfill"]["keys"], started["backfill"]["quiet_downstream"]) == (["2026-03-02"], True)
    assert keys(served, 1) == ["2026-03-02"]


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"name": "each_dya", **DATES}, 404, "E-TASK"),
        ({"name": "each_day", **DATES, "keys": ["2026-03-01"]}, 400, None),
        ({"name": "each_day", "from": "2026-03-01"}, 400, None),
        ({"name": "each_day", "keys": ["2126-03-01"]}, 400, "E-RANGE"),
        ({"name": "each_day", "keys": ["March"]}, 400, "E-TIME"),
        ({"name": "each_day", **DATES, "which": "failed"}, 400, "E-RANGE"),
        ({"name": "each_day", **DATES, "which": "some"}, 400, None),
    ],
)
def test_what_is_refused_makes_nothing(served: Served, body: dict[str, Any], status: int, code: str | None):
    assert problem(start(served, **body), status).get("code") == code
    assert fetched(served.client.get(BACKFILLS))["items"] == []


def test_a_wrong_name_is_answered_with_the_nearest(served: Served):
    assert "each_day" in problem(start(served, name="each_dya", **DATES), 404)["hint"]
