"""Existing events: a schedule collects what arrived before it listened, or what it has lost.

`collect_existing: true` does so when a schedule starts for the first time or after a reset, and `tidegate
events replay` does it for every schedule that listens to a dataset. Each gets copies of the events that it
has not collected (`scheduler.decision.changes.existing`); the next tick routes them like any event. A person
who triggers a key that is still provisional gets what came too late for a repair of it (rule 30).
"""

from collections.abc import Iterable, Sequence
from datetime import datetime

from tidegate.domain.model import App, PartitionScheme, leaves, leaves_with_existing
from tidegate.domain.nearest_key import WrongKey, read_key
from tidegate.domain.schedule_keys import keys_about, scheme_of_key
from tidegate.domain.value import Value
from tidegate.scheduler.commands.activation import takes_events
from tidegate.scheduler.decision.changes.existing import copies, counting_leaves, uncollected
from tidegate.scheduler.model.deployed import APPS, ScheduleState
from tidegate.scheduler.model.event import SUBSCRIPTIONS, Event, checked_event_key, dataset_of_key, listens_to
from tidegate.scheduler.model.journal import By, Entry, EntryKind
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.records.last_launch import LastLaunch
from tidegate.scheduler.model.refused import Refused
from tidegate.scheduler.model.retention import PrunedKind
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.engine_rows import record
from tidegate.scheduler.store.ledger import is_consumed, is_discarded
from tidegate.scheduler.store.protocol import EngineTransaction
from tidegate.scheduler.tick.tick import advance_before

MAX_EVENTS = 100_000
"""The most events of one dataset that are looked at; one transaction has to hold them."""


class EventsToReplay(Value, kw_only=True):
    """What is to be replayed.

    Attributes:
        key: event key of the dataset.
        partitions: only these partition keys; empty for all.
        since: only events that arrived then or later; None for all.
        until: only events that arrived before; None for all.
        schedules: only for these, as "app/name"; empty for all that count the dataset.
        again: also what a launched job of the schedule has consumed. What still waits never counts twice.
    """

    key: str
    partitions: tuple[str, ...] = ()
    since: datetime | None = None
    until: datetime | None = None
    schedules: tuple[str, ...] = ()
    again: bool = False


class Replayed(Value, kw_only=True):
    """What a replay does for one schedule.

    Attributes:
        schedule: "app/name".
        events: number of events that it collects.
        known: number of events that it has already.
        suspended: it is suspended and takes no events.
    """

    schedule: str
    events: int = 0
    known: int = 0
    suspended: bool = False


def collect_existing(transaction: EngineTransaction, states: Iterable[ScheduleState], now: datetime) -> None:
    """Let schedules that have just started collect what exists, where they ask for it."""
    for state in states:
        for key in sorted(_asked_for(state)):
            events = _events(transaction, key)
            _feed(transaction, state, key, events, _Outcomes(transaction, events), now, kind="existing")


def replay_events(
    transaction: EngineTransaction, wanted: EventsToReplay, now: datetime, by: By
) -> tuple[Replayed, ...]:
    """Let the schedules that count the events of a dataset collect those that they have not collected.

    Raises:
        Refused: no such schedule listens to the dataset, or it has no such event.
    """
    advance_before(transaction, now)
    name = dataset_of_key(wanted.key)
    counting = {key: _counting(transaction, key) for key in (wanted.key, checked_event_key(name))}
    found: list[Replayed] = []
    refusal: Refused | None = None
    _refuse_others(wanted, name, [state for states in counting.values() for state in states])
    for key, states in counting.items():
        try:
            found += _replayed(transaction, key, states, wanted, now, by)
        except Refused as refused:
            refusal = refused
    if refusal is not None and not found:
        raise refusal
    return tuple(found)


