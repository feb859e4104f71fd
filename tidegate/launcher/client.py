"""Requests to the run server of a place, which is started at the first one.

connect ──refused──► my turn, or another launcher has started one ─► start a server, wait until it listens
   └──► request ─► answer            stale: the server has left its socket, and the next one is started
"""

import contextlib
import os
import signal
import socket
import subprocess
import time
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import IO

import msgspec

from tidegate.launcher.place import Place, servers_of
from tidegate.launcher.protocol import (
    ANSWER_SECONDS,
    Answer,
    Cancel,
    Launch,
    Request,
    connect,
    receive_line,
    send,
)
from tidegate.launcher.records import NO_PROCESS, Records, RunRecord
from tidegate.scheduler.store.lock_holder import ANOTHER, lock_holder, try_lock
from tidegate.spark_jobs.commit.process import is_gone, shown

PLACE_FILE = "place.json"
LOG_FILE = "server.log"
LOG_BYTES_MAX = 10_000_000
"""A longer log is renamed when the next server starts, and replaces the one before."""

LOCK_FILE = "lock"

TRIES = 5
START_SECONDS = 120

TURN_SECONDS = START_SECONDS + 10
"""How long a launcher lets another one start the server: longer than that can take, unless it hangs."""

STOP_SECONDS = 20
POLL_SECONDS = 0.02
LOG_TAIL_LINES = 20

_started: list["subprocess.Popen[bytes]"] = []


class ServerFailed(Exception):
    """No run server answers; the message has the end of its log."""


def launch(place: Place, run: Launch) -> Answer:
    """Let the server of a place execute a run; the server is started if there is none.

    Raises:
        ServerFailed: the server could not be started, or does not answer.
    """
    problem = "it ended at once"
    for _ in range(TRIES):
        try:
            with _connected(place) as connection:
                answer = _asked(connection, run)
        except TimeoutError as error:
            names = " or ".join(shown(name) for name in Records(place.directory).servers())
            raise ServerFailed(
                f"the run server in {place.directory} has not answered within {ANSWER_SECONDS} s:"
                f" if {names or 'it'} hangs, kill it: its runs go on, and the next launch starts another one"
            ) from error
        except OSError as error:
            # The run has its record if the request was read, so asking again launches nothing twice.
            problem = f"{type(error).__name__}: {error}"
            continue
        if not answer.stale:
            return answer
        problem = answer.problem
    raise ServerFailed(f"the run server in {place.directory} does not answer: {problem}")


def interrupt(home: str, run_id: str) -> bool:
    """Interrupt a run by its server, or directly if that has died; return whether it has a process here."""
    found = find_record(home, run_id)
    if found is None:
        return False
    directory, record = found
    with contextlib.suppress(OSError):
        connection = connect(directory)
        if connection is not None:
            with connection:
                if _asked(connection, Cancel(run_id=run_id)).done:
                    return True
    if record.process == NO_PROCESS or _has_ended(record.process):
        return False
    _signal(record.process, signal.SIGINT)
    return True


def find_record(home: str, run_id: str) -> tuple[Path, RunRecord] | None:
    """Return the folder of the server of a run, and the run's record; None without a process here.

    The folder is looked for, since a launcher with another environment may have launched the run.
    """
    servers = servers_of(home)
    for directory in servers.iterdir() if servers.is_dir() else ():
        record = Records(directory).get(run_id)
        if record is not None:
            return directory, record
    return None


def stop_servers(home: Path, folder: Path) -> None:
    """Stop the run servers of a code location, and their runs, which are reported as failed.

    Args:
        home: the folder of the Dagster instance.
        folder: the working folder of the code location.
    """
    names = [name for directory in _directories(home, folder) for name in Records(directory).servers()]
    for name in names:
        _signal(name, signal.SIGTERM)
    deadline = time.monotonic() + STOP_SECONDS
    while any(not _has_ended(name) for name in names):
        if time.monotonic() > deadline:
            for name in names:
                _signal(name, signal.SIGKILL)
            return
        time.sleep(POLL_SECONDS)


def _directories(home: Path, folder: Path) -> Iterator[Path]:
    servers = servers_of(home)
    for directory in servers.iterdir() if servers.is_dir() else ():
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            place = msgspec.json.decode((directory / PLACE_FILE).read_bytes(), type=Place)
            if place.folder == str(folder):
                yield directory


def _signal(name: str, number: signal.Signals) -> None:
    if not _has_ended(name):
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(name.split("/")[1]), number)


def _has_ended(name: str) -> bool:
    _reap()
    return is_gone(name)


def _connected(place: Place) -> socket.socket:
    """Return a connection to the server of a place, which is started if there is none."""
    place.directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    with _turn(place.directory) as connection:
        if connection is None:
            _start(place)
            connection = connect(place.directory)
    if connection is None:
        raise ConnectionRefusedError("the server ended")
    return connection


def _asked(connection: socket.socket, request: Request) -> Answer:
    send(connection, request)
    return msgspec.json.decode(receive_line(connection), type=Answer)


@contextlib.contextmanager
def _turn(directory: Path) -> Generator[socket.socket | None]:
    """Yield a connection to the server; None where this launcher has the turn to start it.

    A launcher that hangs in its turn stops no other: the lock file is replaced. If it goes on later, there
    are two servers, as after a change of the code: one has the socket, the other one ends after its runs.
    """
    path = directory / LOCK_FILE
    while True:
        with path.open("a") as file:
            until = time.monotonic() + TURN_SECONDS
            while _is_at(path, file) and time.monotonic() < until:
                connection = connect(directory)
                if connection is not None or try_lock(file):
                    # The one that had the turn before may have started a server.
                    yield connection or connect(directory)
                    return
                time.sleep(POLL_SECONDS)
            if _is_at(path, file):
                held = f"{lock_holder(path) or ANOTHER} hung while it started the run server"
                with (directory / LOG_FILE).open("a") as log:
                    log.write(f"{held}; another launcher starts it\n")
                path.unlink(missing_ok=True)


def _is_at(path: Path, file: IO[str]) -> bool:
    """Return whether an open file still has its name."""
    try:
        return os.path.samestat(path.stat(), os.fstat(file.fileno()))
    except FileNotFoundError:
        return False


def _start(place: Place) -> None:
    """Start the server, and wait until it listens.

    Raises:
        ServerFailed: it ended, or does not listen in time.
    """
    directory = place.directory
    (directory / PLACE_FILE).write_bytes(msgspec.json.encode(place))
    log = directory / LOG_FILE
    if log.exists() and log.stat().st_size > LOG_BYTES_MAX:
        log.replace(log.with_suffix(".old.log"))
    _reap()
    with log.open("ab") as output:
        server = subprocess.Popen(
            [place.executable, "-m", "tidegate.launcher.server", str(directory)],
            cwd=place.folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    _started.append(server)
    deadline = time.monotonic() + START_SECONDS
    while True:
        connection = connect(directory)
        if connection is not None:
            connection.close()
            return
        if server.poll() is not None:
            raise ServerFailed(f"the run server ended with {server.returncode}; {_tail(log)}")
        if time.monotonic() > deadline:
            server.kill()
            raise ServerFailed(f"the run server did not listen after {START_SECONDS} s; {_tail(log)}")
        time.sleep(POLL_SECONDS)


def _tail(log: Path) -> str:
    lines = log.read_text(errors="replace").splitlines()[-LOG_TAIL_LINES:]
    return f"the end of {log}:\n" + "\n".join(lines)


def _reap() -> None:
    """Let servers that this process started, and that have ended, leave the process table."""
    _started[:] = [server for server in _started if server.poll() is None]
