"""Apps on hold: nothing of them is launched until a person releases them.

    hold ──► events are taken in, jobs are decided, no launch is offered ──► release ──► launches are offered

It is the emergency stop of one app. Unlike a suspended schedule, an app on hold discards nothing and releases
no slots: a launch that is decided stays decided, as while the scheduler is down.
"""

from collections.abc import Mapping
from datetime import datetime

import msgspec

from tidegate.domain.time.expiry import Until
from tidegate.scheduler.commands.overrides import Cause, record_overrides
from tidegate.scheduler.decision.changes.overrides import mark_of, marked
from tidegate.scheduler.model.journal import By, Entry, EntryKind
from tidegate.scheduler.model.records.override import OVERRIDES, Override
from tidegate.scheduler.model.refused import Refused
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.protocol import EngineTransaction
from tidegate.scheduler.tick.held_apps import HELD, Hold, held_apps
from tidegate.scheduler.tick.tick import expire


def hold_app(
    transaction: EngineTransaction, app: str, now: datetime, by: By, until: Until | None = None
) -> bool:
    """Hold an app; return whether anything has changed.

    Args:
        until: when it is released by itself; given for an app on hold, it changes when.
    """
    expire(transaction, now)
    held, known = held_apps(transaction), hold_of(transaction, app)
    if app in held and until is None:
        return False
    override = marked(Override(ref=app, kind="held", owner="", since=now), mark_of(by, until, now))
    record_overrides(transaction, _some(known), [override], now, by)
    if app not in held:
        _put(transaction, {**held, app: Hold(at=now, by=by.actor)})
        _note(transaction, app, "hold", now, by)
    return True


def release_app(transaction: EngineTransaction, app: str, now: datetime, by: By) -> bool:
    """Release an app; return whether it was on hold."""
    expire(transaction, now)
    return release_held(transaction, app, now, by, "undone")


def release_held(transaction: EngineTransaction, app: str, now: datetime, by: By, cause: Cause) -> bool:
    """Release an app, within what was done before; return whether it was on hold."""
    held = held_apps(transaction)
    record_overrides(transaction, _some(hold_of(transaction, app)), [], now, by, cause)
    if held.pop(app, None) is None:
        return False
    _put(transaction, held)
    _note(transaction, app, "release", now, by)
    return True


def check_hold(reader: EngineReader, app: str, _now: datetime) -> None:
    """Refuse to hold an app for which nothing would change.

    Raises:
        Refused: it is on hold.
    """
    if app in held_apps(reader):
        raise Refused(f"{app} is on hold already", f"`tidegate apps release {app}`")


def check_release(reader: EngineReader, app: str, _now: datetime) -> None:
    """Refuse to release an app that is not on hold.

    Raises:
        Refused: it is not.
    """
    if app not in held_apps(reader):
        raise Refused(f"{app} is not on hold", f"`tidegate apps hold {app}`")


def hold_of(reader: EngineReader, app: str) -> Override | None:
    """Return the override that holds an app, with who, why and until when."""
    return next((each for each in reader.records(OVERRIDES, ref=[app]) if each.kind == "held"), None)


def _some(override: Override | None) -> list[Override]:
    return [] if override is None else [override]


def rename_held(transaction: EngineTransaction, names: Mapping[str, str]) -> None:
    """Keep renamed apps on hold; a hold that was left under a new name is replaced.

    Args:
        names: the new name of each renamed app, by its former name.
    """
    held = held_apps(transaction)
    if not held.keys() & names.keys():
        return
    renamed = {names[app]: hold for app, hold in held.items() if app in names}
    others = {app: hold for app, hold in held.items() if app not in names}
    _put(transaction, {**others, **renamed})


def _put(transaction: EngineTransaction, held: Mapping[str, Hold]) -> None:
    transaction.set_cursor(HELD, msgspec.to_builtins(dict(sorted(held.items()))))


def _note(transaction: EngineTransaction, app: str, action: str, now: datetime, by: By) -> None:
    data = {"app": app, "action": action, **by.noted}
    transaction.add_journal([Entry(at=now, kind=EntryKind.HELD, data=data)])
