"""What changes by hand have in common: who makes them, and until when they hold."""

from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from tidegate.domain.time.expiry import Until
    from tidegate.scheduler.model.journal import By

ACTOR = "cli"
"""The actor of a command in the journal, followed by the user of this machine."""

ExpiresOption = Annotated[
    str | None,
    typer.Option(
        "--expires",
        help="When it reverts by itself: after a duration such as 4h, at an instant, or never.",
        metavar="WHEN",
        show_default=False,
    ),
]


def by_hand(reason: str) -> "By":
    """Return who runs this command: the user of this machine."""
    from getpass import getuser

    from tidegate.scheduler.model.journal import By

    try:
        return By(actor=f"{ACTOR}:{getuser()}", reason=reason)
    except (OSError, KeyError):
        # A container may have a user without a name.
        return By(actor=ACTOR, reason=reason)


def until_of(expires: str | None, now: datetime) -> "Until | None":
    """Return a given expiry.

    Raises:
        WrongUsage: it means nothing, or is over.
    """
    if expires is None:
        return None
    from tidegate.domain.error import WrongUsage
    from tidegate.domain.time.expiry import ExpiryError, parse_expiry

    try:
        return parse_expiry(expires, now)
    except ExpiryError as error:
        raise WrongUsage(f"--expires: {error.message}", error.hint) from error
