"""What an expiry does: a command that the clock gives, which the tick calls without knowing the commands.

Reverting takes all that a change by hand takes: a difference with its consequences, `on_update` and
`on_suspend`. Those are commands, which advance the engine themselves before they change anything; this one is
called when that is done (docs/adr/0041-an-override-reverts-as-a-command-at-its-instant.md). So the package
registers it here, as `spark_jobs` registers the commit steps of the formats.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from tidegate.scheduler.model.records.override import Override
    from tidegate.scheduler.store.protocol import EngineTransaction

Revert: TypeAlias = "Callable[[EngineTransaction, Sequence[Override], datetime], None]"
"""Reverts the overrides that expire at the same instant."""

_loaders: list[Callable[[], Revert]] = []


def revert_with(load: Callable[[], Revert]) -> None:
    """Set the function that loads the command."""
    _loaders[:] = [load]


def end_expired(transaction: "EngineTransaction", expired: "Sequence[Override]", now: datetime) -> None:
    """Revert overrides that expire at the same instant."""
    revert = _loaders[0]()
    revert(transaction, expired, now)
