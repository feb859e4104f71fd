"""The one arrow that points up: an expiry is a command that the clock gives.

Reverting takes all that a change by hand takes: a difference with its consequences, `on_update` and
`on_suspend`. Those are commands, which advance the engine themselves before they change anything; this one is
called when that is done (docs/adr/0041-an-override-reverts-as-a-command-at-its-instant.md).
"""

from collections.abc import Sequence
from datetime import datetime

from tidegate.scheduler.model.override import Override
from tidegate.scheduler.store.protocol import Transaction


def end_expired(transaction: Transaction, expired: Sequence[Override], now: datetime) -> None:
    """Revert overrides that expire at the same instant."""
    from tidegate.scheduler.commands.overrides import expire

    expire.end_expired(transaction, expired, now)
