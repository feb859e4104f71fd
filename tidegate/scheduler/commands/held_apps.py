"""Apps on hold: nothing of them is launched until a person releases them.

    hold ──► events are taken in, jobs are decided, no launch is offered ──► release ──► launches are offered

It is the emergency stop of one app. Unlike a suspended schedule, an app on hold discards nothing and releases
no slots: a launch that is decided stays decided, as while the scheduler is down.
"""

from collections.abc import Mapping
from datetime import datetime

import msgspec

from tidegate.domain.value import Value
from tidegate.scheduler.commands.manual import CLI
from tidegate.scheduler.model.journal import By, Entry, EntryKind
from tidegate.scheduler.store.protocol import Reader, Transaction

HELD = "held-apps"
"""Name of the cursor that holds them."""


class Hold(Value, frozen=True, kw_only=True):
    """What holds an app.

    Attributes:
        at: since when; aware, UTC.
        by: who holds it: "cli", or "ui" for a switch in Dagster.
    """

    at: datetime
    by: str


def held_apps(reader: Reader) -> dict[str, Hold]:
    """Return the apps on hold by name; an app that is not deployed may be among them."""
    return msgspec.convert(reader.cursor(HELD) or {}, dict[str, Hold])


def hold_app(transaction: Transaction, app: str, now: datetime, by: By = CLI) -> bool:
    """Hold an app; return whether it was not on hold before."""
    held = held_apps(transaction)
    if app in held:
        return False
    _put(transaction, {**held, app: Hold(at=now, by=by.actor)})
    _note(transaction, app, "hold", now, by)
    return True


def release_app(transaction: Transaction, app: str, now: datetime, by: By = CLI) -> bool:
    """Release an app; return whether it was on hold."""
    held = held_apps(transaction)
    if held.pop(app, None) is None:
        return False
    _put(transaction, held)
    _note(transaction, app, "release", now, by)
    return True


def rename_held(transaction: Transaction, names: Mapping[str, str]) -> None:
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


def _put(transaction: Transaction, held: Mapping[str, Hold]) -> None:
    transaction.set_cursor(HELD, msgspec.to_builtins(dict(sorted(held.items()))))


def _note(transaction: Transaction, app: str, action: str, now: datetime, by: By) -> None:
    data = {"app": app, "action": action, **by.noted}
    transaction.add_journal([Entry(at=now, kind=EntryKind.HELD, data=data)])
