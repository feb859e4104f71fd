"""Tokens of callers over HTTP: who may do what, with which app.

A token itself is never stored: the store has its hash, which says nothing about it, since a token is random
and long. A revoked token stays in the store, so that its name in the journal keeps its meaning.
"""

import hashlib
import hmac
from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum

from tidegate.domain.value import Value
from tidegate.scheduler.model.kind import Kind


class Role(StrEnum):
    """What a token allows; each role includes those before it."""

    READ = "read"
    OPERATE = "operate"
    ADMIN = "admin"

    def includes(self, other: "Role") -> bool:
        """Return whether this role allows what the other one allows."""
        order = list(Role)
        return order.index(self) >= order.index(other)


class Grant(Value, kw_only=True):
    """A role, and where it counts.

    Attributes:
        app: the only app that it is for; None for all.
    """

    role: Role
    app: str | None = None


class Token(Value, kw_only=True):
    """A token as the store keeps it.

    Attributes:
        hash: see `token_hash`.
        app: the only app that it is for; None for all.
        namespace: the only namespace that it is for; None for all.
        revoked_at: since when it is refused; None while it counts.
    """

    name: str
    hash: str
    role: Role
    app: str | None = None
    namespace: str | None = None
    created_at: datetime
    revoked_at: datetime | None = None


TOKENS = Kind(name="tokens", value=Token, key=("name",))


def token_hash(secret: str) -> str:
    """Return what the store keeps of a token."""
    return hashlib.sha256(secret.encode()).hexdigest()


def token_with(tokens: Iterable[Token], hash: str) -> Token | None:
    """Return the token with a hash, unless it is revoked."""
    for token in tokens:
        if hmac.compare_digest(token.hash, hash) and token.revoked_at is None:
            return token
    return None
