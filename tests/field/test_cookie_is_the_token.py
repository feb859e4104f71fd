"""A person who copied the cookie of my browser had my token, without end and for every call."""

from datetime import UTC, datetime, timedelta

from tidegate.scheduler.model.records.token import Role, Token, token_hash
from tidegate.server.browser_session import KEPT_FOR, find_token, make_value

NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)
SECRET = "tg_a-secret-of-a-person"
TOKEN = Token(name="ada", hash=token_hash(SECRET), role=Role.OPERATE, created_at=NOON)


def test_the_value_of_a_session_says_nothing_of_the_token() -> None:
    value = make_value(TOKEN, NOON)
    assert SECRET not in value and TOKEN.hash not in value
    assert token_hash(value) != TOKEN.hash, "no call takes it as a token"


def test_a_session_ends_by_itself_and_cannot_be_made_longer() -> None:
    value = make_value(TOKEN, NOON)
    assert find_token([TOKEN], value, NOON + KEPT_FOR - timedelta(seconds=1)) == TOKEN
    assert find_token([TOKEN], value, NOON + KEPT_FOR) is None
    name, _, rest = value.partition("~")
    assert find_token([TOKEN], f"{name}~9{rest}", NOON) is None


def test_another_secret_of_the_same_name_ends_it() -> None:
    value = make_value(TOKEN, NOON)
    again = Token(name="ada", hash=token_hash("another"), role=Role.OPERATE, created_at=NOON)
    assert find_token([again], value, NOON) is None