def bring_too_late(
    transaction: EngineTransaction, state: ScheduleState, app: App, last: LastLaunch, now: datetime, by: By
) -> None:
    """Let the job of a key collect what came too late for a repair of it, and was discarded with D-REPAIR.

    Args:
        last: the last launch of the key.
    """
    of = scheme_of_key(app, state.spec, last.key)
    if of is None:
        return
    for leaf in leaves(state.spec.trigger):
        key = listens_to(state.app, state.ref, leaf, state.spec.program)[0]
        dataset = app.datasets.get(leaf.trigger.dataset_collected or "")
        if dataset is None or dataset.partitions is None:
            continue
        about = keys_about(dataset.partitions, last.key, of)
        events = transaction.events(key=key, partitions=about, after=last.since, limit=MAX_EVENTS)
        outcomes = _Outcomes(transaction, events)
        late = outcomes.too_late(state.ref)
        if late:
            brought = [event for event in events if event.origin is not None or event.id in late]
            _feed(transaction, state, key, brought, outcomes, now, kind="late", by=by)


def _counting(transaction: EngineTransaction, key: str) -> list[ScheduleState]:
    refs = {listener.schedule for listener in transaction.records(SUBSCRIPTIONS, event_key=[key])}
    return [state for state in transaction.schedules(refs=refs) if counting_leaves(state, key)]


def _refuse_others(wanted: EventsToReplay, name: str, states: Sequence[ScheduleState]) -> None:
    if not states:
        raise Refused(f"no schedule counts the partitions of {name}", "`tidegate schedules list` shows all")
    others = sorted(set(wanted.schedules) - {state.ref for state in states})
    if others:
        counting = ", ".join(state.ref for state in states)
        raise Refused(f"{', '.join(others)} does not count the partitions of {name}", f"of {counting}")


def _replayed(
    transaction: EngineTransaction,
    key: str,
    states: Sequence[ScheduleState],
    wanted: EventsToReplay,
    now: datetime,
    by: By,
) -> list[Replayed]:
    """Feed the events of one key to those of the schedules that count them that are wanted.

    Raises:
        Refused: there is no such event.
    """
    states = [state for state in states if not wanted.schedules or state.ref in wanted.schedules]
    if not states:
        return []
    name = dataset_of_key(key)
    events = _wanted(_events(transaction, key), wanted, name, _scheme_of(transaction, name))
    outcomes = _Outcomes(transaction, events)
    return [
        _feed(transaction, state, key, events, outcomes, now, kind="replay", again=wanted.again, by=by)
        if takes_events(state)
        else Replayed(schedule=state.ref, suspended=True)
        for state in states
    ]


def _scheme_of(reader: EngineReader, name: str) -> PartitionScheme | None:
    """Return the partitions of a dataset, "app/dataset"; None without any, and for one that is gone."""
    app, _, dataset = name.partition("/")
    deployed = record(reader, APPS, name=app)
    found = None if deployed is None else deployed.app.datasets.get(dataset)
    return None if found is None else found.partitions


def _wanted(
    events: Sequence[Event], wanted: EventsToReplay, name: str, scheme: PartitionScheme | None
) -> list[Event]:
    """Return the events of a dataset that a replay is about, with their copies.

    Raises:
        Refused: there is none, or none of a partition that is named.
    """
    inside = [event for event in events if event.origin is not None or _arrived_within(event, wanted)]
    originals = {event.partition or "" for event in inside if event.origin is None}
    missing = sorted(set(wanted.partitions) - originals)
    if missing or not originals:
        what = f" of partition {', '.join(missing)}" if missing else ""
        when = " in that time" if wanted.since or wanted.until else ""
        arrived = f"`tidegate events list --key {wanted.key}` shows what has arrived"
        wrong = read_key(scheme, missing[0]) if scheme is not None and missing else ""
        raise Refused(
            f"{name} has no event{what}{when}", wrong.hint if isinstance(wrong, WrongKey) else arrived
        )
    return [event for event in inside if not wanted.partitions or event.partition in wanted.partitions]


