"""The answer to a button: back to its page, which says what was done."""

from urllib.parse import quote, urlencode

from fastapi import Response
from fastapi.responses import RedirectResponse

SEE_OTHER = 303


def back(path: str, done: str, **query: str) -> Response:
    """Return the way back to a page.

    Args:
        query: of the page.
    """
    return RedirectResponse(f"{quote(path)}?{urlencode({**query, 'done': done})}", SEE_OTHER)
