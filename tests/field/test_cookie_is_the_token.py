"""A person who copied the cookie of my browser had my token, without end and for every call."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.worlds.by import CLI
from tidegate.scheduler.commands.tokens import create_token, revoke_token
from tidegate.scheduler.model.records.session import SESSIONS, Session
from tidegate.scheduler.model.records.token import TOKENS, Role, token_hash, token_with
from tidegate.scheduler.store.memory.store import MemoryStore
from tidegate.server.browser_session import KEPT_FOR, find_session, open_session

NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)
SECRET = "tg_a-secret-of-a-person"
SESSION = Session(id="", token=token_hash(SECRET), namespace="default", expires_at=NOON + KEPT_FOR)


@pytest.fixture
def store() -> MemoryStore:
    """A store with the token of a person."""
    made = MemoryStore()
    with made.transaction() as transaction:
        create_token(transaction, "ada", Role.OPERATE, None, token_hash(SECRET), NOON, CLI)
    return made


def test_the_value_of_a_session_says_nothing_of_the_token(store: MemoryStore) -> None:
    with store.transaction() as transaction:
        value = open_session(transaction, SESSION, None)
    assert SECRET not in value and SESSION.token not in value
    assert token_hash(value) != SESSION.token, "no call takes it as a token"


def test_a_session_ends_by_itself_and_is_of_one_namespace(store: MemoryStore) -> None:
    with store.transaction() as transaction:
        value = open_session(transaction, SESSION, None)
        (kept,) = transaction.records(SESSIONS)
        assert find_session(transaction, value, "default", NOON + KEPT_FOR - timedelta(seconds=1)) == kept
        assert find_session(transaction, value, "default", NOON + KEPT_FOR) is None
        assert find_session(transaction, value, "other", NOON) is None
        assert find_session(transaction, f"{value}x", "default", NOON) is None


def test_another_secret_of_the_same_name_ends_it(store: MemoryStore) -> None:
    with store.transaction() as transaction:
        assert token_with(transaction.records(TOKENS), SESSION.token) is not None
        revoke_token(transaction, "ada", NOON, CLI)
        create_token(transaction, "ada", Role.OPERATE, None, token_hash("another"), NOON, CLI)
        assert token_with(transaction.records(TOKENS), SESSION.token) is None
