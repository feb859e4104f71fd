"""Overrides in bodies and answers: until when, and who has changed what, why."""

from datetime import datetime
from typing import Any

from tidegate.domain.time.expiry import ExpiryError, Until, parse_expiry
from tidegate.server.problem import Problem

INSTANT: dict[str, Any] = {"type": "string", "format": "date-time"}
NO_INSTANT: dict[str, Any] = {"type": ["string", "null"], "format": "date-time"}
KIND: dict[str, Any] = {"enum": ["status", "specification", "created", "deleted", "held"]}

OVERRIDE: dict[str, Any] = {
    "type": "object",
    "required": [
        "app",
        "schedule",
        "kind",
        "override",
        "owner",
        "reason",
        "since",
        "expires_at",
        "reverts_to",
        "fields",
    ],
    "properties": {
        "kind": KIND,
        "owner": {"type": "string"},
        "reason": {"type": "string"},
        "since": INSTANT,
        "expires_at": NO_INSTANT,
        "app": {"type": "string"},
        "schedule": {"type": ["string", "null"]},
        "override": {"enum": ["suspended", "active", "changed", "created", "deleted", "on hold"]},
        "reverts_to": {
            "type": "object",
            "properties": {
                "status": {"enum": ["active", "suspended", None]},
                "specification": {"type": ["object", "null"]},
            },
        },
        "fields": {"type": "array", "items": {"type": "object"}},
    },
}
"""The schema of an override in a list."""

OVERRIDES: dict[str, Any] = {
    "type": "object",
    "required": ["overrides"],
    "properties": {"overrides": {"type": "array", "items": OVERRIDE}},
}

REVERTED: dict[str, Any] = {
    "type": "object",
    "required": ["reverted"],
    "properties": {"reverted": {"type": "array", "items": OVERRIDE}},
}


def until_of(expires: str, now: datetime) -> Until | None:
    """Return a given expiry; None for an empty one.

    Raises:
        Problem: 400, it means nothing or is over.
    """
    if not expires:
        return None
    try:
        return parse_expiry(expires, now)
    except ExpiryError as error:
        raise Problem(400, error.message, hint=error.hint) from error
