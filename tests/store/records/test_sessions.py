"""The contract of sessions: found by what their cookies hash to, and dropped when they are over."""

from tests.worlds.samples import at
from tidegate.scheduler.model.records.session import SESSIONS, Session
from tidegate.scheduler.model.records.token import token_hash
from tidegate.scheduler.store.protocol import Store
from tidegate.scheduler.store.upkeep import UpkeepStore
from tidegate.server.browser_session import end_session, find_session, open_session

PERSON = Session(
    id="",
    issuer="https://id.example.com",
    subject="0a1 ' ä",
    email="ann@example.org",
    name="Änn\n",
    groups=("a", "ä'"),
    namespace="default",
    expires_at=at(4),
)


def test_a_session_is_kept_by_a_hash_and_found_by_the_value_of_its_cookie_only(store: Store) -> None:
    with store.transaction() as transaction:
        value, other = (open_session(transaction, PERSON, None) for _ in range(2))
    with store.reading() as reader:
        kept = reader.records(SESSIONS, id=[token_hash(value)])
        assert [each.id for each in kept] == [token_hash(value)] and value != other
        assert find_session(reader, value, "default", at(3)) == kept[0]
        assert find_session(reader, value, "default", at(4)) is None
        assert find_session(reader, kept[0].id, "default", at(3)) is None
    with store.transaction() as transaction:
        open_session(transaction, PERSON, value)
        end_session(transaction, None)
        end_session(transaction, "none")
    with store.reading() as reader:
        assert find_session(reader, value, "default", at(3)) is None, "one browser has one session"
        assert find_session(reader, other, "default", at(3)) is not None
        assert len(reader.records(SESSIONS)) == 2


def test_sessions_that_are_over_are_dropped_oldest_first(store: UpkeepStore) -> None:
    with store.transaction() as transaction:
        for id, hour in (("a", 1), ("b", 2), ("c", 3)):
            transaction.put_records(
                SESSIONS, [Session(id=id, subject="s", namespace="d", expires_at=at(hour))]
            )
        assert transaction.drop_old(SESSIONS, at(3), 1) == 1
        assert [each.id for each in transaction.records(SESSIONS)] == ["b", "c"]
        assert transaction.drop_old(SESSIONS, at(3), 9) == 1
        assert [each.id for each in transaction.records(SESSIONS)] == ["c"]
