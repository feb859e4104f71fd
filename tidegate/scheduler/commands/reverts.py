"""Revert: what an override has changed becomes what it was, by the same paths as a change by hand.

Overrides whose time has come revert as if a person had reverted them at that instant. The tick calls that
when all instants before are done (`scheduler.tick.tick.expire`). What cannot be reverted stays without an
expiry, and the journal says why: the engine never stops for it.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Literal

import msgspec

from tidegate.domain.model import App, Schedule
from tidegate.scheduler.commands.by_hand.held_apps import release_held
from tidegate.scheduler.commands.by_hand.statuses import switch
from tidegate.scheduler.commands.deployment.deployed_rows import deployed_apps
from tidegate.scheduler.commands.deployment.schedules import carry_out_call
from tidegate.scheduler.commands.overrides import Cause, record_overrides
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.journal import By
from tidegate.scheduler.model.records.override import OVERRIDES, Override
from tidegate.scheduler.model.refused import Refused, UnknownName
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.protocol import EngineTransaction
from tidegate.scheduler.tick.tick import route_before

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
    left = [
        each for each in transaction.records(OVERRIDES, ref=[each.ref for each in expired]) if each in expired
    ]
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


Part = Literal["status", "text"]


def revert(
    transaction: EngineTransaction, ref: str, now: datetime, by: By, only: Part | None = None
) -> tuple[Override, ...]:
    """Revert the overrides of a schedule.

    Args:
        only: that of its status, or of its text; None for both.

    Returns:
        Those that were reverted.

    Raises:
        UnknownName: it has none.
        Refused: what it reverts to is not known, or cannot be any more.
    """
    route_before(transaction, now, (ref,))
    found = [each for each in transaction.records(OVERRIDES, ref=[ref]) if of_part(each, only)]
    if not found:
        raise UnknownName(f"{ref} has no such override", "`tidegate overrides list` shows all")
    restore_texts(transaction, [each for each in found if each.of_text], now, by, "reverted")
    restore_statuses(transaction, found, now, by, "reverted")
    return tuple(found)


def check_revert(reader: EngineReader, state: ScheduleState, _now: datetime) -> None:
    """Refuse to revert a schedule of which nothing was changed by hand.

    Raises:
        Refused: it has no override.
    """
    if not any(of_part(each, None) for each in reader.records(OVERRIDES, ref=[state.ref])):
        raise Refused(f"nothing of {state.ref} was changed by hand", "`tidegate overrides list` shows all")


def of_part(override: Override, only: Part | None) -> bool:
    """Return whether an override of a schedule is of a part of it; None for both."""
    return override.kind != "held" and only in (None, "text" if override.of_text else override.kind)


def restore_statuses(
    transaction: EngineTransaction, found: Sequence[Override], now: datetime, by: By, cause: Cause
) -> None:
    """Give schedules the status that they had; an override that has ended meanwhile is passed over."""
    left = {
        each.ref
        for each in transaction.records(OVERRIDES, ref=[each.ref for each in found])
        if each.kind == "status"
    }
    for each in found:
        if each.kind == "status" and each.ref in left:
            switch(transaction, each.ref, each.status or "active", now, by, cause=cause)


def restore_texts(
    transaction: EngineTransaction, found: Sequence[Override], now: datetime, by: By, cause: Cause
) -> None:
    """Give schedules the text that was deployed: one difference for all of them.

    Raises:
        Refused: that text is not known, or cannot be deployed any more; nothing has changed.
    """
    if not found:
        return
    apps = deployed_apps(transaction)
    wanted: dict[str, App] = {}
    for each in found:
        app = wanted.get(each.app) or apps[each.app]
        schedules = {name: spec for name, spec in app.schedules.items() if name != each.name}
        if each.kind != "created":
            schedules[each.name] = _base(each, app)
        wanted[each.app] = msgspec.structs.replace(app, schedules=schedules)
    carry_out_call(transaction, wanted, now, by, cause=cause)


def _base(override: Override, app: App) -> Schedule:
    spec = override.spec
    if spec is None:
        hint = "`tidegate deploy` gives it the text of the YAML"
        raise Refused(f"what {override.ref} was deployed as is not known", hint)
    if spec.program and spec.program not in app.programs:
        raise Refused(f'the program "{spec.program}" of {override.ref} is not deployed any more')
    return msgspec.structs.replace(spec, status=override.status or spec.status)
