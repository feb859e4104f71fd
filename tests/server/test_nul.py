"""The character U+0000, wherever a caller may write it: 400, and nothing is stored."""

from typing import Any

import pytest

from tests.server.sales import SCHEDULES, SPEC, deployed, shown
from tests.server.serving import NS, Served, problem

pytestmark = [pytest.mark.store]

Z = "a\x00b"


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", f"{NS}/jobs/a%00b", None),
        ("GET", f"{NS}/jobs?schedule=sales/a%00b", None),
        ("GET", f"{NS}/commits?dataset=sales/a%00b", None),
        ("GET", "/jobs/a%00b", None),
        ("POST", f"{SCHEDULES}/daily/enable", {"reason": Z}),
        ("POST", f"{NS}/gauges/cpu", {"value": 1, "reason": Z}),
        ("POST", f"{NS}/nextruntime", [{"app": "sales", "program": Z}]),
        ("POST", f"{SCHEDULES}/daily/update", {"args": {"deep": [{"text": Z}]}}),
        ("POST", f"{SCHEDULES}/daily/update", {"args": {Z: 1}}),
        ("PUT", f"{NS}/apps/sales", {"spec": {**SPEC, "description": Z}}),
    ],
)
def test_it_is_malformed(server: Served, method: str, path: str, body: Any):
    deployed(server)
    before = shown(server, "daily")

    assert "U+0000" in problem(server.client.request(method, path, json=body), 400)["detail"]

    assert shown(server, "daily") == before


def test_a_backslash_before_its_escape_is_a_text(server: Served):
    deployed(server)

    answer = server.client.post(f"{SCHEDULES}/daily/update", json={"args": {"pattern": r"\u0000"}})

    assert answer.json()["args"] == {"pattern": r"\u0000"}


def test_it_is_malformed_in_a_form_of_the_board(server: Served):
    answer = server.client.post(
        "/board/jobs/x/cancel", data={"reason": Z}, headers={"Origin": "http://127.0.0.1:8080"}
    )

    assert answer.status_code == 400
