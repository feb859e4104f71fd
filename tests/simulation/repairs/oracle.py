"""The judge of repairs: it reads the journal, and says of each launch whether it had to be one (rule 30).

It does its own sums from what was put in: which job of a key was launched last, what that had consumed, and
whether an event may repair it. It also knows the keys for which nothing is promised: those with an event
beyond the bounds, and those whose schedule was reset.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from tests.simulation.repairs.app import ChanceRepairs
from tidegate.domain.model import Composite, Repair, Schedule, Trigger
from tidegate.scheduler.model.event import Event, dataset_of_key
from tidegate.scheduler.model.journal import Entry, EntryKind

Place = tuple[str, str]
"""A schedule and a key."""

Parts = frozenset[tuple[str, str]]
"""Partitions: dataset and key."""


@dataclass
class Opened:
    """A job that waits, with its own events in order."""

    place: Place
    events: list[Event] = field(default_factory=list)


@dataclass
class Last:
    """The last launch of a key, as far as what comes next depends on it."""

    job: str
    parts: Parts
    since: datetime
    number: int
    provisional: bool
    repair: Repair | None

    def repaired_by(self, event: Event) -> int | None:
        """Return the number of the repair that an event opens; None for one that opens none."""
        consumed = part_of(event) in self.parts
        if event.repairs is not None and consumed:
            return self.number
        if self.repair is None or not (self.provisional or consumed):
            return None
        if self.is_beyond(event) and event.origin is None:
            return None
        return self.number + 1

    def awaits(self) -> bool:
        """Return whether it is incomplete, and is repaired."""
        return self.provisional and self.repair is not None

    def is_beyond(self, event: Event) -> bool:
        """Return whether an event is beyond the bounds."""
        repair = self.repair
        return repair is not None and (
            self.number >= repair.at_most or event.arrived > self.since + repair.within
        )


class RepairOracle:
    """Reads the journal of a history.

    Args:
        event: returns an event by its id.

    Attributes:
        specs: the schedules as they are deployed now, by name.
        last: the last launch of each key.
        beyond: keys for which nothing is promised, each with the reason.
        too_late: the partitions of each key that came beyond its bounds, and were not replayed.
        met: how often each thing happened.
        chain: the launches of each key, the oldest first: job, and the job that it repairs.
    """

    def __init__(self, chance: ChanceRepairs, event: Callable[[str], Event]) -> None:
        self._chance = chance
        self._event = event
        self.specs: Mapping[str, Schedule] = {}
        self.last: dict[Place, Last] = {}
        self.beyond: dict[Place, str] = {}
        self.too_late: dict[Place, set[tuple[str, str]]] = {}
        self.met = Counter[str]()
        self.chain: dict[Place, list[tuple[str, str | None]]] = {}
        self.read = 0
        self._waiting: dict[str, Opened] = {}
        self._routed = Counter[tuple[str, str]]()

    def read_all(self, entries: Iterable[Entry]) -> None:
        """Read entries that are new in the journal."""
        for entry in entries:
            self.read += 1
            name = (entry.schedule or "").partition("/")[2]
            if name == "pooled":
                if entry.event is not None:
                    self._routed[name, entry.event] += 1
                continue
            match entry.kind:
                case EntryKind.JOB_OPENED:
                    assert entry.job is not None
                    self._waiting[entry.job] = Opened(place=(name, entry.data["key"]))
                case EntryKind.EVENT:
                    self._joined(entry, name)
                case EntryKind.EVENT_DISCARDED:
                    self._discarded(entry, name)
                case EntryKind.SATISFIED:
                    self._satisfied(entry)
                case EntryKind.LAUNCH:
                    self._launched(entry)
                case EntryKind.DISCARDED:
                    assert entry.job is not None
                    gone = self._waiting.pop(entry.job, None)
                    if gone is not None:
                        self.beyond[gone.place] = f"discarded with {entry.reason}"
                case _:
                    pass

    def change(self, name: str) -> None:
        """Note that a schedule was changed: with `reset` it knows no launch of its keys any more."""
        how = self.specs[name].on_update
        self.met[how] += 1
        if how == "carry":
            return
        for place in [each for each in self.last if each[0] == name]:
            del self.last[place]
            self.beyond[place] = "reset"

    def heard_once(self, events: Mapping[str, Iterable[str]]) -> None:
        """Each event has come to each schedule that listens to it, once.

        Args:
            events: the schedules that listen to each event, by id.
        """
        for id, names in events.items():
            for name in names:
                found = self._routed[name, id]
                assert found == 1, f"{id} came to {name} {found} times"

    def nothing_waits(self) -> None:
        """No repair waits in the end; what waits as new data of a key is not in the table of that key."""
        for job, waiting in self._waiting.items():
            assert self._repair_of(waiting) is None, f"lost: {job} of {waiting.place} waits without end"
            if waiting.place in self.last:
                self.beyond.setdefault(waiting.place, "new data waits")

    # --- entries ---

    def _joined(self, entry: Entry, name: str) -> None:
        assert entry.event is not None and entry.job is not None
        event = self._event(entry.event)
        waiting = self._waiting[entry.job]
        if "moved_from" in entry.data:
            assert event in waiting.events, f"{event.id} has moved into {entry.job}"
            return
        if "left" not in entry.data:
            self._routed[name, event.id] += 1
        waiting.events.append(event)
        last = self.last.get(waiting.place)
        if last is not None and last.awaits() and self._repair_of(waiting) is None:
            raise AssertionError(f"{event.id} is launched alone: {waiting.place} awaits a repair of {last}")

    def _discarded(self, entry: Entry, name: str) -> None:
        assert entry.event is not None
        event = self._event(entry.event)
        if entry.job is not None:
            # It dropped out of a job that had collected it.
            waiting = self._waiting[entry.job]
            assert self._repair_of(waiting) is None, f"{event.id} has dropped out of a repair"
            waiting.events.remove(event)
            self.beyond[waiting.place] = f"dropped with {entry.reason}"
            return
        self._routed[name, event.id] += 1
        place = (name, self._chance.key_of(name, part_of(event)))
        if entry.reason != "D-REPAIR":
            self.beyond[place] = f"discarded with {entry.reason}"
        else:
            self.met["D-REPAIR"] += 1
            self.too_late.setdefault(place, set()).add(part_of(event))
            assert event.origin is None, f"{event.id} was replayed"
            last = self.last.get(place)
            assert last is not None and last.awaits(), f"{event.id} is discarded, {place} awaits no repair"
            assert last.is_beyond(event), f"{event.id} is discarded within the bounds of {last}"
            assert not any(each.place == place and each.events for each in self._waiting.values()), (
                f"{place} waits"
            )

    def _satisfied(self, entry: Entry) -> None:
        assert entry.job is not None
        waiting = self._waiting.get(entry.job)
        if waiting is not None and self._repair_of(waiting) is not None:
            first = min(event.arrived for event in waiting.events)
            since = datetime.fromisoformat(entry.data["since"])
            assert since >= first, f"{entry.job} holds since {since}, before its first event at {first}"

    def _launched(self, entry: Entry) -> None:
        assert entry.job is not None
        waiting = self._waiting.pop(entry.job, None)
        if waiting is None:
            assert entry.data["attempt"] > 1, f"{entry.job} is launched again"
            return
        name, key = place = waiting.place
        spec, last, number = self.specs[name], self.last.get(place), self._repair_of(waiting)
        what = f"{entry.job} of {name}[{key}]"
        expected = None if last is None or number is None else last.job
        assert entry.data.get("repairs") == expected, (
            f"{what} repairs {entry.data.get('repairs')}, not {expected}"
        )
        parts = {part_of(event) for event in waiting.events}
        if last is not None and number is not None:
            parts |= last.parts
        found = {(dataset, part) for dataset, keys in entry.data["manifest"].items() for part in keys}
        assert found == parts, f"{what} is launched with {sorted(found)}, not {sorted(parts)}"
        self._judge_wholeness(entry, what, frozenset(parts), place)
        if "provisional" in entry.data:
            first = min(event.arrived for event in waiting.events)
            after = last.repair.after if last and last.repair and number is not None else None
            wait = shortest_wait(spec, after)
            assert entry.at >= first + wait, f"{what} is early: it has not waited for {wait}"
        if last is not None and number is None:
            self.beyond.setdefault(place, "new data after its launch")
        since = entry.at if last is None or number is None else last.since
        if number is not None and last is not None:
            self.met["repair" if number > last.number else "dependant"] += 1
            most = None if last.repair is None else max(last.repair.at_most, last.number)
            replayed = any(event.origin is not None for event in waiting.events)
            assert most is None or number <= most or replayed, f"{what} is repair {number}: endless"
        self.last[place] = Last(
            job=entry.job,
            parts=frozenset(parts),
            since=since,
            number=number or 0,
            provisional="provisional" in entry.data,
            repair=spec.repair,
        )
        self.chain.setdefault(place, []).append((entry.job, expected))

    def _judge_wholeness(self, entry: Entry, what: str, parts: Parts, place: Place) -> None:
        """A job that lacks something is provisional, and was early for a reason."""
        name, key = place
        lacks = {
            (dataset, part)
            for dataset, keys in self._chance.parts(name, key).items()
            for part in keys
            if (dataset, part) not in parts
        }
        provisional = "provisional" in entry.data
        assert provisional or not lacks, f"{what} lacks {sorted(lacks)}, and is not provisional"
        if provisional and not lacks:
            assert self.specs[name].trigger.quiet is not None, f"{what} is provisional, and lacks nothing"
        self.met["provisional"] += provisional

    def _repair_of(self, waiting: Opened) -> int | None:
        """Return the number of the repair that a waiting job is; None for one that is not."""
        last = self.last.get(waiting.place)
        if last is None:
            return None
        numbers = (last.repaired_by(event) for event in waiting.events)
        return next((number for number in numbers if number is not None), None)


def shortest_wait(spec: Schedule, after: timedelta | None) -> timedelta:
    """Return the shortest wait by which a trigger holds without being whole.

    Args:
        after: of a repair, in place of the waits of the trigger.
    """
    waits = [each.wait_at_most for each in within(spec.trigger)] if after is None else [after]
    if spec.timeout.then == "run":
        waits.append(spec.timeout.after)
    return min((wait for wait in waits if wait is not None), default=timedelta.max)


def within(trigger: Trigger) -> Iterable[Trigger]:
    """Yield a trigger and all its members."""
    yield trigger
    for member in trigger.of if isinstance(trigger, Composite) else ():
        yield from within(member)


def part_of(event: Event) -> tuple[str, str]:
    """Return dataset and key of the partition of an event."""
    return dataset_of_key(event.key).partition("/")[2], event.partition or ""
