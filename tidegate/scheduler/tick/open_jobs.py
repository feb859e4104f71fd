"""Open jobs: those that wait and that events may still join, cached in a working set by schedule and key.

    an event of a key          reads the open jobs of that key, by an index
    a fire, with `for_each`    joins the jobs of all keys, so all open jobs of its schedule are read

So an event costs the same, however many keys of its schedule wait.
"""

from collections.abc import Callable, Collection, Mapping, Sequence

from tidegate.domain.model import App
from tidegate.domain.partition_key import PartitionKeyError
from tidegate.scheduler.decision.route import KEY_OF_POOLED_EVENTS, joins_any_key, key_of
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.event import Event, Subscription
from tidegate.scheduler.model.job import WAITING, Job
from tidegate.scheduler.store.protocol import EngineTransaction
from tidegate.scheduler.store.wanted import open_for, open_place

Place = tuple[str, str | None]
"""A schedule ("app/name") and a key, or None for all its keys."""


class OpenJobs:
    """The open jobs of a working set.

    Args:
        jobs: all jobs of the set as they are now, by id.
        add: puts jobs that were read into the set, which notes them here (`note`).
    """

    def __init__(
        self, transaction: EngineTransaction, jobs: Mapping[str, Job], add: Callable[[Sequence[Job]], object]
    ) -> None:
        self._transaction = transaction
        self._jobs = jobs
        self._add = add
        self._known: set[Place] = set()
        # By schedule and key; ids of jobs that have left them stay until the next look.
        self._ids: dict[str, dict[str, dict[str, None]]] = {}

    def note(self, job: Job) -> None:
        """Note a job of the set that is new or has changed."""
        if open_for(job) is not None:
            self._ids.setdefault(job.schedule, {}).setdefault(job.key, {})[job.id] = None

    def of(self, schedule: str, key: str | None) -> list[Job]:
        """Return the open jobs of a key of a schedule, or of all its keys, by `opened_at` and id."""
        self._read({(schedule, key)})
        keys = self._ids.get(schedule, {})
        for each in [*keys] if key is None else [key]:
            place = open_place(schedule, each)
            keys[each] = {id: None for id in keys.get(each, ()) if open_for(self._jobs[id]) == place}
        ids = (id for each in ([*keys] if key is None else [key]) for id in keys[each])
        return sorted((self._jobs[id] for id in ids), key=lambda job: (job.opened_at, job.id))

    def prefetch(
        self,
        events: Sequence[Event],
        listeners: Mapping[str, Sequence[Subscription]],
        states: Mapping[str, ScheduleState],
        apps: Mapping[str, App],
    ) -> None:
        """Read in one query each what the events of the set will ask for one by one.

        Args:
            listeners: by event key.
        """
        places: set[Place] = set()
        for event in events:
            for each in listeners[event.key]:
                state = states[each.schedule]
                if state.app in apps and state.spec.task is None:
                    places |= _places(event, each, state, apps[state.app])
        self._read(places)

    def _read(self, places: Collection[Place]) -> None:
        """Read the open jobs of some places that are not known yet."""
        missing = {place for place in places if self._known.isdisjoint((place, (place[0], None)))}
        if not missing:
            return
        self._known |= missing
        whole = {schedule for schedule, key in missing if key is None}
        parts = [open_place(ref, key) for ref, key in missing if key is not None and ref not in whole]
        found = [*self._transaction.jobs(schedules=whole, states=WAITING)] if whole else []
        found += self._transaction.jobs(open_for=parts) if parts else ()
        self._add(found)


def _places(event: Event, listener: Subscription, state: ScheduleState, app: App) -> set[Place]:
    """Return the keys of a schedule whose jobs an event may join."""
    spec = state.spec
    if joins_any_key(event, spec):
        return {(state.ref, None)}
    pooled: set[Place] = {(state.ref, KEY_OF_POOLED_EVENTS)}
    if spec.for_each is None and not spec.keyed_by_date:
        return pooled
    try:
        keyed: set[Place] = {(state.ref, key_of(event, listener.leaf, spec, app))}
    except (PartitionKeyError, OverflowError):
        return set()
    return keyed | pooled if spec.keyed_by_date else keyed
