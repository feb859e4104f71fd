"""Sessions of browsers: a random value in a cookie, and a row in the store by its hash.

    signed in ──► row, cookie ──► reads, and writes of the server's own pages ──► signed out, revoked, expired

So a cookie that another person has read ends when its row goes, or when the token does that it was made for,
and the API does not take it.
"""

import secrets
from datetime import datetime, timedelta

import msgspec

from tidegate.scheduler.model.records.session import SESSIONS, Session
from tidegate.scheduler.model.records.token import token_hash
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.protocol import EngineTransaction

COOKIE = "tidegate_session"
"""The cookie of a browser that has signed in to the board."""

KEPT_FOR = timedelta(hours=12)
"""How long a browser is signed in that has shown a token."""

RANDOM_BYTES = 32


def open_session(transaction: EngineTransaction, session: Session, before: str | None) -> str:
    """Store a new session, and return the value of its cookie.

    Args:
        session: without its id.
        before: the value of the browser's cookie until now: its session ends.
    """
    value = secrets.token_urlsafe(RANDOM_BYTES)
    end_session(transaction, before)
    transaction.put_records(SESSIONS, [msgspec.structs.replace(session, id=token_hash(value))])
    return value


def end_session(transaction: EngineTransaction, value: str | None) -> None:
    """End the session of a cookie, if there is one."""
    if value:
        transaction.drop_records(SESSIONS, [token_hash(value)])


def find_session(reader: EngineReader, value: str, namespace: str, now: datetime) -> Session | None:
    """Return the session of a cookie, unless it is over."""
    for session in reader.records(SESSIONS, id=[token_hash(value)]):
        if session.namespace == namespace and session.expires_at > now:
            return session
    return None
