"""Leases with a heartbeat: of a run that may still put a sequence, and of who finishes one.

A lease is prolonged three times before it would end, from a thread, until the work is done. What
a lost one means differs: an attempt that was given up cannot put its sequence any more (the
store refuses, so nothing here has to be right about it), while an owner that was replaced only
stops doing what another does now. The clocks of two machines may differ by less than half a lease.
"""

import logging
import threading
from collections.abc import Callable, Sequence
from datetime import timedelta
from types import TracebackType

from tidegate.domain.commit_store import CommitStepStore
from tidegate.spark_jobs.commit.clock import SYSTEM_CLOCK, Clock
from tidegate.spark_jobs.errors import CommitFenced

LEASE_SECONDS = 120
"""How long a process that died keeps others waiting at most."""
RENEWALS_PER_LEASE = 3
"""Two renewals may fail, or clocks differ by half a lease, before a living one is taken for dead."""

LEASE = timedelta(seconds=LEASE_SECONDS)

log = logging.getLogger(__name__)


class Heartbeat:
    """Calls `beat` three times a lease from a thread, until it answers False or is stopped."""

    def __init__(self, what: str, beat: Callable[[], bool], clock: Clock) -> None:
        self._what = what
        self._beat = beat
        self._clock = clock
        self._stop = threading.Event()
        # A daemon: one that hangs in a dead network must not keep the process from ending.
        self._thread = threading.Thread(target=self._run, name=f"lease of {what}", daemon=True)

    def start(self) -> None:
        """Begins; the first beat comes after a third of the lease."""
        self._thread.start()

    def stop(self) -> None:
        """Ends it, and waits for a beat that is under way: afterwards the lease is prolonged no more."""
        self._stop.set()
        self._thread.join(LEASE_SECONDS)

    def _run(self) -> None:
        goes_on = True
        while goes_on and not self._clock.wait(self._stop, LEASE_SECONDS / RENEWALS_PER_LEASE):
            try:
                goes_on = self._beat()
            except Exception as error:  # noqa: BLE001 -- whatever the store's driver raises
                log.warning("the lease of %s could not be prolonged: %s", self._what, error)


class AttemptLease:
    """An attempt, for as long as the block runs: `with AttemptLease(store, commit, datasets) as token:`.

    A block that fails after the attempt was given up has failed for that reason, whatever it says: what it
    had staged is gone. It ends with CommitFenced.
    """

    def __init__(
        self,
        store: CommitStepStore,
        commit: str,
        datasets: Sequence[str],
        *,
        at_least: int = 0,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._store = store
        self._commit = commit
        self._datasets = datasets
        self._at_least = at_least
        self._clock = clock
        self._token = 0
        self._given_up = False
        self._heartbeat = Heartbeat(f"an attempt of commit {commit}", self._renew, clock)

    def __enter__(self) -> int:
        self._token = self._store.begin(
            self._commit, self._datasets, until=self._clock.now() + LEASE, at_least=self._at_least
        )
        self._heartbeat.start()
        return self._token

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._heartbeat.stop()
        try:
            self._store.end(self._token)
        except Exception as failure:  # noqa: BLE001 -- it must not hide why the block ended
            log.warning("an attempt of commit %s could not be closed: %s", self._commit, failure)
        if self._given_up and isinstance(error, Exception):
            raise fenced(self._commit) from error

    def _renew(self) -> bool:
        if self._store.renew(self._token, self._clock.now() + LEASE):
            return True
        # What is put needs no attempt any more.
        put = self._store.exists(self._commit) or self._store.result(self._commit) is not None
        self._given_up = not put
        return False


class Ownership:
    """A sequence that was taken, for as long as the block runs. It is not given back at the end.

    Attributes:
        owner: who took it.
        lost: another one has it now, or it is finished or gone.
    """

    def __init__(self, store: CommitStepStore, sequence: str, owner: str, clock: Clock) -> None:
        self.owner = owner
        self.lost = False
        self._store = store
        self._sequence = sequence
        self._clock = clock
        self._heartbeat = Heartbeat(f"commit {sequence}", self._prolong, clock)

    def __enter__(self) -> "Ownership":
        self._heartbeat.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._heartbeat.stop()

    def _prolong(self) -> bool:
        now = self._clock.now()
        state = self._store.take(self._sequence, self.owner, now=now, until=now + LEASE)
        self.lost = state is None or state.owner != self.owner
        if state is not None and self.lost:
            log.warning("commit %s was taken over by %s", self._sequence, state.owner)
        return not self.lost


def fenced(commit: str) -> CommitFenced:
    """The failure of an attempt that was given up."""
    return CommitFenced(
        f"this attempt of commit {commit} was taken for dead and given up: its lease of {LEASE_SECONDS} s"
        " had run out",
        "nothing was published; run it again, and see why the process stood still for so long",
    )
