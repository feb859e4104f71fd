"""What a person may do to an item of a list now, by the checks of the actions themselves."""

from datetime import datetime
from typing import Any

from tidegate.domain.error import UserError, WrongUsage
from tidegate.listings.listing import Action, Listing, load
from tidegate.scheduler.store.engine_reader import EngineReader


def allowed_actions(listing: Listing, reader: EngineReader, item: Any, now: datetime) -> tuple[str, ...]:
    """Return the actions that would not be refused now.

    Args:
        item: as the engine has it.
    """
    return tuple(each.name for each in listing.actions if is_allowed(listing, each.name, reader, item, now))


def is_allowed(listing: Listing, action: str, reader: EngineReader, item: Any, now: datetime) -> bool:
    """Return whether an action would not be refused now."""
    try:
        load(find_action(listing, action).check)(reader, item, now)
    except UserError:
        return False
    return True


def find_action(listing: Listing, name: str) -> Action:
    """Return the action of a name.

    Raises:
        WrongUsage: there is none.
    """
    for action in listing.actions:
        if action.name == name:
            return action
    known = ", ".join(action.name for action in listing.actions)
    raise WrongUsage(f"there is no action {name!r:.100}", f"one of {known}")
