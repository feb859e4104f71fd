"""Which data is late: the deadlines of datasets, computed once more from the events that were put in.

It reads the journal and no other row. A period that the journal calls late had not landed by its deadline,
in what had been put in by then. After two ticks that follow each other closely, each period that has passed
its deadline without landing is in the journal, and each late one that has landed after all.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

from tests.simulation.oracle.early import is_early
from tidegate.domain.model import Deadline
from tidegate.scheduler.model.event import PARTITION_KEY, Event
from tidegate.scheduler.model.journal import Entry

ZONE = ZoneInfo("America/New_York")
"""The zone of the app, hence of its periods and deadlines."""

DAY = timedelta(days=1)
FORMATS = {"raw": "%Y-%m-%d", "chunks": "%Y-%m-%d", "hourly": "%Y-%m-%d-%H:00"}
"""How the keys of the datasets with partitions are written."""

ORIGINS = ("EWR", "JFK")
"""The parts of a day of `chunks`."""

CLOSELY = timedelta(minutes=14)
"""A scheduler whose last tick was longer ago was away: 15 minutes, less one that idle ticks do not note."""

GRACE = timedelta(minutes=1)
"""A scheduler that returns judges nothing for so long."""


class ExpectedData:
    """What has landed, what is expected, and what the journal says is late.

    Attributes:
        late: how often each dataset was late.
        landed: what was late and has landed after all: dataset and key.
    """

    def __init__(self) -> None:
        self.late = Counter[str]()
        self.landed: set[tuple[str, str]] = set()
        self._deadlines: dict[str, Deadline] = {}
        self._coming: dict[str, Deadline] = {}
        self._since: dict[str, datetime] = {}
        self._first: dict[str, datetime] = {}
        self._arrivals: dict[tuple[str, str], list[datetime]] = defaultdict(list)
        self._noted: dict[tuple[str, str], datetime] = {}
        self._last: dict[str, datetime] = {}
        self._ticked: datetime | None = None
        self._newest: datetime | None = None

    def deployed(self, deadlines: Mapping[str, Deadline], now: datetime, latest: datetime) -> None:
        """These are the deadlines from now on.

        Args:
            latest: the latest time that any clock has shown. What began before may have been judged already.
        """
        for name, deadline in deadlines.items():
            if self._deadlines.get(name) != deadline:
                self._since[name] = max(now, latest)
                self._first.setdefault(name, now)
        self._deadlines = dict(deadlines)
        self._coming = {}

    def deploying(self, deadlines: Mapping[str, Deadline]) -> None:
        """These deadlines are about to be deployed: twice, where a process dies after the first commit."""
        self._coming = dict(deadlines)

    def added(self, events: Iterable[Event]) -> None:
        """Events were put in."""
        for event in events:
            dataset = event.key.removeprefix(f"{PARTITION_KEY}a/")
            # Any partition of data without partitions is an update.
            part = (event.partition or "") if dataset in FORMATS else ""
            if is_early(part, event.arrived):
                continue
            self._arrivals[dataset, part].append(event.arrived)

    def read(self, entry: Entry) -> None:
        """Read an entry of the journal; it is about what was put in before."""
        if entry.job is not None or str(entry.kind) not in ("late", "landed"):
            return
        dataset, key = entry.data["dataset"].removeprefix("a/"), entry.data["key"]
        if entry.kind == "landed":
            assert self._has_landed(dataset, key, entry.at), f"{dataset} {key} has not landed"
            self.landed.add((dataset, key))
            return
        due = datetime.fromisoformat(entry.data["due"])
        possible = [each[dataset] for each in (self._deadlines, self._coming) if dataset in each]
        found = [each for each in possible if self._due(dataset, key, each) == due]
        assert found, f"{dataset} {key} is due by one of {possible}: {entry}"
        assert not self._in_time(dataset, key, due, found[0]), f"{dataset} {key} had landed by {due}"
        if dataset not in FORMATS:
            self._last[key] = due - (found[0].within or timedelta(0))
            if found[0].within is None:
                self._last[key] = self._last_update(due)
        self._noted[dataset, key] = due
        self.late[dataset] += 1

    def ticked(self, now: datetime) -> None:
        """A tick at `now` is over, and the journal was read."""
        before, self._ticked = self._ticked, now
        was_newest, self._newest = before == self._newest, max(now, self._newest or now)
        if before is None or not was_newest or not GRACE <= now - before <= CLOSELY:
            return
        for dataset in self._deadlines:
            for key, due in self._passed(dataset, now):
                in_time = self._in_time(dataset, key, due, self._deadlines[dataset], now)
                assert in_time or (dataset, key) in self._noted, (
                    f"{dataset} {key} has not landed by {due}, and is not late at {now}"
                )
        for dataset, key in self._noted.keys() - self.landed:
            assert dataset not in self._deadlines or not self._has_landed(dataset, key, now), (
                f"{dataset} {key} has landed after all, and is late still"
            )

    # --- deadlines ---

    def _passed(self, dataset: str, now: datetime) -> Iterator[tuple[str, datetime]]:
        """The periods whose deadline has certainly been judged by now, with their deadlines."""
        since, deadline = self._since[dataset], self._deadlines[dataset]
        if dataset in FORMATS:
            start = since.astimezone(ZONE).replace(minute=0, second=0, microsecond=0, fold=0)
            start = start if dataset == "hourly" else start.replace(hour=0)
            while (due := self._due(dataset, key := start.strftime(FORMATS[dataset]), deadline)) <= now:
                yield key, due
                start = end_of(dataset, key).astimezone(ZONE)
        elif deadline.by is None:
            last = self._last_update(now)
            if last + (deadline.within or DAY) <= now and last >= since:
                yield minute(last), last + (deadline.within or DAY)
        else:
            due = clock_at_or_after(deadline.by, now.astimezone(ZONE) - DAY)
            if due > since and due <= now:
                yield minute(due), due

    def _due(self, dataset: str, key: str, deadline: Deadline) -> datetime:
        if dataset not in FORMATS:
            named = datetime.strptime(key, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
            if deadline.by is not None:
                return named
            # The name of a silence leaves out the microseconds of what it follows.
            known = [*self._arrivals[dataset, ""], *self._first.values()]
            found = max((each for each in known if minute(each) == minute(named)), default=named)
            return found + (deadline.within or DAY)
        end = end_of(dataset, key)
        if deadline.by is not None:
            return clock_at_or_after(deadline.by, end)
        return end + (deadline.within or DAY)

    # --- what has landed ---

    def _last_update(self, now: datetime) -> datetime:
        known = [each for each in self._arrivals["plain", ""] if each <= now]
        return max(known, default=self._first.get("plain", now))

    def _in_time(
        self, dataset: str, key: str, due: datetime, deadline: Deadline, judged: datetime | None = None
    ) -> bool:
        """Whether all of a period has landed by its deadline.

        Args:
            judged: up to when an update counts of data without partitions, judged late after a downtime.
        """
        if dataset in FORMATS:
            return all(any(at <= due for at in self._arrivals[dataset, part]) for part in parts(dataset, key))
        before = due - (deadline.within or timedelta(0))
        if deadline.by is not None:
            before = clock_at_or_after(deadline.by, due.astimezone(ZONE) - timedelta(hours=30))
        return any(before < at <= (judged or due) for at in self._arrivals[dataset, ""])

    def _has_landed(self, dataset: str, key: str, now: datetime) -> bool:
        if dataset in FORMATS:
            return all(any(at <= now for at in self._arrivals[dataset, part]) for part in parts(dataset, key))
        return any(self._last[key] < at <= now for at in self._arrivals[dataset, ""])


def end_of(dataset: str, key: str) -> datetime:
    """When the period of a key ends."""
    start = datetime.strptime(key, FORMATS[dataset])
    if dataset == "hourly":
        return start.replace(tzinfo=ZONE).astimezone(UTC) + timedelta(hours=1)
    return (start + DAY).replace(tzinfo=ZONE).astimezone(UTC)


def clock_at_or_after(clock: time, instant: datetime) -> datetime:
    """When clocks in the zone of the app show a time of the day next."""
    day = instant.astimezone(ZONE).date()
    found = datetime.combine(day, clock, ZONE).astimezone(UTC)
    return found if found >= instant else datetime.combine(day + DAY, clock, ZONE).astimezone(UTC)


def parts(dataset: str, key: str) -> list[str]:
    """The partitions of a period."""
    return [f"{key}|{origin}" for origin in ORIGINS] if dataset == "chunks" else [key]


def minute(instant: datetime) -> str:
    """How a deadline of data without partitions is named."""
    return f"{instant.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
