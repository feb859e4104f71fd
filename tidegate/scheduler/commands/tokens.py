"""Tokens and sessions: create and revoke what allows callers to use the server.

The caller makes the secret, which is random, and shows it once; only its hash comes here.
"""

import re
from datetime import datetime

import msgspec

from tidegate.domain.suggest import did_you_mean
from tidegate.scheduler.model.journal import By, Entry, EntryKind
from tidegate.scheduler.model.records.session import SESSIONS
from tidegate.scheduler.model.records.token import TOKENS, Role, Token
from tidegate.scheduler.model.refused import Refused
from tidegate.scheduler.store.protocol import EngineTransaction

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,62}")
"""Names of tokens. They are in the journal as the actor of changes."""

APP = re.compile(r"[a-z][a-z0-9_]{0,62}")
"""Names of apps; a token may be created before its app is deployed."""

NAMESPACE = re.compile(r"[a-z][a-z0-9_-]{0,62}")
"""Names of namespaces, as the settings take them."""


def create_token(
    transaction: EngineTransaction,
    name: str,
    role: Role,
    app: str | None,
    hash: str,
    now: datetime,
    by: By,
    namespace: str | None = None,
) -> Token:
    """Store a new token; the name of a revoked one may be used again.

    Raises:
        Refused: the name is malformed or taken, or the app or the namespace is malformed.
    """
    if NAME.fullmatch(name) is None:
        raise Refused(
            f"the name of a token is of letters, digits and `_.-`, at most 63, got {name!r:.100}",
            "write for example `nightly-reports`",
        )
    known = {token.name: token for token in transaction.records(TOKENS)}
    if name in known and known[name].revoked_at is None:
        raise Refused(
            f"there is a token {name} already", f"choose another name, or `tidegate token revoke {name}`"
        )
    if app is not None and APP.fullmatch(app) is None:
        raise Refused(f"no app has the name {app!r:.100}", "write the name of one app, deployed or not")
    if namespace is not None and NAMESPACE.fullmatch(namespace) is None:
        raise Refused(
            f"no namespace has the name {namespace!r:.100}",
            "write that of [project] namespace of its project",
        )
    token = Token(name=name, hash=hash, role=role, app=app, namespace=namespace, created_at=now)
    transaction.put_records(TOKENS, [token])
    transaction.add_journal([_entry(token, "create", by, now)])
    return token


def revoke_token(transaction: EngineTransaction, name: str, now: datetime, by: By) -> Token:
    """Revoke a token: from the next request on it is refused.

    Raises:
        Refused: there is no such token, or it is revoked.
    """
    known = {token.name: token for token in transaction.records(TOKENS) if token.revoked_at is None}
    if name not in known:
        raise Refused(f'there is no token "{name}"', did_you_mean(name, list(known), "tokens"))
    token = msgspec.structs.replace(known[name], revoked_at=now)
    transaction.put_records(TOKENS, [token])
    transaction.add_journal([_entry(token, "revoke", by, now)])
    return token


def end_sessions(transaction: EngineTransaction, person: str, now: datetime, by: By) -> int:
    """End the sessions of a person, who may sign in again, and return how many there were.

    Args:
        person: by e-mail or subject, or as the journal has it.

    Raises:
        Refused: the person has no session.
    """
    everyone = [each for each in transaction.records(SESSIONS) if each.subject]
    found = [each for each in everyone if each.is_of(person)]
    if not found:
        known = sorted({each.email or each.subject for each in everyone if each.expires_at > now})
        hint = did_you_mean(person, known, "people") if known else "no person is signed in"
        raise Refused(f"no session is of {person!r:.100}", hint)
    transaction.drop_records(SESSIONS, [each.id for each in found])
    whose = sorted({each.actor for each in found})
    data = {"action": "sign-out", "people": whose, "sessions": len(found), **by.noted}
    transaction.add_journal([Entry(at=now, kind=EntryKind.TOKEN, data=data)])
    return len(found)


def _entry(token: Token, action: str, by: By, now: datetime) -> Entry:
    data = {"action": action, "token": token.name, "role": str(token.role), "app": token.app, **by.noted}
    if token.namespace is not None:
        data["namespace"] = token.namespace
    return Entry(at=now, kind=EntryKind.TOKEN, data=data)
