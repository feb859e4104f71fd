"""An app with cycle tasks for the tests of the server: a feed from outside, and what is made of it."""

from datetime import datetime, timedelta
from typing import Any

from tests.server.sales import deployed
from tests.server.serving import NS, Served

TASKS = f"{NS}/tasks"
INSTANCES = f"{NS}/instances"
BACKFILLS = f"{NS}/backfills"

MOST_AHEAD = 14
"""Hours of the time zone that is farthest ahead of UTC."""

TODAY, EVE = "2026-03-10", "2026-03-09"
THIRTEEN, FOURTEEN = f"{TODAY}-13:00", f"{TODAY}-14:00"

SHOP: dict[str, Any] = {
    "app": "shop",
    "datasets": {
        "raw": {"partitions": {"cycle": "hour", "start": "2026-01-01-00:00"}},
        "orders": {"partitions": {"cycle": "hour", "start": "2026-01-01-00:00"}},
        "revenue": {"partitions": {"cycle": "day", "start": "2026-01-01"}},
    },
    "programs": {
        "clean": {"run": "programs.clean", "reads": ["raw"], "writes": ["orders"]},
        "revenue": {"run": "programs.revenue", "reads": ["orders"], "writes": ["revenue"]},
    },
    "tasks": {
        "feed": {
            "type": "source",
            "dataset": "raw",
            "cycle": "hour",
            "at": {"from": "13:00", "to": "15:00"},
            "update": "outside",
            "status": "active",
        },
        "clean": {
            "program": "clean",
            "cycle": "hour",
            "at": {"minute": 10, "from": "13:00", "to": "15:00"},
            "status": "active",
        },
        "revenue": {"program": "revenue", "cycle": "day", "at": {"time": "18:00"}, "status": "active"},
        "off": {"program": "revenue", "cycle": "day", "enabled": False},
    },
}


def where_it_is(hour: int, now: datetime) -> str:
    """Return a time zone in which an hour of the day has come at an instant, and the next one has not."""
    ahead = (hour - now.hour) % 24
    ahead -= 24 * (ahead > MOST_AHEAD)
    # The sign of these names is that of POSIX: behind UTC is positive.
    return f"Etc/GMT{-ahead:+d}" if ahead else "Etc/GMT"


def shop(server: Served, app: str = "shop", **keys: Any) -> None:
    """Deploy the app, some keys of it replaced; the instances of the running day are made."""
    deployed(server, {**SHOP, "app": app, **keys})
    server.pass_time(timedelta(seconds=1))


def fetched(answer: Any, status: int = 200) -> Any:
    """Return the body of an answer with a status."""
    assert answer.status_code == status, answer.text
    return answer.json()


def journaled(server: Served, kind: Any) -> list[tuple[Any, Any]]:
    """Return who did what is of a kind, and why."""
    with server.store.reading() as reader:
        entries = [entry for entry in reader.journal() if entry.kind is kind]
    return [(entry.data.get("by"), entry.data.get("why")) for entry in entries]
