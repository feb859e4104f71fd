"""What a caller with a token of one app reads in errors: nothing of other apps that it has not written."""

from typing import Any

import pytest

from tests.server.sales import APP, SCHEDULES, SPEC, deployed
from tests.server.serving import NS, Served
from tidegate.scheduler.model.records.token import Role

pytestmark = [pytest.mark.store]

QUAGGA: dict[str, Any] = {
    "app": "quagga",
    "datasets": {"quagga_raw": {}, "raw": {}},
    "programs": {"quagga_load": {"run": "programs.load"}, "report": {"run": "programs.report"}},
    "schedules": {
        "quagga_daily": {"program": "report", "trigger": {"cron": "0 6 * * *"}},
        "daily": {"program": "report", "trigger": {"cron": "0 6 * * *"}},
        "after_sales": {"program": "report", "trigger": {"partitions": {"dataset": "sales/raw"}}},
    },
    "tasks": {"quagga_task": {"program": "quagga_load", "cycle": "day"}},
}
"""An app whose names differ by a letter from what a caller writes."""

TRIGGER = {"partitions": {"dataset": "quaga/raw"}}
WITHOUT_RAW = {
    **SPEC,
    "datasets": {"cleaned": SPEC["datasets"]["cleaned"]},
    "programs": {"report": SPEC["programs"]["report"]},
    "schedules": {"daily": SPEC["schedules"]["daily"]},
}

ASKED: list[tuple[str, str, Any]] = [
    ("GET", f"{NS}/jobs?schedule=quaga_daily", None),
    ("GET", f"{NS}/jobs?schedule=sales/quaga_daily", None),
    ("GET", f"{NS}/ledger?schedule=sales/quaga_daily", None),
    ("GET", f"{NS}/events?schedule=quaga_daily", None),
    ("GET", f"{NS}/events?dataset=quaga_raw", None),
    ("GET", f"{NS}/late?dataset=sales/quaga_raw", None),
    ("GET", f"{NS}/instances?task=quaga_task", None),
    ("GET", "/api/v1/maintenance/history?table=quaga_raw", None),
    ("PUT", f"{SCHEDULES}/new", {"program": "report", "trigger": TRIGGER}),
    (
        "PUT",
        APP,
        {"spec": {**SPEC, "schedules": {"new": {"program": "report", "trigger": TRIGGER}}}},
    ),
    ("PUT", APP, {"spec": WITHOUT_RAW}),
    ("DELETE", APP, None),
]


@pytest.mark.parametrize(("method", "path", "body"), ASKED, ids=lambda each: str(each)[-40:])
def test_an_error_names_no_part_of_another_app(server: Served, method: str, path: str, body: Any):
    deployed(server)
    deployed(server, QUAGGA)
    mine, every = server.of(server.token(Role.ADMIN, app="sales")), server.of(server.token(Role.ADMIN))

    answer = mine.request(method, path, json=body)
    assert 400 <= answer.status_code < 500, answer.text
    assert "quagga" not in answer.text
    if "sales/qua" not in path:
        assert "quagga" in every.request(method, path, json=body).text, "without that limit it is named"


def test_a_name_that_other_apps_have_too_is_that_of_the_token(server: Served):
    deployed(server)
    deployed(server, QUAGGA)
    mine = server.of(server.token(Role.READ, app="sales"))

    assert mine.get(f"{NS}/jobs?schedule=daily").status_code == 200
    assert mine.get(f"{NS}/late?dataset=raw").status_code == 200
    for path in ("jobs?schedule=quagga/daily", "commits?dataset=default/quagga/raw"):
        assert mine.get(f"{NS}/{path}").status_code == 403
