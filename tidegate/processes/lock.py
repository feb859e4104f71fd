"""The lock of a project's `tidegate dev`: one at a time, since a second one would end the ticks of the first.

Both would write the same workspace file and use the same Dagster storage. The lock is the system's, on a file
that names its holder: it ends with the process, however that ends, and a file that is left behind locks
nothing. A file of this name that is another one than the locked one is of a folder that was replaced.
"""

import contextlib
import json
import os
from collections.abc import Generator
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from tidegate.domain.error import UserError
from tidegate.project.local_time import local_instant
from tidegate.scheduler.store.lock_holder import try_lock

LOCK_FILE = Path(".tidegate", "dev.lock")


class ProjectLock:
    """The lock while it is held."""

    def __init__(self, path: Path, file: IO[str]) -> None:
        self._path, self._file = path, file
        self._since = datetime.now(UTC)
        self.say("")

    def check_folder(self) -> None:
        """Look whether the folder of the project is still the one that was locked.

        Raises:
            UserError: it was removed, or replaced; what runs here has files open that are gone.
        """
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(self._path.stat(), os.fstat(self._file.fileno())):
                return
        raise UserError(
            f"the folder {self._path.parents[1]} was removed or replaced, and its processes are ended",
            "start `tidegate dev` again in the folder as it is now",
        )

    def say(self, url: str) -> None:
        """Write down who holds it, for the process that finds it taken.

        Args:
            url: the address of the UI; empty while there is none.
        """
        self._file.seek(0)
        self._file.truncate()
        json.dump({"pid": os.getpid(), "url": url, "since": self._since.isoformat()}, self._file)
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
            yield ProjectLock(path, file)
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
    already, hint = f"`tidegate dev` already runs on {project}", "use that one, or end it with Ctrl-C first"
    try:
        holder = json.loads(text)
        pid, url, since = holder["pid"], holder["url"], datetime.fromisoformat(holder["since"])
    except (ValueError, KeyError, TypeError):
        # Read in the moment in which the other process writes it.
        return UserError(f"{already}: another process", hint)
    where = f", its UI is at {url}" if url else ""
    return UserError(
        f"{already}: process {pid}{where}, since {local_instant(since)}",
        f"{hint}; without its terminal: `kill {pid}`",
    )
