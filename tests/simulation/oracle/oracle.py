"""The oracle: reads the journal, nothing else, and says whether the engine kept its promises.

It is written apart from the engine: it knows the entries' words and the specs as plain JSON, does
its own sums, and shares no function with it. Of the nine promises of docs/proof.md it judges

    no loss            every event of a schedule ends with a job, or discarded with a code
    no duplicates      one launch an attempt, one claim an attempt, no event in two launches
    legal states       entries of a job come in an order that the life of a job allows
    limits             concurrency, rate and load hold whenever a launch is decided (`oracle_launch`)
    atomic deploy      between two deployments the specs are those of one of them, never a mixture
    liveness           nothing waits for what is free (`stuck`), and `settled` finds all at an end

Determinism is judged by comparing whole stores, watermarks and commit steps by the publisher's tests.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from tests.simulation.knowledge import DEAD, DISCARDED, ENDED, LAUNCHED, RUNS, WAITS, JobSeen, Knowledge
from tests.simulation.oracle.clock import EngineClock, Violation
from tests.simulation.oracle.dates import check_joined, check_satisfied, check_written
from tests.simulation.oracle.early import check_joins, check_refused
from tests.simulation.oracle.heeded import Heeded
from tests.simulation.oracle.join import check_opened, closes
from tests.simulation.oracle.late_data import LateData
from tests.simulation.oracle.launch import check_again, check_launch, coming, may_go
from tests.simulation.oracle.leave import LeavingEvents
from tests.simulation.oracle.retry import check_retry, read_recovered
from tests.simulation.oracle.run import read_run
from tests.simulation.oracle.trigger import holds, must_hold, over_from_first
from tests.simulation.places import without_places
from tidegate.scheduler.model.journal import Entry


class Oracle:
    """Reads entries in order and raises a `Violation` at the first one that breaks a promise.

    Attributes:
        read: how many entries it has read; hand it only those after.
        deployed: the sets of specs that were asked for, in order; None accepts any.
        clock: what it knows of the engine's clock.
    """

    def __init__(self) -> None:
        self.read = 0
        self.known = Knowledge()
        self.deployed: list[dict[str, Any]] | None = None
        self._revision = 0
        self._specs_changed = False
        self.heeded = Heeded()
        self._consumed: dict[tuple[str, str, str, str], str] = {}
        self.clock = EngineClock()
        self._late_data = LateData()
        self._leaving = LeavingEvents()

    def read_all(self, entries: Iterable[Entry]) -> None:
        """Read what the journal says after what has been read."""
        for entry in entries:
            self.read += 1
            self.clock.saw(entry.at)
            try:
                self._leaving.check(entry)
                self._read(entry)
            except AssertionError as error:
                raise Violation(f"entry {self.read}, {entry}: {error}") from error

    # --- one entry ---

    def _read(self, entry: Entry) -> None:
        match str(entry.kind):
            case "spec":
                self._spec(entry)
            case "status":
                self._changed(entry, entry.data["status"])
                self.known.status[entry.schedule or ""] = entry.data["status"]
            case "gauge":
                self.known.gauges[entry.data["name"]] = entry.data["value"]
            case "job-opened":
                self._open(entry, entry.data["key"])
            case "manual":
                self._manual(entry)
            case "retry":
                check_retry(self._job(entry), self.known.specs, entry)
            case "recovered":
                read_recovered(self.known, self._job(entry), entry)
            case "event":
                self._event(entry)
            case "event-discarded":
                self._event_discarded(entry)
            case "run":
                self._run(entry)
            case "claim" | "offered" | "slots-taken" | "launch-failed" | "launch" | "satisfied":
                self._of_job(entry)
            case "waiting" | "discarded":
                self._of_job(entry)
            case "set-back":
                self.known.set_back(entry.at)
                self.heeded.set_back(entry.at)
                self._late_data.set_back(entry.at)
            case "late" | "landed" if entry.job is None:
                self._late_data.read(entry)
            case other:
                assert other in ("deploy", "clock", "override"), f"an entry of an unknown kind: {other}"

    def _spec(self, entry: Entry) -> None:
        if entry.schedule is None:
            return
        spec, ref = entry.data["spec"], entry.schedule
        self._specs_changed = True
        self._changed(entry, None if spec is None else entry.data["status"], self.read)
        if spec is None:
            self.known.specs.pop(ref, None)
            self.known.status.pop(ref, None)
            return
        self.known.status[ref] = entry.data["status"]
        self.known.specs[ref] = without_places(spec)
        if entry.data.get("carries"):
            # The new trigger is evaluated at once, from the start.
            for job in self.known.jobs.values():
                if job.schedule == ref and job.state == WAITS and job.by_hand is None and not job.failed:
                    job.since = None

    def _changed(self, entry: Entry, status: str | None, read: int | None = None) -> None:
        self.heeded.changed(entry, status, self.known.active_spec(entry.schedule or ""), read)

    def _whole(self) -> None:
        """The specs are those of one deployment, and of none before one that was seen."""
        if not self._specs_changed or self.deployed is None:
            return
        self._specs_changed = False
        for number in range(self._revision, len(self.deployed)):
            if self._fits(self.deployed[number]):
                self._revision = number
                return
        raise AssertionError("atomic deploy: the schedules are a mixture of deployments")

    def _fits(self, deployed: Mapping[str, Any]) -> bool:
        """Whether the specs are those of a deployment."""
        return deployed == self.known.specs

    def _open(self, entry: Entry, key: str) -> JobSeen:
        assert entry.job is not None and entry.schedule is not None
        assert entry.job not in self.known.jobs, "no duplicates: the job was opened before"
        job = JobSeen(entry.job, entry.schedule, key)
        self.known.jobs[entry.job] = job
        return job

    def _job(self, entry: Entry) -> JobSeen:
        job = self.known.jobs.get(entry.job or "")
        assert job is not None, "no loss: an entry of a job that was never opened"
        return job

    def _manual(self, entry: Entry) -> None:
        action = entry.data["action"]
        job = self.known.jobs.get(entry.job or "") or self._open(entry, entry.data["key"])
        if action == "requeue":
            assert job.state == DEAD, f"legal states: {job.state} was queued again"
            job.state, job.attempt, job.closed, job.retried = WAITS, job.attempt + 1, True, 0
            job.by_hand = job.by_hand or "trigger"
            job.reason = None
            return
        assert job.state == WAITS, f"legal states: a {job.state} job was triggered by hand"
        job.key = job.key or entry.data["key"]
        job.closed = job.closed or closes(self.known.specs[job.schedule], job, entry.data["key"])
        job.by_hand = action
        job.since = job.since or entry.at
        job.not_before = None

    def _event(self, entry: Entry) -> None:
        job = self._job(entry)
        event, leaf = entry.event or "", entry.data["leaf"]
        assert job.state == WAITS, f"no loss: an event joined a {job.state} job"
        assert (event, leaf) not in job.events, "no duplicates: the job has this event at this leaf"
        if "moved_from" in entry.data:
            # A changed schedule moves what it has collected to other leaves.
            old = entry.data["moved_from"]
            gone = None if old is None else job.events.pop((event, old), None)
            assert old is None or gone is not None, "no loss: the job never had this event"
            job.events[event, leaf] = entry.data
            return
        if "left" in entry.data:
            self._leaving.left(self.known, self.heeded, job, entry)
            return
        assert not job.closed, "legal states: an event joined a job that was queued again"
        assert self.known.takes_events(job.schedule), "a deleted or suspended schedule took an event"
        check_joined(self.known.specs[job.schedule], job, entry)
        if "date" in entry.data or (not job.events and job.by_hand is None):
            check_opened(self.known, job, entry)
        check_joins(entry.data)
        job.events[event, leaf] = entry.data
        self.heeded.delivered(entry)

    def _event_discarded(self, entry: Entry) -> None:
        assert (entry.reason or "").startswith("D-"), "no loss: discarded without a code"
        check_refused(entry)
        if entry.job is not None:
            job = self._job(entry)
            assert job.state == WAITS, f"legal states: an event was taken from a {job.state} job"
            gone = job.events.pop((entry.event or "", entry.data["leaf"]), None)
            assert gone is not None, "no loss: the job never had this event"
            return
        self.heeded.delivered(entry)

    # --- the life of a job ---

    def _of_job(self, entry: Entry) -> None:
        self._whole()
        job = self._job(entry)
        kind = str(entry.kind)
        if kind in ("satisfied", "waiting", "launch"):
            assert job.state == WAITS, f"legal states: {kind} of a {job.state} job"
            assert job.schedule in self.known.specs, "legal states: its schedule is deleted"
        match kind:
            case "satisfied":
                self._satisfied(job, entry)
            case "waiting":
                assert "error" not in entry.data, f"the decision raised an error: {entry.data}"
                assert (entry.reason or "").startswith("W-"), "a wait without a code"
                job.reason = entry.reason
                job.told_at = entry.at
            case "launch":
                self._launch(job, entry)
            case "offered":
                assert job.state == LAUNCHED, f"legal states: a {job.state} job was offered"
                assert not job.gave_back, "limits: offered without its slots"
                job.offers = entry.data["offer"]
            case "slots-taken":
                assert job.gave_back and job.state == LAUNCHED, "legal states: slots are taken twice"
                self.known.take(job, entry.at)
                spec = self.known.specs[job.schedule]
                check_again(self.known, coming(job, f"a/{spec['program']}", entry.at), spec, job.by_hand)
            case "claim":
                assert job.state in (LAUNCHED, RUNS), f"legal states: a {job.state} job was claimed"
                if job.gave_back:
                    self.known.take(job, entry.at)
                job.claims[job.attempt] += 1
                assert job.claims[job.attempt] == 1, "no duplicates: two runs claimed one attempt"
                job.state = RUNS
            case "launch-failed":
                assert job.state == LAUNCHED, f"legal states: the launch of a {job.state} job failed"
                if entry.reason is not None:
                    self._give_up(job, DEAD)
                elif entry.data["rejected"] == job.offers > 0:
                    self.known.give_back(job)
            case _:
                assert job.state in (WAITS, LAUNCHED), f"legal states: a {job.state} job was discarded"
                assert (entry.reason or "").startswith("D-"), "no loss: discarded without a code"
                self._leaving.discarded(job, entry, self.known.specs.get(job.schedule))
                self._give_up(job, ENDED if job.failed else DISCARDED)
                job.reason = entry.reason

    def _give_up(self, job: JobSeen, state: str) -> None:
        if job.state == LAUNCHED:
            self.known.forget_launch(job.holder)
            self.known.release(job.id)
            for place in [place for place, holder in self._consumed.items() if holder == job.id]:
                del self._consumed[place]
        job.state = state

    def _satisfied(self, job: JobSeen, entry: Entry) -> None:
        job.since = datetime.fromisoformat(entry.data["since"])
        assert job.since <= entry.at, "satisfied in the future"
        spec, events = self.known.specs[job.schedule], job.collected
        check_satisfied(spec, job, entry)
        if job.by_hand is None:
            enough = over_from_first(spec["timeout"], events, job.since) or holds(spec["trigger"], "", events)
            assert enough, "launched too early: its trigger"

    def _launch(self, job: JobSeen, entry: Entry) -> None:
        attempt = entry.data.get("attempt", job.attempt)
        assert attempt == job.attempt, f"legal states: attempt {attempt} instead of {job.attempt}"
        job.launches[attempt] += 1
        assert job.launches[attempt] == 1, "no duplicates: two launches of one attempt"
        manifest: dict[str, set[str]] = defaultdict(set)
        for (event, leaf), data in job.events.items():
            place = (job.schedule, leaf, job.key, event)
            other = self._consumed.setdefault(place, job.id)
            assert other == job.id, f"no duplicates: {event} was consumed by {other} already"
            if data["kind"] == "partition" and data.get("partition") is not None:
                manifest[data["key"].rpartition("/")[2]].add(data["partition"])
        assert {name: tuple(sorted(keys)) for name, keys in manifest.items()} == {
            name: tuple(keys) for name, keys in entry.data["manifest"].items()
        }, f"no loss: the manifest is not what was collected, {dict(manifest)}"
        self.clock.decided(entry.at)
        job.resources, job.program = tuple(entry.data["resources"]), entry.data["program"]
        job.offers = 0
        self.known.take(job, entry.at)
        spec = self.known.specs[job.schedule]
        check_written(spec, job, entry)
        assert job.not_before is None or entry.at >= job.not_before, "retries: before the pause was over"
        assert not self._held(job.schedule) or job.by_hand, "a held schedule launched"
        overridden = entry.data["overridden"]
        check_launch(
            self.known, coming(job, entry.data["program"], entry.at, overridden), spec["constraints"]
        )
        job.state = LAUNCHED

    def _run(self, entry: Entry) -> None:
        self._whole()
        read_run(self.known, entry, None if entry.job is None else self._job(entry))

    # --- at the end, or between two steps ---

    def stuck(self, now: datetime) -> None:
        """No job waits for what holds already; call it right after a tick at `now`."""
        for job in self.known.jobs.values():
            spec = self.known.specs.get(job.schedule)
            if job.state != WAITS or spec is None or (self._held(job.schedule) and not job.by_hand):
                continue
            events = job.collected
            if job.since is None:
                assert events, f"at {now}: {job} has lost all its events, and waits"
                waits_for_nothing = must_hold(spec["trigger"], "", events, now)
            else:
                launch = coming(job, f"a/{spec['program']}", now)
                waits_for_nothing = may_go(self.known, launch, spec["constraints"])
                waits_for_nothing &= job.not_before is None or now >= job.not_before
            if waits_for_nothing:
                raise Violation(f"liveness at {now}: {job} waits for what holds")

    def _held(self, ref: str) -> bool:
        holding = self.known.specs[ref]["on_suspend"] in ("hold", "backlog")
        return self.known.status[ref] != "active" and holding

    def unfinished(self) -> list[JobSeen]:
        """The jobs that were satisfied or launched, and have not come to their end."""
        begun = (LAUNCHED, RUNS)
        return [j for j in self.known.jobs.values() if j.state in begun or (j.state == WAITS and j.since)]

    def settled(self, now: datetime, oldest: timedelta) -> None:
        """Every job that was satisfied or launched has come to its end; the young ones have time."""
        for job in self.unfinished():
            since = max(filter(None, (job.since, job.ended_at)))
            assert now - since < oldest, f"liveness: {job} never ended"

    def heeded_all(self, inputs: Mapping[str, tuple[str, int]], now: datetime) -> None:
        """Nothing that was put in was lost, and no cron was skipped.

        Args:
            inputs: see `Heeded.lost`.
            now: of the last tick.
        """
        active = {ref: spec for ref, spec in self.known.specs.items() if self.known.status[ref] == "active"}
        self._leaving.check_all()
        found = self.heeded.lost(self.known.specs, inputs) or self.heeded.skipped(active, now)
        if found is not None:
            raise Violation(f"no loss: {found}")
