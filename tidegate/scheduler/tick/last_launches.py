"""The last launches of keys, cached in a working set: what an event may repair (`decision/repairs.py`).

Each schedule with `for_each` has one for each key that was launched. They are read only for events that may
repair: those of a schedule with `repair`, and those that a repair has published.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from tidegate.domain.model import App
from tidegate.domain.part_name import app_of
from tidegate.domain.partition_key import PartitionKeyError
from tidegate.scheduler.decision.repairs import consumed
from tidegate.scheduler.decision.route import key_of
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.event import Event, EventKind, Subscription
from tidegate.scheduler.model.job import LaunchPlan
from tidegate.scheduler.model.records.last_launch import LAST_LAUNCHES, LastLaunch
from tidegate.scheduler.store.protocol import EngineTransaction

Place = tuple[str, str]
"""A schedule ("app/name") and a key."""


class LastLaunches:
    """The last launches of keys."""

    def __init__(self, transaction: EngineTransaction) -> None:
        self._transaction = transaction
        self._known: dict[Place, LastLaunch | None] = {}
        self._plans: dict[str, LaunchPlan | None] = {}
        self._changed: dict[Place, LastLaunch] = {}

    def former(
        self, states: Mapping[str, ScheduleState]
    ) -> Callable[[str, str, Event], tuple[LastLaunch, bool] | None]:
        """Return what a router asks: the last launch of a key, and whether that consumed a partition."""

        def of(schedule: str, key: str, event: Event) -> tuple[LastLaunch, bool] | None:
            if not _may_repair(event, states[schedule]):
                return None
            self._read({(schedule, key)})
            last = self._known[schedule, key]
            return None if last is None else (last, consumed(event, self._plan(last), app_of(schedule)))

        return of

    def prefetch(
        self,
        events: Iterable[tuple[Event, Subscription]],
        states: Mapping[str, ScheduleState],
        apps: Mapping[str, App],
    ) -> None:
        """Read in one query what the events of an instant will ask for one by one."""
        places: set[Place] = set()
        for event, listener in events:
            state = states[listener.schedule]
            if state.app in apps and listener.former is None and _may_repair(event, state):
                try:
                    places.add((state.ref, key_of(event, listener.leaf, state.spec, apps[state.app])))
                except (PartitionKeyError, OverflowError):
                    continue
        self._read(places)

    def put(self, last: LastLaunch, plan: LaunchPlan) -> None:
        """Record the last launch of a key."""
        place = (last.schedule, last.key)
        self._known[place] = self._changed[place] = last
        self._plans[last.job] = plan

    def write(self) -> None:
        """Write the changes."""
        changed: Sequence[LastLaunch] = tuple(self._changed.values())
        self._changed = {}
        if changed:
            self._transaction.put_records(LAST_LAUNCHES, changed)

    def _read(self, places: Collection[Place]) -> None:
        missing = [each for each in places if each not in self._known]
        if not missing:
            return
        self._known.update(dict.fromkeys(missing))
        refs, keys = {ref for ref, _ in missing}, {key for _, key in missing}
        for each in self._transaction.records(LAST_LAUNCHES, schedule=refs, key=keys):
            if self._known.get((each.schedule, each.key)) is None:
                self._known[each.schedule, each.key] = each

    def _plan(self, last: LastLaunch) -> LaunchPlan | None:
        if last.job not in self._plans:
            found = next(iter(self._transaction.jobs(ids=(last.job,))), None)
            self._plans[last.job] = None if found is None else found.launch
        return self._plans[last.job]


def _may_repair(event: Event, state: ScheduleState) -> bool:
    """Return whether an event may repair a job of a schedule: only partitions do."""
    if state.spec.for_each is None or event.kind is not EventKind.PARTITION:
        return False
    return state.spec.repair is not None or event.repairs is not None
