"""A second, slow opinion on triggers: what holds at one minute, straight from the words of the design.

It shares nothing with the engine but the model. Time goes by whole minutes, which is all that the
generated trees use, and every question is answered by trying all minutes up to the one asked for.
"""

from datetime import datetime, timedelta
from typing import NamedTuple

from tests.worlds.world import MIDNIGHT
from tidegate.domain.model import (
    AllTrigger,
    AnyTrigger,
    AtLeastTrigger,
    Composite,
    PartitionsTrigger,
    RunTrigger,
    SequenceTrigger,
    SizeTrigger,
    Trigger,
    child_path,
    leaves,
)
from tidegate.scheduler.model.event import Delivery, EventKind

BEGINNING = -1_000_000
"""A minute before everything."""


class Came(NamedTuple):
    """Something that a leaf has received, in minutes after midnight."""

    minute: int
    leaf: str
    delivery: Delivery


class Sees(NamedTuple):
    """What a part may count: what came later than a minute, and is not cut off.

    A cut says that below a path what came before a minute is gone, from the whole job.
    """

    later_than: int = BEGINNING
    cuts: tuple[tuple[str, int], ...] = ()

    def cut_off(self, each: Came) -> bool:
        return any(each.minute < minute for path, minute in self.cuts if stands_below(each.leaf, path))


def _waits(trigger: Trigger) -> bool:
    members = trigger.of if isinstance(trigger, Composite) else ()
    return trigger.wait_at_most is not None or any(map(_waits, members))


def stands_below(leaf: str, path: str) -> bool:
    return not path or leaf == path or leaf.startswith(f"{path}.")


def minutes(stretch: timedelta) -> int:
    return stretch // timedelta(minutes=1)


def minute_of(instant: datetime) -> int:
    return minutes(instant - MIDNIGHT)


