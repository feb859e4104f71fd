"""A job whose events are counted one by one, beside one that is evaluated from all its events."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta

import msgspec

from tests.scheduler.triggers.reference import Came
from tests.scheduler.triggers.trees import DATASETS, LAST_MINUTE
from tests.worlds.world import MIDNIGHT
from tidegate.domain.model import App, Program, Schedule, Trigger
from tidegate.scheduler.decision.triggers import dropped, evaluate
from tidegate.scheduler.decision.triggers.collected import collected, heard_keys, in_order
from tidegate.scheduler.decision.triggers.counting.arrivals import Nothing
from tidegate.scheduler.decision.triggers.counting.counter import Counter, counted_at
from tidegate.scheduler.decision.view.job_view import JobView
from tidegate.scheduler.explain.collected_events import tells_all
from tidegate.scheduler.model.event import Delivery
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.records.tally import TalliedKeys, Tally
from tidegate.scheduler.model.verdict import Verdict


def view_of(trigger: Trigger) -> JobView:
    """A job that has collected nothing yet."""
    schedule = Schedule(name="s", program="p", trigger=trigger)
    app = App(name="a", datasets=DATASETS, programs={"p": Program(name="p", run="m.p")}, schedules={})
    return JobView(app=app, schedule=schedule, job=Job(id="j", schedule="a/s", opened_at=MIDNIGHT))


def heard(view: JobView, came: Sequence[Came]) -> list[Delivery]:
    """The deliveries, of events of the keys that their leaves listen to."""
    keys = heard_keys(view)
    return [
        msgspec.structs.replace(
            each.delivery, event=msgspec.structs.replace(each.delivery.event, key=keys[each.leaf])
        )
        for each in came
    ]


class Rows:
    """What a store keeps of the counted events; see `Kept`."""

    def __init__(self) -> None:
        self.known: dict[tuple[str, str], int] = {}
        self.held: list[Delivery] = []

    def keys(self, keys: Collection[str]) -> TalliedKeys:
        return {place: number for place, number in self.known.items() if place[1] in keys}

    def keys_at(self, place: str) -> Collection[str]:
        return [key for leaf, key in self.known if leaf == place]

    def events(self, leaf: str, after: datetime, limit: int) -> Sequence[Delivery]:
        return [each for each in self.held if each.leaf == leaf and each.event.arrived > after][:limit]

    def newest(self, leaf: str, until: datetime) -> datetime | None:
        found = (each.event.arrived for each in self.held if each.leaf == leaf)
        return max((arrived for arrived in found if arrived <= until), default=None)

    def change(self, keys: TalliedKeys, held: Sequence[Delivery]) -> None:
        self.known = {place: number for place, number in {**self.known, **keys}.items() if number}
        self.held = sorted(held, key=in_order)


class CountedJob:
    """One job, decided at its arrivals and its next checks, in both ways, which have to agree.

    Attributes:
        satisfied: when its trigger held.
    """

    def __init__(self, trigger: Trigger) -> None:
        self._view = view_of(trigger)
        self._has: list[Delivery] = []
        self._rows = Rows()
        self._tally = Tally()
        self._next_check: datetime | None = None
        self.satisfied: datetime | None = None

    def live(self, came: Sequence[Came]) -> None:
        """Let minute after minute go by, until its trigger holds or it has lost all its events."""
        coming = heard(self._view, came)
        for minute in range(LAST_MINUTE + 1):
            now = MIDNIGHT + timedelta(minutes=minute)
            arrived = [each for each in coming if each.event.arrived == now]
            if arrived:
                self._count(arrived)
            due = self._next_check is not None and self._next_check <= now
            if arrived or due:
                self._decide(now)
            if self.satisfied is not None or (self._has == [] and due):
                return

    def _count(self, arrived: list[Delivery]) -> None:
        counter = Counter(self._view, self._tally, self._rows)
        counter.advance(arrived)
        self._has = sorted([*self._has, *arrived], key=in_order)
        self._tally = counter.tally()
        self._rows.change(counter.changed, self._has)
        self._recounted()

    def _recounted(self) -> None:
        """The counts are what all events of the job say."""
        counter = Counter(self._view, Tally(), Nothing())
        counter.advance(self._has, until=self._tally.through)
        assert self._tally == counter.tally()
        assert self._rows.known == {place: number for place, number in counter.changed.items() if number}

    def _explain(self, expected: Verdict, now: datetime) -> None:
        """Where the counts say all, the verdict that is made from them is the same, with all its texts."""
        view = msgspec.structs.replace(self._view, tally=self._tally, counted_keys=self._rows.keys_at)
        if tells_all(view, self._tally, now):
            assert evaluate(view.schedule.trigger, collected(view), now) == expected

    def _decide(self, now: datetime) -> None:
        trigger = self._view.schedule.trigger
        counted, keys = counted_at(self._view, self._tally, self._rows, now)
        whole = msgspec.structs.replace(self._view, deliveries=tuple(self._has))
        assert (counted.events, counted.collected) == (whole.events, whole.collected)
        found, expected = (evaluate(trigger, collected(each), now) for each in (counted, whole))
        assert (found.met, found.since) == (expected.met, expected.since)
        if expected.met:
            self.satisfied = expected.since
            return
        assert (found.reason, found.next_check) == (expected.reason, expected.next_check)
        self._explain(expected, now)
        gone = dropped(trigger, collected(whole), now)
        assert dropped(trigger, collected(counted), now) == gone
        self._next_check = expected.next_check
        if gone:
            assert counted.leaving is not None
            self._has = [each for each in self._has if each not in gone]
            first = min((each.event.arrived for each in self._has), default=None)
            assert counted.leaving.first == first
            self._tally = counted.leaving.tally
            self._rows.change(keys, self._has)
            self._recounted()
