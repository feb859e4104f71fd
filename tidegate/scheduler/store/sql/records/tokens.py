"""The tokens of callers in SQL."""

from collections.abc import Sequence

from sqlalchemy import Column, Table, Text

from tidegate.scheduler.model.records.token import Role, Token
from tidegate.scheduler.store.sql.columns import Codec, Coded, Instant, Name
from tidegate.scheduler.store.sql.metadata import metadata
from tidegate.scheduler.store.sql.statements.queries import Changes, Queries, every

tokens = Table(
    "tokens",
    metadata,
    Column("name", Name, primary_key=True),
    Column("hash", Text, nullable=False),
    Column("role", Coded(Role), nullable=False),
    Column("app", Name),
    Column("namespace", Name),
    Column("created_at", Instant, nullable=False),
    Column("revoked_at", Instant),
)
TOKENS = Codec(tokens, Token)
ALL_TOKENS = every(TOKENS)


class TokenReader(Queries):
    def tokens(self) -> tuple[Token, ...]:
        return tuple(sorted(self._all(ALL_TOKENS, TOKENS.value), key=lambda token: token.name))


class TokenWriter(TokenReader, Changes):
    def put_tokens(self, tokens: Sequence[Token]) -> None:
        self._put(TOKENS, tokens)
