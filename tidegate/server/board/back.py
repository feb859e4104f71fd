"""The answer to a button: back to its page, which says what was done.

The text is in the address, and signed: a link of another author shows nothing.
"""

import hashlib
import hmac
import secrets
from urllib.parse import quote, urlencode

from fastapi import Request, Response
from fastapi.responses import RedirectResponse

SEE_OTHER = 303
DONE, SIGNATURE = "done", "signed"

_KEY = secrets.token_bytes(32)
"""Of this process: after a restart an address in a browser shows its text no more."""


def back(path: str, done: str, **query: str) -> Response:
    """Return the way back to a page.

    Args:
        query: of the page.
    """
    said = {**query, DONE: done, SIGNATURE: _signature(done)}
    return RedirectResponse(f"{quote(path)}?{urlencode(said)}", SEE_OTHER)


def done_text(request: Request) -> str:
    """Return what the address says was done; "" unless `back` has written it."""
    done, signature = (request.query_params.get(name, "") for name in (DONE, SIGNATURE))
    known = hmac.compare_digest(_signature(done).encode(), signature.encode("utf-8", "replace"))
    return done if known else ""


def _signature(done: str) -> str:
    return hmac.new(_KEY, done.encode("utf-8", "replace"), hashlib.sha256).hexdigest()[:32]
