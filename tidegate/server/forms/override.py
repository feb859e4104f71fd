"""The expiry of an override in bodies and forms."""

from datetime import datetime

from tidegate.domain.time.expiry import ExpiryError, Until, parse_expiry
from tidegate.server.problem import Problem


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
