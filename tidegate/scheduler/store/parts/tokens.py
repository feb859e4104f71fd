"""The protocols of tokens; see `scheduler.store.protocol`."""

from collections.abc import Sequence
from typing import Protocol

from tidegate.scheduler.model.records.token import Token


class TokenRows(Protocol):
    """Reads tokens."""

    def tokens(self) -> tuple[Token, ...]:
        """All tokens by name, revoked ones too."""
        ...


class TokenChanges(Protocol):
    """Changes tokens."""

    def put_tokens(self, tokens: Sequence[Token]) -> None:
        """Create or replace tokens, by name."""
        ...
