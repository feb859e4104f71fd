"""What an expiry does: a command that the clock gives, which the tick calls by name.

Reverting takes all that a change by hand takes: a difference with its consequences, `on_update` and
`on_suspend`. Those are commands, which advance the engine themselves before they change anything; this one is
called when that is done (docs/adr/0041-an-override-reverts-as-a-command-at-its-instant.md). `tick` does not
import commands, so their module is named here, and loaded when something expires.
"""

from collections.abc import Sequence
from datetime import datetime
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tidegate.scheduler.model.records.override import Override
    from tidegate.scheduler.store.protocol import EngineTransaction

REVERTS = "tidegate.scheduler.commands.reverts"


def end_expired(transaction: "EngineTransaction", expired: "Sequence[Override]", now: datetime) -> None:
    """Revert overrides that expire at the same instant."""
    import_module(REVERTS).end_expired(transaction, expired, now)
