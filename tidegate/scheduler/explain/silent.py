"""Silent: active schedules that will not fire when their crons say, for `tidegate doctor`.

The store has the next fire of each schedule. It follows from its crons, unless a clock was wrong when it was
computed.
"""

from datetime import datetime

from tidegate.domain.time import fire_times
from tidegate.domain.value import Value
from tidegate.scheduler.decision.fires import counts_after, cron_leaves
from tidegate.scheduler.model.verdict import earliest
from tidegate.scheduler.store.engine_reader import EngineReader


class SilentCron(Value, kw_only=True):
    """A schedule whose next fire in the store is later than that of its crons.

    Attributes:
        stored: its next fire in the store.
        due: the next fire of its crons.
    """

    schedule: str
    stored: datetime | None
    due: datetime


def silent_crons(reader: EngineReader, apps: frozenset[str], now: datetime) -> tuple[SilentCron, ...]:
    """Return the active schedules of some apps that will not fire when their crons say, by ref."""
    found: list[SilentCron] = []
    for state in reader.schedules():
        if not state.active or state.app not in apps or state.spec.task is not None:
            continue
        crons = ((cron, counts_after(state, leaf, now)) for leaf, cron in cron_leaves(state))
        due = earliest(fire_times.next_fire(cron, after) for cron, after in crons)
        if due is not None and (state.next_fire_at is None or state.next_fire_at > due):
            found.append(SilentCron(schedule=state.ref, stored=state.next_fire_at, due=due))
    return tuple(found)
