"""The value of the cookie of a browser that has signed in: it is not the token, and nothing else takes it.

    value = NAME ~ EXPIRES ~ HMAC(hash of the token, NAME ~ EXPIRES)

So a cookie that another person has read ends by itself, and with the token that it was made for, and the API
does not take it. The store keeps nothing of it: the hash of a token never leaves the store.
"""

import hashlib
import hmac
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from tidegate.scheduler.model.records.token import Token

KEPT_FOR = timedelta(hours=12)
SIGN = "~"
"""Between the parts; no name of a token has it."""


def make_value(token: Token, now: datetime) -> str:
    """Return the value for a browser that has shown a token."""
    said = f"{token.name}{SIGN}{int((now + KEPT_FOR).timestamp())}"
    return f"{said}{SIGN}{_signed(token, said)}"


def find_token(tokens: Iterable[Token], value: str, now: datetime) -> Token | None:
    """Return the token that a value was made for, unless it is revoked or the session is over."""
    said, _, signature = value.rpartition(SIGN)
    name, _, expires = said.partition(SIGN)
    if not (expires.isascii() and expires.isdecimal() and len(expires) <= len("9999999999")):
        return None
    if datetime.fromtimestamp(int(expires), UTC) <= now:
        return None
    for token in tokens:
        is_of = hmac.compare_digest(_signed(token, said).encode(), signature.encode("utf-8", "replace"))
        if token.name == name and is_of and token.revoked_at is None:
            return token
    return None


def _signed(token: Token, said: str) -> str:
    return hmac.new(token.hash.encode(), said.encode("utf-8", "replace"), hashlib.sha256).hexdigest()
