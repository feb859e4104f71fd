"""The tokens of callers in memory."""

from collections.abc import Sequence

from tidegate.scheduler.model.records.token import Token
from tidegate.scheduler.store.memory.tables import Tables


class TokenReader:
    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def tokens(self) -> tuple[Token, ...]:
        return tuple(token for _, token in sorted(self._tables.tokens.items()))


class TokenWriter(TokenReader):
    def put_tokens(self, tokens: Sequence[Token]) -> None:
        self._tables.own("tokens")
        self._tables.tokens.update({token.name: token for token in tokens})