class Reference:
    """The trigger of one job, and all that ever comes for it."""

    def __init__(self, trigger: Trigger, came: list[Came]) -> None:
        self._trigger = trigger
        self._came = sorted(came, key=lambda each: (each.minute, each.delivery.event.id))
        self._known: dict[object, bool] = {}
        self._resting: dict[int, tuple[dict[str, tuple[str, ...]], list[tuple[str, tuple[str, ...]]]]] = {}

    def holds(self, now: int) -> bool:
        """Whether the whole trigger holds at this very minute, all options counted."""
        return self._holds(self._trigger, "", Sees(), now)

    def part_holds(self, trigger: Trigger, path: str, now: int) -> bool:
        return self._holds(trigger, path, Sees(), now)

    def satisfied(self, now: int) -> int | None:
        """The first minute up to `now` at which it held."""
        return next((minute for minute in range(now + 1) if self.holds(minute)), None)

    def _holds(self, trigger: Trigger, path: str, sees: Sees, now: int) -> bool:
        question = (path, sees, now)
        if question not in self._known:
            self._known[question] = self._answer(trigger, path, sees, now)
        return self._known[question]

    def _answer(self, trigger: Trigger, path: str, sees: Sees, now: int) -> bool:
        seen = sees
        if trigger.collect_within is not None:
            seen = Sees(sees.later_than, (*sees.cuts, (path, now - minutes(trigger.collect_within))))
        if self._quiet_and_kind(trigger, path, seen, now):
            return True
        if trigger.wait_at_most is None:
            return False
        if isinstance(trigger, Composite) and not self._evidence(trigger, path, seen, now):
            return False
        return self._waited(minutes(trigger.wait_at_most), seen, now)

    def _waited(self, wait: int, sees: Sees, now: int) -> bool:
        """Some event that the job has is old enough."""
        return any(
            each.minute + wait <= now and self._in_job(each, now)
            for each in self._came
            if not sees.cut_off(each)
        )

    def _in_job(self, each: Came, now: int) -> bool:
        """Whether an event has not been dropped before a minute: no stretch ended that counted then."""
        return all(
            minute < each.minute + self._stays(each.leaf, minute) for minute in range(each.minute, now)
        )

    def _stays(self, leaf: str, now: int) -> int:
        """The age at which events of a leaf are dropped, as things are at a minute."""
        counting, kept_for_waits = self._rests(now)
        paths = counting[leaf]
        for part, above in kept_for_waits:
            if not stands_below(leaf, part):
                paths = tuple(path for path in above if path in paths)
        return min((self._stretch_at(path) for path in paths), default=10**6)

    def _stretch_at(self, path: str) -> int:
        trigger = self._trigger
        for index in path.split(".") if path else ():
            trigger = trigger.of[int(index)]
        return minutes(trigger.collect_within)

    def _rests(self, now: int) -> tuple[dict[str, tuple[str, ...]], list[tuple[str, tuple[str, ...]]]]:
        """The paths whose stretches drop events of each leaf, and the resting parts with waits."""
        if now not in self._resting:
            found: tuple[dict[str, tuple[str, ...]], list[tuple[str, tuple[str, ...]]]] = ({}, [])
            self._visit(self._trigger, "", (), Sees(), now, found)
            self._resting[now] = found
        return self._resting[now]

    def _visit(
        self, trigger: Trigger, path: str, above: tuple[str, ...], sees: Sees, now: int, found
    ) -> None:
        if trigger.collect_within is not None:
            above = (*above, path)
            sees = Sees(sees.later_than, (*sees.cuts, (path, now - minutes(trigger.collect_within) + 1)))
        if trigger.quiet is not None and any(self._kind(trigger, path, sees, u) for u in range(now + 1)):
            self._rest(trigger, path, above, found)
        elif not isinstance(trigger, Composite):
            found[0][path] = above
        elif isinstance(trigger, SequenceTrigger):
            turns = self._turns(trigger, path, sees, now)
            for index, inner in enumerate(trigger.of):
                if index < len(turns):
                    self._rest(inner, child_path(path, index), above, found)
                else:
                    later = Sees(max(sees.later_than, turns[-1]), sees.cuts) if turns else sees
                    shown = later if index == len(turns) else Sees(10**6, sees.cuts)
                    self._visit(inner, child_path(path, index), above, shown, now, found)
        else:
            for index, inner in enumerate(trigger.of):
                self._visit(inner, child_path(path, index), above, sees, now, found)

    def _rest(self, trigger: Trigger, path: str, above: tuple[str, ...], found) -> None:
        for leaf in leaves(self._trigger):
            if stands_below(leaf.path, path):
                found[0][leaf.path] = above
        if _waits(trigger):
            found[1].append((path, above))

    def _stretch(self, leaf: str) -> int:
        stretches = [10**6]
        trigger, path = self._trigger, ""
        while True:
            if trigger.collect_within is not None:
                stretches.append(minutes(trigger.collect_within))
            if path == leaf or not isinstance(trigger, Composite):
                return min(stretches)
            index = int(leaf[len(path) :].lstrip(".").split(".")[0])
            trigger, path = trigger.of[index], child_path(path, index)

    def _quiet_and_kind(self, trigger: Trigger, path: str, sees: Sees, now: int) -> bool:
        if trigger.quiet is None:
            return self._kind(trigger, path, sees, now)
        start = next((u for u in range(now + 1) if self._kind(trigger, path, sees, u)), None)
        if start is None:
            return False
        below = [each.minute for each in self._below(path, sees, now)]
        last = max((minute for minute in below if minute <= start), default=start)
        for minute in below:
            if start < minute < max(start, last + minutes(trigger.quiet)):
                last = minute
        end = max(start, last + minutes(trigger.quiet))
        if trigger.quiet_at_most is not None:
            end = min(end, start + minutes(trigger.quiet_at_most))
        return end <= now

    def _kind(self, trigger: Trigger, path: str, sees: Sees, now: int) -> bool:
        below = self._below(path, sees, now)
        match trigger:
            case PartitionsTrigger(distinct=True, count=count):
                return len({each.delivery.event.partition for each in below}) >= count
            case PartitionsTrigger(count=count) | RunTrigger(count=count):
                return len(below) >= count
            case SizeTrigger():
                return self._large(trigger, below)
            case SequenceTrigger():
                return self._done(trigger, path, sees, now)[1]
            case AllTrigger(of=of) | AnyTrigger(of=of) | AtLeastTrigger(of=of):
                held = sum(
                    self._holds(inner, child_path(path, index), sees, now) for index, inner in enumerate(of)
                )
                needed = {AllTrigger: len(of), AnyTrigger: 1}.get(type(trigger))
                enough = held >= (trigger.n if needed is None else needed)
                return enough and self._kind_evidence(trigger, path, sees, now)
            case _:
                return any(each.delivery.event.kind is EventKind.FIRE for each in below)

    def _large(self, trigger: SizeTrigger, below: list[Came]) -> bool:
        """Whether it was large enough at some minute up to the last arrival."""
        for minute in sorted({each.minute for each in below}):
            sizes: dict[object, int] = {}
            for number, each in enumerate(each for each in below if each.minute <= minute):
                event = each.delivery.event
                sizes[event.partition if trigger.distinct else number] = event.bytes or 0
            if sum(sizes.values()) >= (trigger.bytes or 0):
                return True
        return False

    def _done(self, trigger: SequenceTrigger, path: str, sees: Sees, now: int) -> tuple[int | None, bool]:
        """When the first member of a sequence was done, and whether all are."""
        turns = self._turns(trigger, path, sees, now)
        return (turns[0] if turns else None), len(turns) == len(trigger.of)

    def _turns(self, trigger: SequenceTrigger, path: str, sees: Sees, now: int) -> list[int]:
        """When the members of a sequence were done, as far as they were."""
        turns: list[int] = []
        turn, shown = 0, sees
        for index, inner in enumerate(trigger.of):
            inner_path = child_path(path, index)
            done = next(
                (
                    u
                    for u in range(turn, now + 1)
                    if self._holds(inner, inner_path, shown, u)
                    and (turns or self._begun(inner, inner_path, path, sees, u))
                ),
                None,
            )
            if done is None:
                break
            turns.append(done)
            turn, shown = done, Sees(max(shown.later_than, done), shown.cuts)
        return turns

    def _begun(self, inner: Trigger, inner_path: str, path: str, sees: Sees, now: int) -> bool:
        return self._alive(path, sees, now) or self._evidence(inner, inner_path, sees, now)

    def _alive(self, path: str, sees: Sees, now: int) -> bool:
        """Whether something has come below a path that no stretch has dropped."""
        return any(now <= each.minute + self._stretch(each.leaf) for each in self._below(path, sees, now))

    def _evidence(self, trigger: Trigger, path: str, sees: Sees, now: int) -> bool:
        """Whether anything that counts is behind a part: an arrival, or what it came to hold by."""
        seen = sees
        if trigger.collect_within is not None:
            seen = Sees(sees.later_than, (*sees.cuts, (path, now - minutes(trigger.collect_within))))
        if trigger.quiet is not None and any(self._kind(trigger, path, seen, u) for u in range(now + 1)):
            return True
        return self._kind_evidence(trigger, path, seen, now)

    def _kind_evidence(self, trigger: Trigger, path: str, sees: Sees, now: int) -> bool:
        if not isinstance(trigger, Composite):
            return self._alive(path, sees, now)
        if isinstance(trigger, SequenceTrigger):
            first, _ = self._done(trigger, path, sees, now)
            return first is not None or self._begun(trigger.of[0], child_path(path, 0), path, sees, now)
        members = enumerate(trigger.of)
        return any(self._evidence(inner, child_path(path, index), sees, now) for index, inner in members)

    def _below(self, path: str, sees: Sees, now: int) -> list[Came]:
        return [
            each
            for each in self._came
            if stands_below(each.leaf, path)
            and sees.later_than < each.minute <= now
            and not sees.cut_off(each)
        ]
