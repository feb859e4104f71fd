"""What changes by hand have in common: who makes them, and until when they hold.

Options whose value is YAML: `--set KEY=YAML` and `--arg NAME=YAML`. A value means what it means in a file
of an app, since the compiler reads both: `NO`, `22:30` and dates are texts.
"""

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tidegate.domain.error import WrongUsage

if TYPE_CHECKING:
    from tidegate.domain.time.expiry import Until
    from tidegate.scheduler.model.journal import By


def yaml_option(option: str, text: str, form: str, example: str) -> tuple[str, Any]:
    """Return the name and the value of an option.

    Args:
        form: what is expected, such as "KEY=YAML".
        example: a good one, for the hint.

    Raises:
        WrongUsage: there is no name, or the value is not YAML or not allowed in a file.
    """
    from tidegate.compiler.reader import read_option

    name, equals, written = text.partition("=")
    if not (name and equals):
        raise WrongUsage(f"{option} must be {form}, got {text!r:.100}", f"for example {option} {example}")
    value, findings = read_option(written)
    for diagnostic in findings.diagnostics():
        raise WrongUsage(f"the value of {option} {name:.100}: {diagnostic.summary}", diagnostic.hint)
    return name, value


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
