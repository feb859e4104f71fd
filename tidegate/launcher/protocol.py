"""What launchers and run servers say to each other: one request and one answer for each connection.

The socket is in the private folder of the server, so only processes of the same user reach it.
"""

import os
import socket
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from tidegate.domain.value import Value

SOCKET = "socket"
LINE_MAX = 4 * 1024 * 1024
ANSWER_SECONDS = 60
"""A server answers within milliseconds; on a machine that swaps, within seconds."""


class Launch(Value, frozen=True, kw_only=True, tag=True):
    """Execute a run."""

    run_id: str
    instance: str
    folder: str
    environment: dict[str, str]


class Cancel(Value, frozen=True, kw_only=True, tag=True):
    """Interrupt a run."""

    run_id: str


Request = Launch | Cancel


class Answer(Value, frozen=True, kw_only=True):
    """What became of a request.

    Attributes:
        done: the run is being executed, or has been interrupted.
        stale: files that the server has loaded have changed, so it takes no further runs.
        problem: why it is not done.
    """

    done: bool
    stale: bool = False
    problem: str = ""


@contextmanager
def address(directory: Path) -> Generator[str]:
    """Give the address of a socket in a folder, however long the folder's path is."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{descriptor}/{SOCKET}"
    finally:
        os.close(descriptor)


def connect(directory: Path) -> socket.socket | None:
    """Return a connection to the server of a folder; None where no server listens."""
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(ANSWER_SECONDS)
    try:
        with address(directory) as where:
            connection.connect(where)
    except (FileNotFoundError, ConnectionRefusedError):
        connection.close()
        return None
    except BaseException:
        connection.close()
        raise
    return connection


def send(connection: socket.socket, message: Request | Answer) -> None:
    """Send one message."""
    connection.sendall(msgspec.json.encode(message) + b"\n")


def receive_line(connection: socket.socket) -> bytes:
    """Return one line.

    Raises:
        ConnectionError: the other side has ended, or sends no end of a line.
    """
    found = bytearray()
    while not found.endswith(b"\n"):
        part = connection.recv(65536)
        if not part:
            raise ConnectionResetError("the other side ended without a message")
        found += part
        if len(found) > LINE_MAX:
            raise ConnectionAbortedError(f"a message has more than {LINE_MAX} bytes")
    return bytes(found)
