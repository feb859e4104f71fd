"""The oracle of people: what was changed by hand, until when, and what has to be in force again.

It reads the entries `override`, `status`, `held`, and compares the schedules with the last deployment: they
may differ where an override is noted, and nowhere else. So what ends has reverted, and what has reverted
has ended.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tests.simulation.oracle.oracle import Oracle, Violation
from tests.simulation.people.expected import ExpectedData
from tests.simulation.world import bare
from tidegate.domain.model import Schedule
from tidegate.scheduler.model.journal import Entry
from tidegate.scheduler.model.records.override import Override

Place = tuple[str, str]
"""A schedule or an app, and which part of it is overridden: its text, its status, or its hold."""


@dataclass(frozen=True)
class Seen:
    """An override as the journal has it."""

    kind: str
    owner: str
    expires: datetime | None
    base: str | None


class PeopleOracle(Oracle):
    """An oracle that knows overrides, and which data is expected.

    Attributes:
        ended: how many overrides have ended, by part and cause.
        expected: which data is late.
    """

    def __init__(self) -> None:
        super().__init__()
        self._texts: dict[str, list[dict[str, Any] | None]] = defaultdict(list)
        self.ended = Counter[tuple[str, str]]()
        self.expected = ExpectedData()
        self._overrides: dict[Place, Seen] = {}
        self._status_before: dict[str, str | None] = {}
        self._on_hold: set[str] = set()

    def read_all(self, entries: Iterable[Entry]) -> None:
        """The entries end with a transaction."""
        super().read_all(entries)
        self._whole()
        held = {ref for ref, part in self._overrides if part == "held"}
        assert held == self._on_hold, f"{held} are overridden, {self._on_hold} are on hold"
        for (ref, part), seen in self._overrides.items():
            if part == "status" and self.known.status[ref] == seen.base:
                raise Violation(f"the status of {ref} is {seen.base} again, and still an override")

    def ticked(self, now: datetime) -> None:
        """Judge right after a tick at `now`: all that had to expire has, and late data is noted."""
        for place, seen in self._overrides.items():
            if seen.expires is not None and seen.expires <= now:
                raise Violation(f"liveness at {now}: the override of {place} ended at {seen.expires}")
        self.clock.saw(now)
        self.expected.ticked(now)

    def same_overrides(self, found: Sequence[Override]) -> None:
        """The table has what the journal says."""
        table = {
            (each.ref, part_of(each.kind)): Seen(each.kind, each.owner, each.expires_at, each.status)
            for each in found
        }
        assert table == self._overrides, f"{table} in the table, {self._overrides} in the journal"

    def _read(self, entry: Entry) -> None:
        match str(entry.kind):
            case "override":
                self._override(entry)
                self._specs_changed = True
            case "held":
                app, action = entry.data["app"], entry.data["action"]
                assert (action == "release") == (app in self._on_hold), f"{app} was there already"
                self._on_hold ^= {app}
            case kind:
                if kind == "status":
                    ref = entry.schedule or ""
                    self._status_before[ref] = self.known.status.get(ref)
                assert kind != "offered" or not self._on_hold, "a launch of an app on hold was offered"
                super()._read(entry)
                self.expected.read(entry)

    def _override(self, entry: Entry) -> None:
        data, ref = entry.data, entry.schedule or entry.data["app"]
        expires = data["expires_at"]
        seen = Seen(
            kind=data["override"],
            owner=data["owner"],
            expires=None if expires is None else datetime.fromisoformat(expires),
            base=data["status"],
        )
        place = ref, part_of(seen.kind)
        before = self._overrides.get(place)
        if data["action"] == "ended":
            assert before == seen, f"{place} ended as {seen}, and was {before}"
            del self._overrides[place]
            self._ended(entry, place, seen)
            return
        assert (before is None) == (data["action"] == "began"), f"{place} was {before}"
        assert seen.expires is None or seen.expires > entry.at, "it has expired already"
        self._overrides[place] = seen
        if place[1] == "status":
            base = self._status_before[ref] if before is None else before.base
            assert seen.base == base, f"it reverts to {seen.base}, and was {base} before"

    def _ended(self, entry: Entry, place: Place, seen: Seen) -> None:
        cause = entry.data["cause"]
        self.ended[place[1], cause] += 1
        over = seen.expires is not None and entry.at >= seen.expires
        if cause == "deleted":
            assert place[0] not in self.known.specs, "its schedule is there"
            return
        assert over == (cause == "expired"), f"{cause}, and was to end at {seen.expires}"
        assert (entry.data["by"] == "expiry") == (cause == "expired"), "an expiry is a command of its own"
        if place[1] == "status" and place[0] in self.known.specs:
            found = self.known.status[place[0]]
            assert found == seen.base, f"{place[0]} is {found}, and was {seen.base} before the override"

    def _fits(self, deployed: Mapping[str, Any]) -> bool:
        """Whether the schedules are those of a deployment, but for overrides that are noted."""
        return all(
            self._fits_one(ref, deployed.get(ref)) for ref in deployed.keys() | self.known.specs.keys()
        )

    def _fits_one(self, ref: str, deployed: dict[str, Any] | None) -> bool:
        seen = self._overrides.get((ref, "text"))
        found, wanted = text_of(self.known.specs.get(ref)), text_of(deployed)
        match None if seen is None else seen.kind:
            case None:
                return found == wanted
            case "deleted":
                return found is None and wanted is not None
            case "created":
                return found in self._texts[ref] and wanted is None
            case _:
                return found in self._texts[ref] and wanted not in (None, found)

    def put(self, spec: Schedule) -> None:
        """A person is about to give a schedule this text."""
        self._texts[f"a/{spec.name}"].append(text_of(bare(spec)))


def text_of(spec: dict[str, Any] | None) -> dict[str, Any] | None:
    """A spec without its first status: one that was deleted comes back with the status that it had."""
    return None if spec is None else {name: each for name, each in spec.items() if name != "status"}


def part_of(kind: str) -> str:
    """Of what there is one override: the text of a schedule, its status, or the hold of an app."""
    return kind if kind in ("status", "held") else "text"
