"""The active host: of all host processes of a project, the one that drives the engine.

    no lease, or one that has ended ──► taken ──► renewed at each loop ──► released, or not renewed any more
                                          ▲                                              │
                                          └───────────── by whichever host asks first ◄──┘

Any number of hosts may run. The store names the active one; the others ask a few times a second. What the
lease saves is work, not correctness: ticks by two processes at once are serialised by the store, offers are
counted in it, and two creations of one run have the same run id.

Clocks. A lease of the future is of a clock that was put back since, or of a machine whose clock is ahead of
this one. The first is renewed no more and is taken; the second is renewed while one looks (`Lookout`): then
this process does not decide, and says so.
"""

from datetime import datetime, timedelta

import msgspec

from tidegate.domain.value import Value
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.protocol import EngineTransaction

HOST = "host"
"""Name of the cursor that holds the lease of a project's host, without the project."""

LEASE = timedelta(seconds=4)
"""From a loop of a host that dies without a word to the one that takes over, on another machine."""


RENEWED_WITHIN = timedelta(seconds=2)
"""A host at work renews its lease each second; one that is this long the same is renewed no more."""

CLOCKS = "synchronize the clocks of the two machines"


class ActiveHost(Value, kw_only=True):
    """The lease of the active host.

    Attributes:
        process: the name of its process (`spark_jobs.commit.process`).
        since: when it became active.
        looped_at: when it last renewed the lease; aware, UTC.
        version: of Tidegate, that its process has loaded; "" if it is not known.
        problem: why nothing can be launched; "" while launches go through.
        problem_since: since when.
    """

    process: str
    since: datetime
    looped_at: datetime
    version: str = ""
    problem: str = ""
    problem_since: datetime | None = None

    def holds(self, now: datetime) -> bool:
        """Return whether the lease holds by a clock; one of the future holds by another one, if any."""
        return not self.is_ahead(now) and now < self.looped_at + LEASE

    def is_ahead(self, now: datetime) -> bool:
        """Return whether the lease is of the future."""
        return now < self.looped_at - LEASE


class Lookout:
    """What a process has seen of a lease of the future: whether another machine renews it."""

    def __init__(self) -> None:
        self._first: ActiveHost | None = None
        self._seen: ActiveHost | None = None
        self._since: datetime | None = None

    def other_clock(self, found: ActiveHost | None, now: datetime) -> str | None:
        """Return why this process does not decide at a lease of the future; None if it may.

        At the first look it is not known whether the lease is renewed, so the answer is to look again.
        """
        if found is None or not found.is_ahead(now):
            self._first = self._seen = self._since = None
            return None
        if self._since is None or self._seen != found or now < self._since:
            self._first = self._first if self._is_of(found) else found
            self._seen, self._since = found, now
        elif now - self._since >= RENEWED_WITHIN:
            return None
        ahead = (found.looped_at - now).total_seconds()
        if self._first is not None and self._first.looped_at != found.looped_at:
            return f"its clock is {ahead:,.0f} s ahead of the clock of this process; {CLOCKS}"
        return f"its lease is {ahead:,.0f} s in the future; whether it is renewed is looked at"

    def _is_of(self, found: ActiveHost) -> bool:
        return self._first is not None and self._first.process == found.process


def host_of(reader: EngineReader, project: str) -> ActiveHost | None:
    """Return the lease of a project's host, whether it holds or not; None if it never had one."""
    stored = reader.cursor(_name(project))
    return None if stored is None else msgspec.convert(stored, ActiveHost)


def active_host(reader: EngineReader, project: str, now: datetime) -> ActiveHost | None:
    """Return the lease of a project's host, if it holds."""
    found = host_of(reader, project)
    return found if found is not None and found.holds(now) else None


def take(
    transaction: EngineTransaction,
    project: str,
    process: str,
    now: datetime,
    *,
    gone: str | None = None,
    version: str = "",
    problem: str = "",
) -> ActiveHost | None:
    """Take or renew the lease.

    Args:
        process: the name of the host's process.
        gone: a process that is known to have ended: a lease of it counts no more.
        version: of Tidegate, that the host's process has loaded.
        problem: why it can launch nothing; "" while launches go through.

    Returns:
        The host's own lease; None if another host is active.
    """
    found = host_of(transaction, project)
    if found is not None and found.process not in (process, gone) and found.holds(now):
        return None
    goes_on = found is not None and found.process == process and found.holds(now)
    since = found.since if found is not None and goes_on else now
    same = found is not None and found.problem == problem
    lease = ActiveHost(
        process=process,
        since=since,
        looped_at=now,
        version=version,
        problem=problem,
        problem_since=None if not problem else found.problem_since if found is not None and same else now,
    )
    transaction.set_cursor(_name(project), msgspec.to_builtins(lease))
    return lease


def release(transaction: EngineTransaction, project: str, process: str) -> None:
    """End the lease of a host that stops; that of another one stays."""
    found = host_of(transaction, project)
    if found is not None and found.process == process:
        transaction.set_cursor(_name(project), None)


def _name(project: str) -> str:
    return f"{HOST}:{project}"
