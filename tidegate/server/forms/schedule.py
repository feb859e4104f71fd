"""A schedule in a body: the keys of its YAML, and those that answers add; and its ETag."""

from collections.abc import Mapping
from typing import Any

from fastapi import Request

from tidegate.listings.schedules import ADDED
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.server.problem import Problem

EXAMPLE: dict[str, Any] = {
    "program": "join",
    "for_each": "day",
    "trigger": {"all": [{"partitions": {"dataset": "flights"}}, {"partitions": {"dataset": "weather"}}]},
    "constraints": [{"window": {"from": "22:00", "to": "06:00"}}],
    "args": {"late_after_minutes": 15},
    "status": "active",
}


def spec_of(body: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return the specification in a body, without the keys that answers add.

    Raises:
        Problem: 400, it has another name than the path.
    """
    if body.get("name", name) != name:
        raise Problem(400, f'the body has the name {body["name"]!r:.100}, and the path "{name}"')
    return {key: value for key, value in body.items() if key not in ADDED}


def etag(state: ScheduleState) -> str:
    """Return what changes with every change of a schedule, and when it is created again."""
    return f'"{state.revision}-{int(state.deployed_at.timestamp() * 1_000_000):x}"'


def check_match(request: Request, state: ScheduleState | None) -> None:
    """Refuse a write whose `If-Match` does not fit what is there.

    Raises:
        Problem: 412.
    """
    given = request.headers.get("if-match")
    if given is None:
        return
    wanted = [each.strip() for each in given.split(",")]
    if state is None or not ("*" in wanted or etag(state) in wanted):
        raise Problem(412, "the schedule has changed: its ETag is not the one of If-Match")
