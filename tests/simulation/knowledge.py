"""What the oracle knows: all that follows from the journal so far, in its own words."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

WAITS, LAUNCHED, RUNS, ENDED, DISCARDED, DEAD = "waiting", "launched", "running", "ended", "discarded", "dead"
"""How far a job is, as far as entries tell."""


@dataclass
class JobSeen:
    """What the journal has said of one job."""

    id: str
    schedule: str
    key: str
    state: str = WAITS
    reason: str | None = None
    by_hand: str | None = None
    attempt: int = 1
    closed: bool = False
    since: datetime | None = None
    told_at: datetime | None = None
    retried: int = 0
    failed: bool = False
    died: bool = False
    recovered: bool = False
    ended_at: datetime | None = None
    not_before: datetime | None = None
    offers: int = 0
    gave_back: bool = False
    resources: tuple[str, ...] = ()
    program: str = ""
    launches: Counter[int] = field(default_factory=Counter)
    claims: Counter[int] = field(default_factory=Counter)
    events: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)

    def ends(self, at: datetime, failed: bool, died: bool) -> None:
        """Its run has ended."""
        self.state, self.ended_at, self.died = ENDED, at, died
        self.failed = failed and not self.recovered

    @property
    def holder(self) -> str:
        """Whose launch it is in a rate: each attempt counts."""
        return f"{self.id}:{self.attempt}"

    @property
    def collected(self) -> list[tuple[str, dict[str, Any]]]:
        """Leaf and facts of every event that it has."""
        return [(leaf, data) for (_, leaf), data in self.events.items()]


@dataclass
class Knowledge:
    """What follows from the journal so far.

    Attributes:
        specs: the deployed schedules by ref, as plain JSON.
        holders: who takes a slot of each resource.
        launches: (instant, holder) by program.
        successes: the ends of the successful runs by program and run.
    """

    specs: dict[str, dict[str, Any]] = field(default_factory=dict)
    status: dict[str, str] = field(default_factory=dict)
    jobs: dict[str, JobSeen] = field(default_factory=dict)
    holders: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    launches: dict[str, list[tuple[datetime, str]]] = field(default_factory=lambda: defaultdict(list))
    successes: dict[str, dict[str, datetime]] = field(default_factory=lambda: defaultdict(dict))
    gauges: dict[str, float] = field(default_factory=dict)
    started: dict[str, datetime] = field(default_factory=dict)

    def active_spec(self, ref: str) -> dict[str, Any] | None:
        """The spec of a schedule that is active."""
        return self.specs.get(ref) if self.status.get(ref) == "active" else None

    def takes_events(self, ref: str) -> bool:
        """Whether events may join the jobs of a schedule."""
        spec = self.specs.get(ref)
        return spec is not None and (
            self.status[ref] == "active" or spec["on_suspend"] in ("hold", "backlog")
        )

    def take(self, job: JobSeen, at: datetime) -> None:
        """A launch is decided, or made again: it takes its slots, and counts in rates."""
        for resource in job.resources:
            self.holders[resource].add(job.id)
        self.launches[job.program].append((at, job.holder))
        job.gave_back = False

    def give_back(self, job: JobSeen) -> None:
        """None of its requests reached the launcher: it takes nothing until it is offered again."""
        self.forget_launch(job.holder)
        self.release(job.id)
        job.gave_back = True

    def set_back(self, now: datetime) -> None:
        """The clock was ahead: what lies ahead counts as of now."""
        for job in self.jobs.values():
            if job.not_before is not None and job.ended_at is not None:
                job.not_before -= max(job.ended_at - now, timedelta(0))
            job.since = None if job.since is None else min(job.since, now)
            job.ended_at = None if job.ended_at is None else min(job.ended_at, now)
            for place, facts in job.events.items():
                arrived = min(datetime.fromisoformat(facts["arrived"]), now)
                job.events[place] = {**facts, "arrived": arrived.isoformat()}
        for launches in self.launches.values():
            launches[:] = [(min(at, now), holder) for at, holder in launches]
        self.started = {run: min(at, now) for run, at in self.started.items()}
        for program, runs in self.successes.items():
            self.successes[program] = {run: min(at, now) for run, at in runs.items()}

    def release(self, holder: str) -> None:
        """Its slots are free again."""
        for holders in self.holders.values():
            holders.discard(holder)

    def forget_launch(self, holder: str) -> None:
        """A launch failed, and counts in no rate."""
        for launches in self.launches.values():
            launches[:] = [each for each in launches if each[1] != holder]
