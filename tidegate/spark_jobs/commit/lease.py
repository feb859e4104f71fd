"""Leases with a heartbeat: of a run that may still put a sequence, and of the owner that finishes one.

A thread renews a lease three times per lease period until the work is done, as long as the JVM of this
process answers: one that hangs lets its leases lapse. The two leases differ in what losing them means: an
attempt whose lease expired cannot put its sequence any more (the store refuses it, so correctness does not
depend on this module), while an owner that was replaced only stops duplicate work. The clocks of two machines
may differ by less than half a lease.
"""

import logging
import threading
from collections.abc import Callable, Sequence
from datetime import timedelta
from types import TracebackType

from tidegate.domain.commit_store import CommitStepStore
from tidegate.spark_jobs.commit.clock import SYSTEM_CLOCK, Clock
from tidegate.spark_jobs.commit.state import is_put, is_withheld
from tidegate.spark_jobs.errors import CommitFenced
from tidegate.spark_jobs.java import jvm

LEASE_SECONDS = 120
"""The longest time that a dead process keeps others waiting."""
RENEWALS_PER_LEASE = 3
"""Two renewals may fail, or clocks differ by half a lease, before a living process counts as dead."""

LEASE = timedelta(seconds=LEASE_SECONDS)

log = logging.getLogger(__name__)


class Heartbeat:
    """Calls `beat` three times per lease from a thread, until it returns False or is stopped."""

    def __init__(
        self,
        what: str,
        beat: Callable[[], bool],
        clock: Clock,
        *,
        answers: Callable[[], bool] = jvm.answers,
        hung: Callable[[], None] | None = None,
    ) -> None:
        """Args:
        what: what is leased, for the log.
        answers: whether the process still works; while it does not, the lease is not renewed.
        hung: called once the process has not worked for a whole lease.
        """
        self._what = what
        self._beat = beat
        self._clock = clock
        self._answers = answers
        self._hung = hung
        self._stop = threading.Event()
        # A daemon thread: one that hangs on the network must not keep the process from ending.
        self._thread = threading.Thread(target=self._run, name=f"lease of {what}", daemon=True)

    def start(self) -> None:
        """Start the thread; the first beat comes after a third of the lease."""
        self._thread.start()

    def stop(self) -> None:
        """Stop the thread and wait for a running beat; the lease is not renewed afterwards."""
        self._stop.set()
        # A beat may hang on the network: after a whole lease nothing depends on it any more.
        self._thread.join(LEASE_SECONDS)

    def _run(self) -> None:
        held, worked_at = True, self._clock.now()
        while held and not self._clock.wait(self._stop, LEASE_SECONDS / RENEWALS_PER_LEASE):
            if not self._answers():
                log.warning("the lease of %s is not renewed: the JVM of Spark does not answer", self._what)
                if self._hung is not None and self._clock.now() - worked_at >= LEASE:
                    self._hung()
                continue
            worked_at = self._clock.now()
            try:
                held = self._beat()
            except Exception as error:  # noqa: BLE001 -- whatever the store's driver raises
                # The next beat tries again, as long as there is time left of the lease.
                log.warning("could not renew the lease of %s: %s", self._what, error)


class AttemptLease:
    """The lease of an attempt while a block runs: `with AttemptLease(store, commit, datasets) as token:`.

    A JVM that hangs for a whole lease is killed, so that the block fails and can be tried again with another.
    When the block fails after the attempt lost its lease, the block raises CommitFenced: its staging has been
    removed, which is the cause of whatever error it raised.
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
        self._fenced = False
        self._heartbeat = Heartbeat(f"an attempt of commit {commit}", self._renew, clock, hung=jvm.kill)

    def __enter__(self) -> int:
        self._token = self._store.begin(
            self._commit, self._datasets, until=self._clock.now() + LEASE, at_least=self._at_least
        )
        self._heartbeat.start()
        return self._token

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # Before the attempt is closed: a later beat would find it closed, and call it fenced.
        self._heartbeat.stop()
        try:
            self._store.end(self._token)
        except Exception as failure:  # noqa: BLE001 -- it must not hide why the block ended
            log.warning("could not close an attempt of commit %s: %s", self._commit, failure)
        # Not for an exception that ends the process: that is not the fault of the lease.
        if self._fenced and isinstance(error, Exception):
            raise fenced(self._commit) from error

    def _renew(self) -> bool:
        if self._store.renew(self._token, self._clock.now() + LEASE):
            return True
        # Once its sequence is put or withheld, an attempt needs no lease.
        kept = is_withheld(self._commit, self._token, self._store)
        self._fenced = not (kept or is_put(self._commit, self._store))
        return False


class Ownership:
    """The ownership of a taken sequence while a block runs. It is not released at the end.

    Attributes:
        owner: the owner that took the sequence.
        lost: whether another owner has it now, or it is finished or removed.
    """

    def __init__(self, store: CommitStepStore, commit: str, owner: str, clock: Clock) -> None:
        self.owner = owner
        self.lost = False
        self._store = store
        self._commit = commit
        self._clock = clock
        self._heartbeat = Heartbeat(f"commit {commit}", self._renew, clock)

    def __enter__(self) -> "Ownership":
        self._heartbeat.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._heartbeat.stop()

    def _renew(self) -> bool:
        now = self._clock.now()
        state = self._store.take(self._commit, self.owner, now=now, until=now + LEASE)
        self.lost = state is None or state.owner != self.owner
        if state is not None and self.lost:
            log.warning("commit %s was taken over by %s", self._commit, state.owner)
        return not self.lost


def fenced(commit: str) -> CommitFenced:
    """Return the error of an attempt that lost its lease."""
    return CommitFenced(
        f"this attempt of commit {commit} was closed: its lease of {LEASE_SECONDS} s expired",
        "nothing was published; run it again, and check why the process paused for so long",
    )
