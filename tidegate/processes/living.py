"""The processes of this machine that work on a Dagster home: a set of `tidegate dev`, and what is beside it.

Two daemons on one home end each other's ticks, and runs go to whichever code server is asked. The lock of a
project (`processes.lock`) cannot see processes that were left behind, nor those on a folder that was replaced
since; the process table has them. It is read on Linux, and there for processes of the same user only. A host
elsewhere is known by its lease in the store.
"""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic, sleep

from tidegate.dagster_defs.internals import daemon
from tidegate.processes.reaper import (
    GRACE_SECONDS,
    KILL_SECONDS,
    PROCESSES,
    STARTED_BY,
    all_processes,
    environment_of,
)
from tidegate.scheduler.launch.active_host import RENEWED_WITHIN, ActiveHost, active_host, host_of
from tidegate.scheduler.store.protocol import Store
from tidegate.spark_jobs.commit.process import is_gone

DAEMON = "daemon"

PARTS = {
    daemon.MODULE: DAEMON,
    "dagster-daemon": DAEMON,
    "dagster_webserver": "webserver",
    "dagster-webserver": "webserver",
    "tidegate.server.host": "host",
}
"""What a process is, by its module or the name of its script."""

COMMANDS = {
    "dagster": {"code-server": "code server"},
    "tidegate": {"host": "host", "serve": "server"},
    "tidegate.cli.main": {"host": "host", "serve": "server"},
}
"""The same, where the script is one for many commands."""

ENDING_SECONDS = GRACE_SECONDS + 2 * KILL_SECONDS
"""How long the processes of a `tidegate dev` that was killed may take to end."""

POLL_SECONDS = 0.2


@dataclass(frozen=True, kw_only=True, slots=True)
class Living:
    """A process that works on a home.

    Attributes:
        part: what it is, such as "daemon".
        owner: the mark of the process that has started it (`processes.reaper`); "" without one.
    """

    pid: int
    part: str
    since: datetime
    owner: str = ""

    @property
    def is_left(self) -> bool:
        """Whether the process that was to end it has ended."""
        return not self.owner or is_gone(self.owner)

    def __str__(self) -> str:
        """Say which process it is."""
        return f"{self.part} {self.pid}"


def living_at(home: Path) -> tuple[Living, ...]:
    """Return the processes that work on a home, the oldest first."""
    found = []
    for pid in all_processes():
        part = part_of(_arguments(pid)) if pid != os.getpid() else ""
        # The environment of a process is longer than its command, so it is read of few.
        environment = environment_of(pid) if part else {}
        since = started_at(pid) if environment.get("DAGSTER_HOME") == str(home) else None
        if since is not None:
            owner = environment.get(STARTED_BY, "")
            found.append(Living(pid=pid, part=part, since=since, owner=owner))
    return tuple(sorted(found, key=lambda each: (each.since, each.pid)))


def left_after_their_end(home: Path) -> tuple[Living, ...]:
    """Wait while processes of a killed parent are being ended, and return those that live then."""
    deadline = monotonic() + ENDING_SECONDS
    while True:
        found = living_at(home)
        ending = any(each.owner and each.is_left for each in found)
        if not ending or monotonic() > deadline:
            return found
        sleep(POLL_SECONDS)


def beside(found: Iterable[Living]) -> tuple[Living, ...]:
    """Return the processes that are to end, where more than one daemon works on a home.

    They are those without a living parent, or else all but the set of the newest daemon.
    """
    daemons = [each for each in found if each.part == DAEMON]
    if len(daemons) < 2:
        return ()
    newest = daemons[-1]
    others = [each for each in found if each.owner != newest.owner or (each != newest and not each.owner)]
    return tuple(each for each in others if each.is_left and each != newest) or tuple(others)


def host_elsewhere(store: Store, project: str, now: datetime) -> ActiveHost | None:
    """Return the host that drives a project, on whatever machine; one that was killed drives nothing."""
    with store.reading() as reader:
        found = active_host(reader, project, now)
    return found if found is not None and is_renewed(store, project, found) else None


def is_renewed(store: Store, project: str, host: ActiveHost) -> bool:
    """Return whether a lease is renewed while one looks."""
    if is_gone(host.process):
        return False
    sleep(RENEWED_WITHIN.total_seconds())
    with store.reading() as reader:
        found = host_of(reader, project)
    return found is not None and found.process == host.process and found.looped_at != host.looped_at


def to_end(found: Sequence[Living]) -> str:
    """Return the command that ends some processes: their parent does, where it lives."""
    pids = {each.pid if each.is_left else int(each.owner.split("/")[1]): None for each in found}
    return f"`kill {' '.join(map(str, pids))}`"


def part_of(arguments: Sequence[str]) -> str:
    """Return what a process is by its command; "" for one that is none of ours or of Dagster's."""
    for at, argument in enumerate(arguments[:4]):
        name = arguments[at + 1] if argument == "-m" and at + 1 < len(arguments) else Path(argument).name
        if name in PARTS:
            return PARTS[name]
        if name in COMMANDS:
            rest = arguments[at + 1 :]
            return next((part for word, part in COMMANDS[name].items() if word in rest), "")
    return ""


def started_at(pid: int) -> datetime | None:
    """Return when a process has started; None for one that has ended."""
    try:
        fields = (PROCESSES / str(pid) / "stat").read_text().rpartition(")")[2].split()
        boot = next(
            line for line in (PROCESSES / "stat").read_text().splitlines() if line.startswith("btime")
        )
    except (OSError, StopIteration):
        return None
    ticks = int(fields[19])  # the 22nd of proc(5)
    return datetime.fromtimestamp(int(boot.split()[1]) + ticks / os.sysconf("SC_CLK_TCK"), UTC)


def _arguments(pid: int) -> list[str]:
    try:
        content = (PROCESSES / str(pid) / "cmdline").read_bytes()
    except OSError:
        return []
    return [word for word in content.decode(errors="replace").split("\0") if word]
