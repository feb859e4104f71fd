"""Finds processes by an entry of their environment, which all that they start inherit."""

from contextlib import suppress
from pathlib import Path

PROCESSES = Path("/proc")
"""Where there is no such folder, as on macOS, nothing is found."""


def having(variable: str, value: object) -> dict[int, bytes]:
    """Return the command line of every living process whose environment has a value, by id; no zombies."""
    entry = f"{variable}={value}".encode()
    found: dict[int, bytes] = {}
    for folder in PROCESSES.glob("[0-9]*"):
        # The process may end meanwhile, or belong to another user.
        with suppress(OSError):
            if entry in (folder / "environ").read_bytes().split(b"\0"):
                found[int(folder.name)] = (folder / "cmdline").read_bytes()
    return found
