"""The lock of a project's `tidegate dev`: one at a time, since a second one would end the ticks of the first.

Both would write the same workspace file and use the same Dagster storage. The lock is the system's, on a file
that names its holder: it ends with the process, however that ends, and a file that is left behind locks
nothing.
"""

import contextlib
import json
import os
from collections.abc import Generator
from pathlib import Path
from typing import IO

from tidegate.domain.error import UserError
from tidegate.scheduler.store.lock_holder import try_lock

LOCK_FILE = Path(".tidegate", "dev.lock")


class ProjectLock:
    """The lock while it is held."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file
        self.say("")

    def say(self, url: str) -> None:
        """Write down who holds it, for the process that finds it taken.

        Args:
            url: the address of the UI; empty while there is none.
        """
        self._file.seek(0)
        self._file.truncate()
        json.dump({"pid": os.getpid(), "url": url}, self._file)
        self._file.flush()


@contextlib.contextmanager
def project_lock(project: Path) -> Generator[ProjectLock, None, None]:
    """Hold the lock of a project.

    Raises:
        UserError: another process holds it; the message names its id and the address of its UI.
    """
    path = project / LOCK_FILE
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with path.open("a+") as file:
        if not try_lock(file):
            file.seek(0)
            raise _taken(project, file.read())
        try:
            yield ProjectLock(file)
        finally:
            file.truncate(0)


def address_in_use(project: Path) -> str:
    """Return the address of the UI of the `tidegate dev` that runs on a project; "" if none does.

    It takes no lock, which a `tidegate dev` that starts now would find taken.
    """
    try:
        holder = json.loads((project / LOCK_FILE).read_text("utf-8"))
        pid, url = int(holder["pid"]), str(holder["url"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""
    return url if _lives(pid) else ""


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True  # a process of another user
    except OSError:
        return False
    return True


def _taken(project: Path, text: str) -> UserError:
    try:
        holder = json.loads(text)
        who, url = f"process {holder['pid']}", holder["url"]
    except (ValueError, KeyError, TypeError):
        # Read in the moment in which the other process writes it.
        who, url = "another process", ""
    where = f", its UI is at {url}" if url else ""
    return UserError(
        f"`tidegate dev` already runs on {project}: {who}{where}",
        "use that one, or end it with Ctrl-C first",
    )
