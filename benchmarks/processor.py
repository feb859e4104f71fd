"""Processor time of processes, which other load on the machine changes little."""

import os
import time
from collections.abc import Collection
from pathlib import Path

TURNS = 3_000_000


def seconds_of(processes: Collection[int], *, ended: bool = False) -> float:
    """Return the processor time of processes and of their living descendants.

    Args:
        ended: also that of children which have ended, such as each `chmod` that a JVM has started.
    """
    fields = {pid: found for pid in _all() if (found := _fields(pid)) is not None}
    family = set(processes)
    while more := {pid for pid, each in fields.items() if int(each[1]) in family} - family:
        family |= more
    last = 15 if ended else 13
    ticks = sum(int(ticks) for pid in family & fields.keys() for ticks in fields[pid][11:last])
    return ticks / os.sysconf("SC_CLK_TCK")


def calibrated() -> float:
    """Return the processor seconds of a loop of three million turns: how fast this machine is now."""
    began, turns = time.process_time(), 0
    while turns < TURNS:
        turns += 1
    return time.process_time() - began


def _all() -> list[int]:
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]


def _fields(pid: int) -> list[str] | None:
    """Return the fields of a process after its name; None when it has ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
