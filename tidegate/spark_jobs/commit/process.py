"""Names of processes, from which another process sees whether they are alive.

    host / pid / machine id / boot id / process namespace / start in ticks [ / number ]

A run has the name of its process. What a process finishes has an owner, named like the process with a number
behind it. On the same machine the process table answers at once, and after a restart of the machine the boot
id does. Of a process elsewhere nothing is known; there a lease decides.

An answer saves time and does not prove anything: steps are idempotent, so a wrong one only costs duplicate
work.
"""

import itertools
import os
import socket
from datetime import datetime
from enum import Enum
from functools import cache
from pathlib import Path
from typing import NamedTuple

UNKNOWN = "?"
FIELDS = 6

_count = itertools.count(1)


class ProcessState(Enum):
    """What this machine knows of a process."""

    ALIVE = "alive"
    ENDED = "ended"
    UNKNOWN = "unknown"


class Machine(NamedTuple):
    """The ids of a machine, of its boot, and of a process namespace; `UNKNOWN` for what it does not say."""

    id: str
    boot: str
    space: str


class Process(NamedTuple):
    """A process by its name. The start is in ticks since the boot."""

    host: str
    pid: int
    machine: Machine
    start: str


def this_process() -> str:
    """Return the name of the calling process."""
    pid = os.getpid()
    return "/".join((socket.gethostname(), str(pid), *this_machine(), _start(pid) or UNKNOWN))


def new_owner() -> str:
    """Return a unique owner name for the calling process."""
    return f"{this_process()}/{next(_count)}"


def state_of(name: str) -> ProcessState:
    """Return what this machine knows of the process with this name, or of this owner."""
    process, here = _parsed(name), this_machine()
    if process is None:
        return ProcessState.UNKNOWN
    there = process.machine
    if there.boot == here.boot != UNKNOWN and there.space == here.space != UNKNOWN:
        # The pid may be that of another process by now, which started later.
        alive = process.start == _start(process.pid)
        return ProcessState.ALIVE if alive else ProcessState.ENDED
    # A machine that was started again since runs none of its former processes.
    known = UNKNOWN not in (there.id, there.boot, here.boot)
    same = (process.host, there.id) == (socket.gethostname(), here.id)
    return ProcessState.ENDED if known and same and there.boot != here.boot else ProcessState.UNKNOWN


def is_gone(name: str) -> bool:
    """Return whether this machine knows that a process or owner has ended."""
    return state_of(name) is ProcessState.ENDED


def has_ended(name: str, until: datetime, now: datetime) -> bool:
    """Return whether a process has ended, as far as this machine can tell.

    Args:
        until: when its lease ends, which decides where nothing else is known.
    """
    state = state_of(name)
    return state is ProcessState.ENDED or (state is ProcessState.UNKNOWN and now >= until)


def shown(name: str) -> str:
    """Return a process or owner for people."""
    fields = name.split("/")
    return f"process {fields[1]} on {fields[0]}" if len(fields) >= FIELDS else name


@cache
def this_machine() -> Machine:
    """Return the ids of this machine, its current boot and the process namespace of this process."""
    return Machine(
        id=_line(Path("/etc/machine-id")),
        boot=_line(Path("/proc/sys/kernel/random/boot_id")),
        space=_namespace(),
    )


def _parsed(name: str) -> Process | None:
    match name.split("/"):
        case [host, pid, id, boot, space, start] | [host, pid, id, boot, space, start, _] if pid.isdigit():
            return Process(host, int(pid), Machine(id, boot, space), start)
        case _:
            return None


def _start(pid: int) -> str | None:
    """Return when a process started, in ticks since boot; None for one that has ended or is a zombie."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    # The program's name, in parentheses, may hold any characters.
    state, *fields = stat.rpartition(")")[2].split()
    # The 22nd field of proc(5); a zombie works no more, although it has a pid.
    return None if state in ("Z", "X") else fields[18]


def _line(path: Path) -> str:
    try:
        return path.read_text().strip() or UNKNOWN
    except OSError:
        return UNKNOWN


def _namespace() -> str:
    try:
        return str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        return UNKNOWN
