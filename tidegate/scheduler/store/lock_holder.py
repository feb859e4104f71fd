"""Locks on files, and who holds one that takes too long, by the locks that Linux lists."""

import fcntl
from contextlib import suppress
from pathlib import Path
from typing import IO

LOCKS = Path("/proc/locks")
PROCESSES = Path("/proc")

ANOTHER = "another process"
STOPPED = ("T", "t")
"""States of a process that was stopped, by a signal or by a debugger."""

WORDS_SHOWN = 4
WORD_CHARS = 40


def try_lock(file: IO[str], kind: int = fcntl.LOCK_EX) -> bool:
    """Lock a whole file, and return whether no other process has locked it."""
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def lock_holder(file: Path, at: int = 0) -> str | None:
    """Return the process that has locked a byte of a file for itself, in words; None if none is known.

    It is known on Linux only, and there in the same process namespace only.
    """
    with suppress(OSError):
        number = str(file.stat().st_ino)
        for line in LOCKS.read_text().splitlines():
            # 5: POSIX  ADVISORY  WRITE 17402 fe:00:2252859 120 120
            # A lock that is waited for has an arrow behind its number.
            _, kind, _, access, pid, place, first, last = line.replace("->", "").split()
            if access != "WRITE" or kind not in ("POSIX", "FLOCK") or place.split(":")[-1] != number:
                continue
            if int(first) <= at and (last == "EOF" or at <= int(last)) and _has_open(pid, file):
                return _in_words(pid)
    return None


def _has_open(pid: str, file: Path) -> bool:
    """Return whether a process has a file open, not one with its number elsewhere."""
    try:
        return any(each.exists() and each.samefile(file) for each in (PROCESSES / pid / "fd").iterdir())
    except OSError:
        return False


def _in_words(pid: str) -> str:
    words = (PROCESSES / pid / "cmdline").read_bytes().decode(errors="replace").split("\0")
    names = [" ".join(Path(word).name[:WORD_CHARS].split()) for word in words if word][:WORDS_SHOWN]
    state = (PROCESSES / pid / "stat").read_text().rpartition(")")[2].split()[0]
    stopped = ", stopped" if state in STOPPED else ""
    return f"process {pid} ({' '.join(names)}{stopped})"
