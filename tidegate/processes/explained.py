"""Explanations with the facts that the engine does not know: blocked outputs, dead processes, addresses.

`tidegate why` prints them, and the server answers with them. The past is read from the journal, which has
what the engine knew then.
"""

from collections.abc import Callable, Sequence
from datetime import datetime

import msgspec

from tidegate.domain.error import WrongUsage
from tidegate.domain.time.instant import instant_of
from tidegate.processes.blocked_outputs import with_blocked
from tidegate.processes.dead_holders import with_dead
from tidegate.processes.run_address import run_address
from tidegate.project.settings.settings import Settings
from tidegate.scheduler.explain.explanation import Explanation
from tidegate.scheduler.explain.past.store_at import store_at
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.protocol import Store

Explain = Callable[[EngineReader, datetime], tuple[Explanation, ...]]
"""Explains something in a store at an instant."""


def explained(
    store: Store, present: EngineReader, explain: Explain, now: datetime, at: datetime | None = None
) -> tuple[Explanation, ...]:
    """Return explanations of the present, or of a past moment.

    Args:
        present: of the store as it is.
    """
    if at is not None:
        with store_at(present, at).reading() as past:
            return explain(past, at)
    blocked = (with_blocked(each, store, present) for each in explain(present, now))
    return tuple(with_dead(each, present, now) for each in blocked)


def address_of(settings: Settings, explanation: Explanation) -> str:
    """Return the page of the explained run in the Dagster UI; "" without one."""
    shown = explanation.failed or explanation.job
    return run_address(settings, None if shown is None else shown.run_id)


def explanation_json(explanation: Explanation, address: str, alive: Sequence[str]) -> dict[str, object]:
    """Return an explanation as JSON.

    Args:
        alive: lines on what is alive.
    """
    return {**msgspec.to_builtins(explanation), "run_address": address, "scheduler": list(alive)}


def past_instant(text: str, now: datetime, name: str = "--at") -> datetime:
    """Parse a past moment.

    Args:
        name: of the option or parameter.

    Raises:
        WrongUsage: the text is not an instant with a zone, or is in the future.
    """
    moment = instant_of(text, name)
    if moment > now:
        raise WrongUsage(f"{name} must be in the past, got {text}", "omit it to explain the present")
    return moment
