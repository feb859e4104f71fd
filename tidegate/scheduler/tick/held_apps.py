"""The apps on hold, of which no launch is offered (`scheduler.commands.by_hand.held_apps`), as they are kept.

The dispatcher reads them at each tick, and so do commands that only look.
"""

from datetime import datetime

import msgspec

from tidegate.domain.value import Value
from tidegate.scheduler.store.engine_reader import EngineReader

HELD = "held-apps"
"""Name of the cursor that holds them."""


class Hold(Value, frozen=True, kw_only=True):
    """What holds an app.

    Attributes:
        at: since when; aware, UTC.
        by: who holds it, as `By.actor`.
    """

    at: datetime
    by: str


def held_apps(reader: EngineReader) -> dict[str, Hold]:
    """Return the apps on hold by name; an app that is not deployed may be among them."""
    return msgspec.convert(reader.cursor(HELD) or {}, dict[str, Hold])
