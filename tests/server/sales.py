"""The app of the tests of the server: two programs, a daily report, and a schedule for each day of sales."""

from typing import Any

from tests.server.serving import NS, Served

APP = f"{NS}/apps/sales"
SCHEDULES = f"{APP}/schedules"

DAILY: dict[str, Any] = {"program": "report", "trigger": {"cron": "0 6 * * *"}, "timeout": "90m"}
EACH_DAY: dict[str, Any] = {
    "program": "clean",
    "for_each": "day",
    "trigger": {"partitions": {"dataset": "raw"}},
    "constraints": [{"window": {"from": "22:00", "to": "06:00"}}],
    "args": {"limits": {"low": 1, "high": 9}},
    "status": "active",
}
SPEC: dict[str, Any] = {
    "app": "sales",
    "datasets": {
        "raw": {"partitions": {"cycle": "day", "start": "2026-01-01"}},
        "cleaned": {"partitions": {"cycle": "day", "start": "2026-01-01"}},
    },
    "programs": {
        "clean": {"run": "programs.clean", "reads": ["raw"], "writes": ["cleaned"]},
        "report": {"run": "programs.report"},
    },
    "schedules": {"daily": DAILY, "each_day": EACH_DAY},
}


def deployed(server: Served, spec: dict[str, Any] = SPEC, **more: Any) -> dict[str, Any]:
    """Deploy the app, and return the answer."""
    answer = server.client.put(f"{NS}/apps/{spec['app']}", json={"spec": spec, **more})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def shown(server: Served, name: str) -> dict[str, Any]:
    """Return a schedule of the app."""
    answer = server.client.get(f"{SCHEDULES}/{name}")
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found
