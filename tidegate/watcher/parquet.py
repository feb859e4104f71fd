"""Whether a landed file is what its dataset has: a Parquet file that is complete.

Landed files are Parquet. One with another extension is refused by its name, and one of Parquet by its end: a
complete file ends with four letters, which a copy that was cut does not have. Spark says so only in a run.
"""

import os
import re
from collections.abc import Callable
from pathlib import Path

EXTENSIONS = ("parquet", "parq", "pq")
MAGIC = b"PAR1"
"""The end of each Parquet file; of an encrypted one it is PARE."""

ENDS = (MAGIC, b"PARE")

_EXTENSION = re.compile(r"\.([a-z][a-z0-9]{0,9})\Z")


def fault_of(name: str, tail: Callable[[], bytes]) -> str | None:
    """Return what is wrong with a file; None where nothing is, also of a name without an extension.

    Args:
        tail: reads the last four bytes.
    """
    found = _EXTENSION.search(name.lower())
    if found is None:
        return None
    if found[1] not in EXTENSIONS:
        return f"{name!r:.200} is not a Parquet file: its dataset has files that end with .parquet"
    return (
        None
        if tail() in ENDS
        else f"{name!r:.200} is not a Parquet file, or was cut: it does not end with PAR1"
    )


def fault_of_local(file: Path) -> str | None:
    """Return what is wrong with a local file; None also for one that this user may not read."""
    try:
        return fault_of(str(file), lambda: tail_of(file))
    except OSError:
        return None


def tail_of(file: Path) -> bytes:
    """Return the last four bytes of a file."""
    with file.open("rb") as opened:
        opened.seek(max(0, os.fstat(opened.fileno()).st_size - len(MAGIC)))
        return opened.read(len(MAGIC))
