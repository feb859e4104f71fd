"""Names of processes, from which another process sees whether they have ended.

    host / pid / machine id / boot id / process namespace / start in ticks

On the same machine the process table answers at once, and after a restart of the machine the boot id does. Of
a process elsewhere nothing is known; there a lease decides.
"""

import os
import socket
from datetime import datetime
from pathlib import Path

from tidegate.spark_jobs.commit.owner import started

UNKNOWN = "?"
FIELDS = 6


def this_process() -> str:
    """Return the name of the calling process."""
    pid = os.getpid()
    return "/".join((socket.gethostname(), str(pid), *_machine(), started(pid) or UNKNOWN))


def has_ended(process: str, until: datetime, now: datetime) -> bool:
    """Return whether a process has ended, as far as this machine can tell.

    Args:
        until: when its lease ends, which decides about a process elsewhere.
    """
    fields = process.split("/")
    if len(fields) != FIELDS:
        return now >= until
    host, pid, machine, boot, space, begun = fields
    my_machine, my_boot, my_space = _machine()
    if boot == my_boot != UNKNOWN and space == my_space != UNKNOWN:
        return begun != started(int(pid))
    rebooted = (host, machine) == (socket.gethostname(), my_machine) and UNKNOWN not in (
        machine,
        boot,
        my_boot,
    )
    return (rebooted and boot != my_boot) or now >= until


def shown(process: str) -> str:
    """Return a process for people."""
    fields = process.split("/")
    return f"process {fields[1]} on {fields[0]}" if len(fields) == FIELDS else process


def _machine() -> tuple[str, str, str]:
    """Return the ids of this machine, of its boot, and of the process namespace."""
    return (
        _line(Path("/etc/machine-id")),
        _line(Path("/proc/sys/kernel/random/boot_id")),
        _namespace(),
    )


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
