"""Which instances exist: a model of docs/cycles.md, "Generation", that hears what happens and asks no engine.

It follows each task day by day: what a deployment makes, changes and discards, what comes with the days, what
a downtime costs, what reports and backfills add. It shares with the engine the grid of a task only.
"""

from collections.abc import Collection, Iterable, Mapping
from datetime import date, datetime, timedelta

import msgspec

from tests.simulation.tasks.live import Identity
from tidegate.domain.model import Schedule, TaskTrigger
from tidegate.domain.tasks.grid import Slot, business_slots, generation_time, slots_of_day
from tidegate.domain.tasks.key import local_day, scheduled_key
from tidegate.domain.value import Value

ONE_DAY = timedelta(days=1)
MICROSECOND = timedelta(microseconds=1)
AWAY = timedelta(minutes=15)
"""A scheduler that has done nothing for longer returns from a downtime."""

OPEN = frozenset({"PENDING_TRIGGER", "PENDING_CONSTRAINT", "PENDING_LAUNCH", "PAUSED"})
"""What has no run: a deletion discards it."""


class Exists(Value, kw_only=True):
    """One instance that exists."""

    kind: str
    scheduled: datetime
    start: datetime
    empty: bool


class Fates(Value, kw_only=True):
    """What a deployment does: instances are discarded with D-DELETED, go, or are made again."""

    discarded: frozenset[Identity] = frozenset()
    gone: frozenset[Identity] = frozenset()
    again: frozenset[Identity] = frozenset()

    def plus(self, other: "Fates") -> "Fates":
        """Both together."""
        return Fates(
            discarded=self.discarded | other.discarded,
            gone=self.gone | other.gone,
            again=self.again | other.again,
        )


