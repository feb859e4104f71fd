"""The records of a run server: a file for each run that has a process, and one for each server.

    runs/RUN_ID     who executes the run, from before its process exists until its end has been seen
    servers/PID     a server that may have runs, also one that takes no further runs

Launchers read them to cancel a run and to see whether it lives. A run whose record exists is not started a
second time, so a launcher whose answer was lost can ask again. A server takes over the runs of one that has
died.
"""

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

from tidegate.domain.value import Value
from tidegate.spark_jobs.commit.process import is_gone, this_process

NO_PROCESS = ""


class RunRecord(Value, frozen=True, kw_only=True):
    """Who executes a run.

    Attributes:
        server: the name of the server's process.
        instance: Dagster's reference of the instance, to report the end of the run.
        process: the name of the run's process; `NO_PROCESS` while it is being started.
    """

    server: str
    instance: str
    folder: str
    process: str = NO_PROCESS


class Records:
    """The records of the servers of one place, which share them."""

    def __init__(self, directory: Path) -> None:
        self._runs, self._servers = directory / "runs", directory / "servers"

    def create(self) -> None:
        """Create the folders, which only their owner can read."""
        for folder in (self._runs, self._servers):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)

    def begin(self, run_id: str, record: RunRecord) -> bool:
        """Record a run that is about to get a process, and return whether there was no record of it."""
        temporary = self._write(run_id, record)
        try:
            # Unlike a rename, a link never replaces a record.
            os.link(temporary, self._runs / run_id)
        except FileExistsError:
            return False
        finally:
            temporary.unlink()
        return True

    def put(self, run_id: str, record: RunRecord) -> None:
        """Record who executes a run now."""
        self._write(run_id, record).replace(self._runs / run_id)

    def get(self, run_id: str) -> RunRecord | None:
        """Return who executes a run; None for an unknown one and one that has ended."""
        try:
            return msgspec.json.decode((self._runs / run_id).read_bytes(), type=RunRecord)
        except FileNotFoundError:
            return None

    def end(self, run_id: str) -> None:
        """Forget a run whose end has been reported."""
        (self._runs / run_id).unlink(missing_ok=True)

    def age(self, run_id: str) -> float:
        """Return the seconds since a record was written; 0 for one that is gone."""
        try:
            return time.time() - (self._runs / run_id).stat().st_mtime
        except FileNotFoundError:
            return 0.0

    def orphans(self) -> dict[str, RunRecord]:
        """Return the runs whose server has ended."""
        found = ((path.name, self.get(path.name)) for path in self._runs.iterdir() if path.suffix == "")
        return {run_id: record for run_id, record in found if record is not None and is_gone(record.server)}

    def enter(self) -> None:
        """Record the calling process as a server."""
        (self._servers / str(os.getpid())).write_text(this_process())

    def leave(self) -> None:
        """Remove the record of the calling process."""
        (self._servers / str(os.getpid())).unlink(missing_ok=True)

    def servers(self) -> Iterator[str]:
        """Yield the names of the servers that may be alive, and forget those that have ended."""
        for path in self._servers.iterdir() if self._servers.is_dir() else ():
            with contextlib.suppress(FileNotFoundError):
                name = path.read_text()
                # Empty while it is being written.
                if name and is_gone(name):
                    path.unlink(missing_ok=True)
                elif name:
                    yield name

    def _write(self, run_id: str, record: RunRecord) -> Path:
        temporary = self._runs / f"{run_id}.{os.getpid()}"
        temporary.write_bytes(msgspec.json.encode(record))
        return temporary
