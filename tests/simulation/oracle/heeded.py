"""Whether every input was heeded: a part of the oracle.

An event must have reached every leaf that listens to it, and a cron must have fired at each of its
instants, be it into a job or into a discard with its code. Judged for schedules that were as they
are from before the input on; what a deployment in between has changed is judged by other means.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from tests.simulation.oracle.cron import CLOCKS_CHANGE, due
from tidegate.scheduler.model.journal import Entry

Specs = Mapping[str, dict[str, Any]]

LATE = timedelta(minutes=2)
"""A fire that is noticed later was missed."""


class Heeded:
    """What was delivered where."""

    def __init__(self) -> None:
        self._delivered: dict[str, set[tuple[str, str]]] = defaultdict(set)
        self._fires: set[tuple[str, str, datetime]] = set()
        self._expired: dict[tuple[str, str], list[tuple[datetime, datetime, int]]] = defaultdict(list)
        self._more: dict[str, int] = defaultdict(int)
        self._discards: dict[str, tuple[str, str, datetime]] = {}
        self._spec_since: dict[str, int] = {}
        self._steady_since: dict[str, datetime] = {}
        self._active_since: dict[str, datetime] = {}
        self._received: dict[str, set[tuple[str, str | None]]] = defaultdict(set)

    def delivered(self, entry: Entry) -> None:
        """An event came to a leaf, and joined a job or was discarded."""
        place = entry.schedule or "", entry.data["leaf"]
        if entry.job is None:
            assert place not in self._delivered[entry.event or ""], (
                "an event has joined a job, and is discarded"
            )
        if entry.reason == "D-SUSPENDED":
            self._was_suspended(entry)
        self._delivered[entry.event or ""].add(place)
        self._received[place[0]].add((entry.event or "", entry.job))
        scheduled = entry.data.get("scheduled_for")
        if scheduled is not None:
            self._fires.add((*place, datetime.fromisoformat(scheduled)))
            if entry.reason == "D-EXPIRED":
                self._discards[entry.event or ""] = (*place, datetime.fromisoformat(scheduled))
        if "first_at" in entry.data:
            first, number = datetime.fromisoformat(entry.data["first_at"]), entry.data["number"]
            assert entry.reason == "D-EXPIRED", "a row of several fires that are not discarded"
            self._expired[place].append((first, datetime.fromisoformat(scheduled), number))
            self._more[place[0]] += number - 1

    def moved(self, entry: Entry, before: str) -> None:
        """An event has left a discarded job for one of its own: it counts for that one."""
        event, received = entry.event or "", self._received[entry.schedule or ""]
        received.discard((event, before))
        received.add((event, entry.job))

    def set_back(self, now: datetime) -> None:
        """The clock was ahead: fires that lie ahead and were only recorded as expired will happen."""
        for event, (ref, leaf, last) in list(self._discards.items()):
            if last <= now:
                continue
            del self._discards[event]
            self._fires.discard((ref, leaf, last))
            self._delivered.pop(event, None)
            self._received[ref].discard((event, None))
            ahead = [row for row in self._expired[ref, leaf] if row[1] == last]
            self._more[ref] -= sum(number - 1 for _, _, number in ahead)
            self._expired[ref, leaf] = [row for row in self._expired[ref, leaf] if row[1] != last]
        for since in (self._active_since, self._steady_since):
            since.update({ref: min(at, now) for ref, at in since.items()})

    def _was_suspended(self, entry: Entry) -> None:
        arrived = datetime.fromisoformat(entry.data["arrived"])
        since = self._active_since.get(entry.schedule or "")
        assert since is None or arrived < since, "it came while the schedule was active"

    def counted(self, ref: str) -> int:
        """How many events a schedule has received, each once for each job."""
        return len(self._received[ref]) + self._more[ref]

    def changed(
        self, entry: Entry, status: str | None, before: dict[str, Any] | None, read: int | None
    ) -> None:
        """A schedule was switched, or is another one from this entry on, the `read`-th.

        Args:
            status: which it has from now on; None if it is deleted.
            before: its spec until now, if it was active.
        """
        ref = entry.schedule or ""
        if before is not None:
            found = self.skipped({ref: before}, entry.at - timedelta(microseconds=1))
            assert found is None, f"no loss: changed at {entry.at}, {found}"
        if status != "active":
            self._active_since.pop(ref, None)
        elif before is None or entry.data.get("carries") is False:
            self._active_since[ref] = entry.at
        self._steady_since[ref] = entry.at
        if read is not None:
            self._spec_since[ref] = read

    def lost(self, specs: Specs, inputs: Mapping[str, tuple[str, int]]) -> str | None:
        """An event that never reached a leaf that listens to it.

        Args:
            inputs: key, and how many entries had been read when it was added, by event id.
        """
        listening: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for ref, spec in specs.items():
            for leaf, key in _listens(spec["trigger"], ""):
                listening[key].append((ref, leaf))
        for event, (key, added) in inputs.items():
            for ref, leaf in listening[key]:
                if self._spec_since[ref] <= added and (ref, leaf) not in self._delivered[event]:
                    return f"{event} ({key}) never reached {ref} at {leaf!r}"
        return None

    def skipped(self, specs: Specs, now: datetime) -> str | None:
        """A cron of one of these schedules, all active, that has not fired by `now` when it should have."""
        for ref, spec in specs.items():
            for leaf, cron in _crons(spec["trigger"], ""):
                fires = list(due(cron["cron"], cron["timezone"], self._steady_since[ref], now))
                rows = self._expired[ref, leaf]
                for instant in fires:
                    in_row = any(first <= instant <= last for first, last, _ in rows)
                    if (ref, leaf, instant) not in self._fires and not in_row:
                        return f"{cron['cron']} of {ref} did not fire at {instant}"
                for first, last, number in rows:
                    found = sum(first <= instant <= last for instant in fires)
                    whole = self._steady_since[ref] < first and not _clocks_change(first, last)
                    if whole and found != number:
                        return f"{number} of {found} fires of {ref} from {first} to {last} are in a row"
        return None


def _clocks_change(first: datetime, last: datetime) -> bool:
    """Whether a row may hold a fire of the day that `due` leaves out, which ends in the next day of UTC."""
    return first.date() - timedelta(days=1) <= CLOCKS_CHANGE <= last.date() + timedelta(days=1)


def _leaves(trigger: dict[str, Any], path: str) -> Iterable[tuple[str, dict[str, Any]]]:
    if "of" not in trigger:
        yield path, trigger
    for index, member in enumerate(trigger.get("of", ())):
        yield from _leaves(member, f"{path}.{index}" if path else str(index))


def _listens(trigger: dict[str, Any], path: str) -> Iterable[tuple[str, str]]:
    for place, leaf in _leaves(trigger, path):
        if leaf["kind"] in ("partitions", "size"):
            yield place, f"partition:a/{leaf['dataset']}"
        elif leaf["kind"] == "run":
            yield place, f"run:a/{leaf['program']}:{leaf['status']}"


def _crons(trigger: dict[str, Any], path: str) -> Iterable[tuple[str, dict[str, Any]]]:
    for place, leaf in _leaves(trigger, path):
        if leaf["kind"] == "cron" and leaf["calendar"] is None:
            yield place, leaf
