"""The loop of the host: take in, decide, create runs, for all apps of a project.

    lease ──mine──► the steps of a tick (`dispatch.steps`) ─► offered launches ─► runs (`host.runs`) ─► pause
      └──another host is active───────────────────────────────────────────────────────────────────────► pause

It does what the dispatchers' sensors do, without their pace: Dagster evaluates a sensor every five seconds at
most. While a host is active the sensors only say so. A host that is killed has lost nothing: what was decided
is in the store, and a run that was created and not submitted is submitted at the next offer of its job.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from threading import Event

from dagster import DagsterInstance, RunRequest

from tidegate.dagster_defs.deployed.location import Location
from tidegate.dagster_defs.deployed.names import DISPATCHER
from tidegate.dagster_defs.dispatch.pace import Turns
from tidegate.dagster_defs.dispatch.steps import ASKED_AGAIN, Shared, Steps
from tidegate.dagster_defs.existing.request import ExistingRequest
from tidegate.dagster_defs.host.changes import Changes
from tidegate.dagster_defs.host.existing import ExistingJobs
from tidegate.dagster_defs.host.questions import Unanswered
from tidegate.dagster_defs.host.runs import Runs, would_meet_every_launch
from tidegate.dagster_defs.internals.workspace import IWorkspaceProcessContext
from tidegate.dagster_defs.run.run_request import Invalid
from tidegate.scheduler.launch.active_host import CLOCKS, LEASE, ActiveHost, Lookout, host_of, release, take
from tidegate.scheduler.launch.obstacles import note_locations
from tidegate.scheduler.launch.outbox import LaunchRequest, postpone, resume_launches
from tidegate.scheduler.store.protocol import EngineTransaction
from tidegate.scheduler.store.sql.store import ServerClock
from tidegate.scheduler.store.upkeep import UpkeepStore
from tidegate.scheduler.tick.due import is_anything_due
from tidegate.spark_jobs.commit.process import is_gone, shown

POLL_SECONDS = 0.1
"""From the end of one loop to the next."""

REST = timedelta(seconds=1)
"""How long loops only look for commits (`host.changes`), while there are none and nothing becomes due."""

WAITING_SECONDS = 0.5
"""From one look of a host that is not active to the next."""

LAUNCHES_PER_LOOP = 100
"""What one loop offers: two seconds of work, after which new events are taken in. A sensor offers fewer."""

FAILED_SECONDS = 1.0
"""From a loop in which something failed to the next one."""

SWITCHES_SECONDS = 5
LOCATIONS_SECONDS = 1
MEASURING_SECONDS = 5

PROBE_SECONDS = 10
"""From one try to the next, of one launch, while all launches are postponed."""

NOW, RENEWED_EVERY = timedelta(0), LEASE / 4


class Host:
    """A host of a project."""

    def __init__(
        self,
        location: Location,
        instance: DagsterInstance,
        workspace: IWorkspaceProcessContext,
        process: str,
        log: Callable[[str], None],
    ) -> None:
        """Args:
        workspace: has the code location of the project.
        process: the name of this process.
        """
        self.active: ActiveHost | None = None
        self._location = location
        self._instance = instance
        self._process = process
        self._log = _once(log)
        self._runs = Runs(instance, workspace, location.project)
        self._changes = Changes(instance)
        self._rest: tuple[tuple[object, ...], datetime] | None = None
        self._lookout = Lookout()
        self._server_clock = ServerClock()
        self._existing = ExistingJobs(instance, workspace)
        self._steps = Steps(
            location,
            instance,
            Shared(),
            self._log,
            obstacles=self._existing.obstacles,
            goes_on=self._renew,
        )
        self._switches = Turns(SWITCHES_SECONDS)
        self._measuring = Turns(MEASURING_SECONDS)
        self._locations = Turns(LOCATIONS_SECONDS)
        self._off = False
        self._problem, self._unloaded = "", False
        self._probe = Turns(PROBE_SECONDS)

    def run(self, stop: Event) -> None:
        """Loop until the event is set, and release the lease then."""
        try:
            while not stop.is_set():
                stop.wait(self.loop())
        finally:
            self._changes.close()
            if self.active is not None:
                with self._location.open_store().transaction() as transaction:
                    release(transaction, self._location.project, self._process)

    def loop(self) -> float:
        """Loop once, and return the seconds until the next loop.

        A failure is logged, and the next loop tries again.
        """
        self._steps.failures.clear()
        try:
            store = self._location.open_store()
            if not self._lease(store):
                self._rest = None
                return WAITING_SECONDS
            token, now = self._changes.token(store), self._now()
            if self._rests(token, now):
                return POLL_SECONDS
            self._rest = None
            launched = self._advance(store)
            if not launched and not self._steps.failures:
                self._note_rest(store, token, now)
        except Exception as error:  # noqa: BLE001 -- the store or Dagster may be away for a while
            self._log(f"{type(error).__name__}: {error}")
            return FAILED_SECONDS
        if self._steps.failures:
            return FAILED_SECONDS
        return POLL_SECONDS if launched < LAUNCHES_PER_LOOP else 0

    def _rests(self, token: tuple[object, ...] | None, now: datetime) -> bool:
        """Return whether nothing was committed since the last loop that found nothing to do."""
        return self._rest is not None and self._rest[0] == token and NOW <= now - self._rest[1] < REST

    def _note_rest(self, store: UpkeepStore, token: tuple[object, ...] | None, now: datetime) -> None:
        """Rest until something is committed, unless something becomes due before.

        Args:
            token: of before the loop, so that what was committed meanwhile ends the rest.
        """
        if token is None:
            return
        with store.reading() as reader:
            if not is_anything_due(reader, now + REST):
                self._rest = token, now

    def _lease(self, store: UpkeepStore) -> bool:
        project, now = self._location.project, self._now()
        if self.active is not None and NOW <= now - self.active.looped_at < RENEWED_EVERY:
            return True
        was_active = self.active is not None
        with store.reading() as reader:
            found = host_of(reader, project)
        self.active = None
        apart = self._server_clock.difference(store, now)
        if abs(apart) >= LEASE:
            self._log(f"does not decide: {_difference(apart)} of the store's server; {CLOCKS}")
            return False
        gone = None if found is None or not is_gone(found.process) else found.process
        if found is not None and found.process not in (self._process, gone):
            other_clock = self._lookout.other_clock(found, now)
            if other_clock is not None or found.holds(now):
                said = "" if other_clock is None else f": {other_clock}"
                self._log(f"waits: {shown(found.process)} is active{said}")
                return False
        if not was_active and found is not None:
            # What the host before has postponed goes on with this one.
            self._problem = found.problem
        with store.transaction() as transaction:
            version = self._location.version
            self.active = take(
                transaction, project, self._process, now, gone=gone, version=version, problem=self._problem
            )
        if self.active is not None and not was_active:
            self._log("is active")
        return self.active is not None

    def _renew(self, transaction: EngineTransaction) -> bool:
        """Renew the lease in a transaction of a tick, however long that took; return whether it holds.

        Another host that has seen it end waits for this transaction, and finds it renewed.
        """
        project, now, active = self._location.project, self._now(), self.active
        if active is not None and not NOW <= now - active.looped_at < RENEWED_EVERY:
            version, problem = self._location.version, self._problem
            self.active = take(transaction, project, self._process, now, version=version, problem=problem)
        return self.active is not None

    def _advance(self, store: UpkeepStore) -> int:
        """Do the steps of one loop, and return the number of launches."""
        self._steps.advance(store)
        self._locations.run(lambda: self._steps.attempt(self._note_locations, store))
        self._switches.run(self._look_at_switch)
        if self._off:
            return 0
        not_loaded = self._runs.problem()
        if not_loaded:
            # Nothing of this project can be launched, so nothing is offered, and nothing is refused.
            self._unloaded = True
            self._postpone(store, not_loaded)
            return 0
        launched, met = self._launch_offered(store)
        if met:
            self._unloaded = False
            self._postpone(store, met, launched)
            return len(launched)
        if self._problem:
            self._go_on(store, launched=bool(launched))
        self._measuring.run(lambda: self._measure(store))
        return len(launched)

    def _launch_offered(self, store: UpkeepStore) -> tuple[list[LaunchRequest], str]:
        """Create the runs of what is offered, until one meets what would meet all of them.

        Returns:
            What was offered and got a run or an answer, and ""; or what did not, and what it would meet.
        """
        done: list[LaunchRequest] = []
        active = self.active
        offered = list(self._steps.launches(store, LAUNCHES_PER_LOOP))
        ours = [(launch, request) for launch, request in offered if isinstance(request, RunRequest)]
        with suppress(Exception):
            # What fails here is met and handled again where they are submitted one by one.
            tagged = [(request, self._tags(request, launch)) for launch, request in ours]
            self._runs.create(tagged, lambda: self._holds_since(store, active))
        for launch, request in offered:
            if not self._holds_since(store, active):
                # Another host or a dispatcher has been active, and offers the rest again.
                break
            try:
                if isinstance(request, ExistingRequest):
                    self._steps.submit_existing(store, launch, request, self._existing.submit)
                else:
                    self._runs.submit(request, self._tags(request, launch))
            except Unanswered as error:
                self._steps.postpone(store, launch, str(error), ASKED_AGAIN)
            except Exception as error:  # noqa: BLE001 -- of this launch alone, or of all
                text = f"{type(error).__name__}: {error}"
                if would_meet_every_launch(error):
                    return [each for each, _ in offered[len(done) :]], text
                self._steps.reject(store, launch, Invalid(text))
            done.append(launch)
        return done, ""

    def _postpone(self, store: UpkeepStore, problem: str, offered: Sequence[LaunchRequest] = ()) -> None:
        """Postpone all launches, which would meet the same; they hold no slots and lose no offer."""
        jobs = {launch.job for launch in offered}
        with store.transaction() as transaction:
            postpone(transaction, self._steps.apps, problem, self._now(), offered=jobs)
        self._probe.pause()
        if self._problem and self._problem != problem:
            self._resume(store)
        self._problem = problem
        self._log(f"launches nothing: {problem}")

    def _go_on(self, store: UpkeepStore, *, launched: bool) -> None:
        """Launch all that was postponed once the location is loaded or one launch goes through."""
        if launched or self._unloaded:
            self._resume(store)
            self._problem = ""
            self._log("launches again")
        else:
            self._probe.run(lambda: self._resume(store, 1))

    def _resume(self, store: UpkeepStore, limit: int | None = None) -> None:
        with store.transaction() as transaction:
            resume_launches(transaction, self._steps.apps, self._problem, self._now(), limit)

    def _holds_since(self, store: UpkeepStore, active: ActiveHost | None) -> bool:
        """Return whether this host has been active all the time since it had this lease, and still is."""
        renewed = self._lease(store)
        return (
            renewed and active is not None and self.active is not None and self.active.since == active.since
        )

    def _tags(self, request: RunRequest, launch: LaunchRequest) -> Mapping[str, str]:
        """Return the tags of the partition of a request, which Dagster's daemon would add."""
        assets = self._steps.deployed.programs.get((launch.app, launch.launch.program))
        if request.partition_key is None or assets is None or assets.partitions is None:
            return {}
        return assets.partitions.get_tags_for_partition_key(request.partition_key)

    def _measure(self, store: UpkeepStore) -> None:
        request = self._steps.measuring(store)
        if request is not None:
            self._runs.submit(request, {})

    def _note_locations(self, store: UpkeepStore) -> None:
        note_locations(store, self._location.project, self._existing.locations(), self._now())

    def _look_at_switch(self) -> None:
        """Note whether a person has switched the dispatcher off: then nothing is launched."""
        self._off = self._runs.dispatcher_is_off()
        if self._off:
            self._log(f"launches nothing: the sensor {DISPATCHER} is switched off")

    def _now(self) -> datetime:
        return self._location.clock()


def _difference(apart: timedelta) -> str:
    seconds = apart.total_seconds()
    return f"the clock of this process is {abs(seconds):,.0f} s {'ahead' if seconds > 0 else 'behind'} that"


def _once(log: Callable[[str], None]) -> Callable[[str], None]:
    """Return a log that leaves out a line that is the same as the one before."""
    last = ""

    def log_change(text: str) -> None:
        nonlocal last
        if text != last:
            last = text
            log(text)

    return log_change
