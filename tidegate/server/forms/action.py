"""The form of an action: its fields, and what a person has given in them as arguments of the action."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from tidegate.domain.model import Operation
from tidegate.domain.time.expiry import ExpiryError, Until, parse_expiry
from tidegate.domain.value import Value
from tidegate.listings.listing import Action
from tidegate.server.problem import Problem

Given = Mapping[str, str]
"""The fields of a form, or of a query."""


class Field(Value, kw_only=True):
    """A field of the form of an action.

    Attributes:
        choices: what can be chosen, each with its words; None for a field that takes any text.
        kind: of the input, as in HTML.
    """

    name: str
    label: str
    value: str = ""
    placeholder: str = ""
    help: str = ""
    required: bool = False
    kind: str = "text"
    choices: tuple[tuple[str, str], ...] | None = None


FIELDS = {
    "reason": Field(
        name="reason", label="Reason", placeholder="For the journal and your colleagues", required=True
    ),
    "expires": Field(
        name="expires", label="Until", placeholder="4h", help="Empty: until a person takes it back."
    ),
}
"""What a person is asked when it is known what the action does."""


def taken_of(action: Action, given: Given, now: datetime) -> dict[str, Any]:
    """Return what a person has given to an action, as its arguments; reasons are of whom it is done by.

    Raises:
        Problem: 400.
    """
    found: dict[str, Any] = {}
    for name in action.takes:
        text = given.get(name, "").strip()
        match name:
            case "expires":
                found["until"] = until_of(text, now)
            case "key":
                found["key"] = text
            case "operation":
                found["operation"] = _operation(text)
            case "reason":
                pass
    return found


def _operation(name: str) -> Operation | None:
    """Return an operation; None for all that are configured."""
    if name and name not in list(Operation):
        raise Problem(400, f"there is no operation {name!r:.100}", hint=f"one of {', '.join(Operation)}")
    return Operation(name) if name else None


def until_of(expires: str, now: datetime) -> Until | None:
    """Return the expiry of an override that was given; None for an empty one.

    Raises:
        Problem: 400, it means nothing or is over.
    """
    if not expires:
        return None
    try:
        return parse_expiry(expires, now)
    except ExpiryError as error:
        raise Problem(400, error.message, hint=error.hint) from error
