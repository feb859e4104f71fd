"""Names of the processes that finish sequences, from which another process detects whether one has died.

A name holds the machine, the process and its start time, as far as the operating system reports them.
Another process does not wait for an owner of the same machine that has ended. This is a guess that saves
time, not a proof: steps are idempotent, so a wrong guess only costs duplicate work.
"""

import itertools
import os
import socket
from functools import cache
from hashlib import sha256
from pathlib import Path

UNKNOWN_MACHINE = "?"
MACHINE_DIGITS = 12

_count = itertools.count(1)


def new_owner() -> str:
    """Return a unique owner name for the calling process: "host/pid/machine/start/number"."""
    pid = os.getpid()
    return "/".join((socket.gethostname(), str(pid), machine(), started(pid) or "?", str(next(_count))))


def is_gone(owner: str) -> bool:
    """Return whether this owner's process was on this machine and has ended."""
    fields = owner.split("/")
    if len(fields) != 5 or fields[2] != machine() or fields[2] == UNKNOWN_MACHINE:
        return False
    _, pid, _, begun, _ = fields
    return begun != started(int(pid))


@cache
def machine() -> str:
    """Return an identifier of this machine, its current boot and its process namespace."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text()
        numbering = Path("/proc/self/ns/pid").readlink()
    except OSError:
        return UNKNOWN_MACHINE
    return sha256(f"{boot}{numbering}".encode()).hexdigest()[:MACHINE_DIGITS]


def started(pid: int) -> str | None:
    """Return when a process started, in ticks since boot; None for one that has ended or is a zombie."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    # The program's name, in parentheses, may hold any characters.
    state, *fields = stat.rpartition(")")[2].split()
    return None if state in ("Z", "X") else fields[18]
