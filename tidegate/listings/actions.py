"""What a person may do to an item of a list now, by the checks of the actions themselves."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from tidegate.domain.error import UserError, WrongUsage
from tidegate.listings.listing import Action, load
from tidegate.scheduler.store.engine_reader import EngineReader


def refusal_of(action: Action, reader: EngineReader, item: Any, now: datetime) -> UserError | None:
    """Return why an action would be refused now; None if it would not."""
    try:
        load(action.check)(reader, item, now, **dict(action.given))
    except UserError as refused:
        return refused
    return None


def find_action(actions: Sequence[Action], name: str) -> Action:
    """Return the action of a name.

    Raises:
        WrongUsage: there is none.
    """
    for action in actions:
        if action.name == name:
            return action
    known = ", ".join(action.name for action in actions)
    raise WrongUsage(f"there is no action {name!r:.100}", f"one of {known}")