def _arrived_within(event: Event, wanted: EventsToReplay) -> bool:
    return (wanted.since is None or event.arrived >= wanted.since) and (
        wanted.until is None or event.arrived < wanted.until
    )


def _feed(
    transaction: EngineTransaction,
    state: ScheduleState,
    key: str,
    events: Sequence[Event],
    outcomes: "_Outcomes",
    now: datetime,
    *,
    kind: str,
    again: bool = False,
    by: By | None = None,
) -> Replayed:
    """Store the copies for one schedule, and the journal entry."""
    wanted = uncollected(state, events, outcomes.collected(state.ref, again=again), outcomes.unrouted)
    every = uncollected(state, events, (), outcomes.unrouted)
    if wanted:
        transaction.add_events(list(copies(state, wanted, now)))
        noted = {} if by is None else by.noted
        data = {"key": key, "action": kind, "again": again, "events": len(wanted), **noted}
        transaction.add_journal([Entry(at=now, kind=EntryKind.REPLAY, schedule=state.ref, data=data)])
    return Replayed(schedule=state.ref, events=len(wanted), known=len(every) - len(wanted))


class _Outcomes:
    """What became of some events: which schedule has collected them, and which are not routed yet."""

    def __init__(self, reader: EngineReader, events: Sequence[Event]) -> None:
        deliveries = reader.deliveries_of_events([event.id for event in events])
        ids = {each.job for each in deliveries if each.job}
        jobs = {job.id: job for job in reader.jobs(ids=ids)}
        discarded = reader.pruned(PrunedKind.DISCARDED_JOB, ids - jobs.keys())
        self._late: dict[str, set[str]] = {}
        self._pending: dict[str, set[str]] = {}
        self._consumed: dict[str, set[str]] = {}
        for each in deliveries:
            job = jobs.get(each.job or "")
            if each.reason == Reason.D_REPAIR.value:
                self._late.setdefault(each.schedule, set()).add(each.event.id)
            if each.job is None or each.job in discarded:
                continue
            if job is not None and is_discarded(job.state, job.reason):
                continue
            # A pruned job that was not discarded has consumed its events.
            consumed = job is None or is_consumed(job.state, job.reason)
            of = self._consumed if consumed else self._pending
            of.setdefault(each.schedule, set()).add(each.event.id)
        held = {event.id for event in events}
        late = {event.id: event for event in reader.unrouted_events(MAX_EVENTS) if event.id in held}
        self.unrouted = frozenset(late)
        for event in late.values():
            if event.only_for:
                self._pending.setdefault(event.only_for, set()).add(event.id)

    def too_late(self, ref: str) -> set[str]:
        """Return the ids of the events that came too late for a repair of a schedule."""
        return self._late.get(ref, set())

    def collected(self, ref: str, *, again: bool) -> set[str]:
        """Return the ids of the events that a schedule has; with `again` only those that wait."""
        pending = self._pending.get(ref, set[str]())
        return pending if again else pending | self._consumed.get(ref, set[str]())


def _events(reader: EngineReader, key: str) -> list[Event]:
    """Return all events of a key.

    Raises:
        Refused: there are too many.
    """
    # A prefix finds other datasets too, whose names begin alike.
    found = [event for event in reader.events(key_prefix=key, limit=MAX_EVENTS + 1) if event.key == key]
    if len(found) > MAX_EVENTS:
        raise Refused(
            f"{key.partition(':')[2]} has more than {MAX_EVENTS:,} events",
            "trigger the schedule by hand for the partitions that it is to write",
        )
    return found


def _asked_for(state: ScheduleState) -> set[str]:
    """Return the keys of the events that a schedule collects although they arrived before it."""
    asked = leaves_with_existing(state.spec.trigger, asked=state.spec.collect_existing)
    return {listens_to(state.app, state.ref, leaf, state.spec.program)[0] for leaf in asked}
