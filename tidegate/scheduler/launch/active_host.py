"""The active host: of all host processes of a project, the one that drives the engine.

    no lease, or one that has ended ──► taken ──► renewed at each loop ──► released, or not renewed any more
                                          ▲                                              │
                                          └───────────── by whichever host asks first ◄──┘

Any number of hosts may run. The store names the active one; the others ask a few times a second. What the
lease saves is work, not correctness: ticks by two processes at once are serialised by the store, offers are
counted in it, and two creations of one run have the same run id.
"""

from datetime import datetime, timedelta

import msgspec

from tidegate.domain.value import Value
from tidegate.scheduler.store.protocol import Reader, Transaction

HOST = "host"
"""Name of the cursor that holds the lease of a project's host, without the project."""

LEASE = timedelta(seconds=4)
"""From a loop of a host that dies without a word to the one that takes over, on another machine."""


class ActiveHost(Value, kw_only=True):
    """The lease of the active host.

    Attributes:
        process: the name of its process (`spark_jobs.commit.process`).
        since: when it became active.
        looped_at: when it last renewed the lease; aware, UTC.
    """

    process: str
    since: datetime
    looped_at: datetime

    def holds(self, now: datetime) -> bool:
        """Return whether the lease holds; one of the future is of a clock that was put back since."""
        return self.looped_at - LEASE <= now < self.looped_at + LEASE


def host_of(reader: Reader, project: str) -> ActiveHost | None:
    """Return the lease of a project's host, whether it holds or not; None if it never had one."""
    stored = reader.cursor(_name(project))
    return None if stored is None else msgspec.convert(stored, ActiveHost)


def active_host(reader: Reader, project: str, now: datetime) -> ActiveHost | None:
    """Return the lease of a project's host, if it holds."""
    found = host_of(reader, project)
    return found if found is not None and found.holds(now) else None


def take(
    transaction: Transaction, project: str, process: str, now: datetime, *, gone: str | None = None
) -> ActiveHost | None:
    """Take or renew the lease.

    Args:
        process: the name of the host's process.
        gone: a process that is known to have ended: a lease of it counts no more.

    Returns:
        The host's own lease; None if another host is active.
    """
    found = host_of(transaction, project)
    if found is not None and found.process not in (process, gone) and found.holds(now):
        return None
    goes_on = found is not None and found.process == process and found.holds(now)
    since = found.since if found is not None and goes_on else now
    lease = ActiveHost(process=process, since=since, looped_at=now)
    transaction.set_cursor(_name(project), msgspec.to_builtins(lease))
    return lease


def release(transaction: Transaction, project: str, process: str) -> None:
    """End the lease of a host that stops; that of another one stays."""
    found = host_of(transaction, project)
    if found is not None and found.process == process:
        transaction.set_cursor(_name(project), None)


def _name(project: str) -> str:
    return f"{HOST}:{project}"
