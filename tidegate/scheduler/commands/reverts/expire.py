"""Expire: overrides whose time has come revert, as if a person had reverted them at that instant.

The tick calls it when all instants before are done (`scheduler.tick.tick.expire`). What cannot be reverted
stays without an expiry, and the journal says why: the engine never stops for it.
"""

from collections.abc import Callable, Sequence
from datetime import datetime

import msgspec

from tidegate.scheduler.commands.by_hand.held_apps import release_held
from tidegate.scheduler.commands.overrides.record import record_overrides
from tidegate.scheduler.commands.reverts.revert import restore_statuses, restore_texts
from tidegate.scheduler.model.journal import By
from tidegate.scheduler.model.records.override import Override
from tidegate.scheduler.model.refused import Refused
from tidegate.scheduler.store.protocol import EngineTransaction

EXPIRY = "expiry"
"""The actor of what reverts by itself."""


def end_expired(transaction: EngineTransaction, expired: Sequence[Override], now: datetime) -> None:
    """Revert overrides that expire at the same instant."""
    texts = [each for each in expired if each.of_text]
    try:
        restore_texts(transaction, texts, now, _by(expired), "expired")
    except Refused:
        for each in texts:
            _or_stays(
                transaction,
                each,
                now,
                lambda one: restore_texts(transaction, [one], now, _by([one]), "expired"),
            )
    for each in expired:
        if each.kind == "status":
            _or_stays(transaction, each, now, lambda one: _restore_status(transaction, one, now))
        elif each.kind == "held":
            release_held(transaction, each.ref, now, _by([each]), "expired")
    # One whose schedule is as it was already has nothing to revert, and ends all the same.
    left = [each for each in transaction.overrides(refs=[each.ref for each in expired]) if each in expired]
    record_overrides(transaction, left, [], now, _by(expired), "expired")


def _restore_status(transaction: EngineTransaction, override: Override, now: datetime) -> None:
    restore_statuses(transaction, [override], now, _by([override]), "expired")


def _or_stays(
    transaction: EngineTransaction, override: Override, now: datetime, restore: Callable[[Override], None]
) -> None:
    """Restore what an override has changed; what is refused stays as it is, without an expiry."""
    try:
        restore(override)
    except Refused as refusal:
        reason = f"{override.reason}; it could not revert: {refusal.message}".removeprefix("; ")
        stays = msgspec.structs.replace(override, expires_at=None, reason=reason)
        record_overrides(transaction, [override], [stays], now, _by([override]))


def _by(expired: Sequence[Override]) -> By:
    """Return who reverts, with what has expired as the reason."""
    said = dict.fromkeys(f"the override of {each.owner}{_because(each)} has expired" for each in expired)
    return By(actor=EXPIRY, reason="; ".join(said))


def _because(override: Override) -> str:
    return f" ({override.reason})" if override.reason else ""