class Existing:
    """The instances that exist by the rules.

    Attributes:
        exist: all of them.
        clock: up to when the scheduler has worked; `returned` when it last came back from a downtime.
    """

    def __init__(self) -> None:
        self.exist: dict[Identity, Exists] = {}
        self.clock: datetime | None = None
        self.returned: datetime | None = None
        self._specs: dict[str, Schedule] = {}
        self._made: dict[str, date] = {}

    def is_away(self, now: datetime) -> bool:
        """Whether the scheduler has done nothing for long."""
        return self.clock is None or now - self.clock > AWAY

    def worked(self, now: datetime, *, returns: bool) -> None:
        """The scheduler has done everything up to an instant.

        Args:
            returns: whether it comes back, if it was away; a command alone does not bring it back.
        """
        if self.is_away(now):
            if not returns:
                return
            self.returned = now
        for ref in self._specs:
            self._make_days(ref, now, self.returned or now)
        self.clock = now

    def deployed(
        self,
        specs: Mapping[str, Schedule],
        states: Mapping[Identity, str],
        now: datetime,
        changed: Collection[str],
    ) -> Fates:
        """Tasks are deployed, and those that are missing are deleted.

        Args:
            states: of all instances before, by identity.
            changed: the tasks that are others from now on.
        """
        fates = self.deleted(self._specs.keys() - specs.keys(), states)
        for ref, spec in specs.items():
            if ref not in self._specs:
                self._begin(ref, spec, now)
            elif ref in changed:
                fates = fates.plus(self._changed(ref, spec, states, now))
        return fates

    def deleted(self, refs: Iterable[str], states: Mapping[Identity, str]) -> Fates:
        """Tasks are deleted."""
        refs = set(refs)
        for ref in refs:
            del self._specs[ref], self._made[ref]
        found = frozenset(each for each in self.exist if each[0] in refs and states[each] in OPEN)
        self.leave(found)
        return Fates(discarded=found)

    def leave(self, identities: Iterable[Identity]) -> None:
        """Instances are discarded."""
        for each in identities:
            del self.exist[each]

    def reported(self, ref: str, slots: Iterable[Slot]) -> None:
        """Times are reported: those without an instance get one, and an empty run becomes a real one."""
        for slot in slots:
            name = self._name(ref, slot)
            known = self.exist.get(name)
            found = _exists("outside", slot) if known is None else known
            self.exist[name] = msgspec.structs.replace(found, empty=False)

    def landed(self, ref: str, slots: Iterable[Slot]) -> list[str]:
        """Data reports times; their names. Those without an instance get one."""
        names: list[str] = []
        for slot in slots:
            name, task = self._name(ref, slot), self.task(ref)
            usual = slot in slots_of_day(task, local_day(task, slot.scheduled))
            self.exist.setdefault(name, _exists("periodic" if usual else "outside", slot))
            names.append(name[2])
        return names

    def is_real(self, ref: str, key: str) -> None:
        """An instance is reported: it does something from then on."""
        name = ref, 0, key
        if name in self.exist:
            self.exist[name] = msgspec.structs.replace(self.exist[name], empty=False)

    def backfilled(self, number: int, refs: Iterable[str], first: str, last: str) -> None:
        """A backfill was started."""
        for ref in refs:
            for _, slot in business_slots(self.task(ref), first, last):
                self.exist[self._name(ref, slot, number)] = _exists("backfill", slot)

    def _name(self, ref: str, slot: Slot, number: int = 0) -> Identity:
        return ref, number, scheduled_key(self.task(ref), slot.scheduled)

    def task(self, ref: str) -> TaskTrigger:
        """A task as it is deployed."""
        return self._specs[ref].as_task

    def _changed(self, ref: str, spec: Schedule, states: Mapping[Identity, str], now: datetime) -> Fates:
        before, task, former = now - MICROSECOND, spec.as_task, self.task(ref)
        # The days before the change are those of the former task.
        self._make_days(ref, before, before if self.is_away(now) or self.returned is None else self.returned)
        discarded, gone, again = set[Identity](), set[Identity](), set[Identity]()
        for name, each in list(self.exist.items()):
            state = states.get(name, "PENDING_TRIGGER")
            if name[0] != ref or state not in OPEN:
                continue
            day = date.fromisoformat(name[2][:10])
            if not task.enabled or (task.valid_to is not None and day > task.valid_to):
                discarded.add(name)
            elif state == "PENDING_TRIGGER" and each.kind == "periodic":
                slot = _slot_after(task, name[2], each.scheduled)
                if slot is None:
                    gone.add(name)
                    continue
                del self.exist[name]
                renamed = ref, 0, scheduled_key(task, slot.scheduled)
                again.add(renamed)
                self.exist[renamed] = _exists(each.kind, slot)
        self.leave(discarded | gone)
        moves = former.enabled and former.timezone != task.timezone
        self._begin(ref, spec, now, self._made[ref] if moves else None)
        return Fates(discarded=frozenset(discarded), gone=frozenset(gone), again=frozenset(again))

    def _begin(self, ref: str, spec: Schedule, now: datetime, made: date | None = None) -> None:
        """A deployment makes what is still to start of the running day, and of the next one if it is near.

        Args:
            made: the last day of the former text, where the zone changes: later ones are made whole.
        """
        self._specs[ref], task = spec, spec.as_task
        day = local_day(task, now) if made is None else min(local_day(task, now), made + ONE_DAY)
        while generation_time(task, day) <= now or (made is not None and day <= made):
            whole = made is not None and day > made
            self._put(ref, [slot for slot in slots_of_day(task, day) if whole or slot.start >= now])
            day += ONE_DAY
        self._made[ref] = day - ONE_DAY

    def _make_days(self, ref: str, now: datetime, returned: datetime) -> None:
        """The days that have come since the last ones; not what is too old at a return."""
        task, day = self.task(ref), self._made[ref] + ONE_DAY
        oldest = returned - task.catch_up_at_most
        while generation_time(task, day) <= now:
            self._put(ref, [slot for slot in slots_of_day(task, day) if slot.scheduled >= oldest])
            self._made[ref] = day
            day += ONE_DAY

    def _put(self, ref: str, slots: Iterable[Slot]) -> None:
        for slot in slots:
            periodic = _exists("periodic", slot)
            self.exist.setdefault(self._name(ref, slot), periodic)


def _exists(kind: str, slot: Slot) -> Exists:
    return Exists(kind=kind, scheduled=slot.scheduled, start=slot.start, empty=slot.empty)


def _slot_after(task: TaskTrigger, key: str, scheduled: datetime) -> Slot | None:
    """The slot of a name; where a day becomes an hour or the other way round, that of the instant."""
    by_name = (":" in key) == (task.cycle in ("minute", "hour"))
    day = date.fromisoformat(key[:10]) if by_name else local_day(task, scheduled)
    for slot in slots_of_day(task, day):
        if scheduled_key(task, slot.scheduled) == key if by_name else slot.scheduled == scheduled:
            return slot
    return None
