"""Names for those who finish sequences, from which another process sees whether one has died.

A name says machine, process and start of the process, as far as the operating system tells them.
A process of the same machine that is gone need not be waited for. That is a guess which saves
time, never a proof: steps are idempotent, so a wrong one costs double work and nothing else.
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
    """A name that no other owner has, for the calling process: "host/pid/machine/start/number"."""
    pid = os.getpid()
    return "/".join((socket.gethostname(), str(pid), machine(), _started(pid) or "?", str(next(_count))))


def is_gone(owner: str) -> bool:
    """Whether this owner's process was on this machine and has ended."""
    fields = owner.split("/")
    if len(fields) != 5 or fields[2] != machine() or fields[2] == UNKNOWN_MACHINE:
        return False
    _, pid, _, started, _ = fields
    return started != _started(int(pid))


@cache
def machine() -> str:
    """Tells this boot of this machine, and its numbering of processes, from all others."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text()
        numbering = Path("/proc/self/ns/pid").readlink()
    except OSError:
        return UNKNOWN_MACHINE
    return sha256(f"{boot}{numbering}".encode()).hexdigest()[:MACHINE_DIGITS]


def _started(pid: int) -> str | None:
    """When a process started, in ticks since boot; None for one that is gone or a zombie."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    # The name of the program, in parentheses, may hold anything.
    state, *fields = stat.rpartition(")")[2].split()
    return None if state in ("Z", "X") else fields[18]
