"""The JVM of this process's Spark: whether it has ended, whether it answers, and how it is ended.

A JVM that was killed (often by the system, for its memory) takes its session along: no later call can work.
One that hangs answers nothing, and blocks the thread that called it. Both are asked here without a call
through the session: the process table, and a connection of its own with a time limit. Where this process has
no JVM, nothing has ended and nothing hangs. Does not import PySpark: most processes with leases have none.
"""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from time import monotonic, sleep
from typing import Any

ANSWER_SECONDS = 20
"""A collection of garbage takes a second or two, on a machine that swaps perhaps ten."""

END_SECONDS = 10
"""From the moment a connection breaks to the moment at which the system reports the end of the process. It
frees the memory of the JVM before that, which takes seconds on a busy machine."""

GREETING_SECONDS = 1
"""How long to wait for the answer of a JVM that may be about to end."""

POLL_SECONDS = 0.05
LOST = ("Py4JError", "Py4JNetworkError")
"""What a call raises whose answer does not come; an exception in the JVM is a Py4JJavaError."""

WHY_LOST = "it was killed, often for its memory: give the driver more with spark.driver.memory"
"""What people are to know of a JVM that has ended."""

NOT_STARTED = "[JAVA_GATEWAY_EXITED]"
"""PySpark's class of the error of a JVM that ended before it said where it listens."""

_AUTHENTICATED = b"!yv"

_replaced: list[int] = []
"""The JVMs of this process that have ended, and whose place another one takes; by process id."""


def jvm_process() -> "subprocess.Popen[bytes] | None":
    """Return the JVM that this process has started."""
    return getattr(_gateway(), "proc", None)


def has_ended() -> bool:
    """Return whether the JVM that this process has started has ended."""
    process = getattr(_gateway(), "proc", None)
    if process is None:
        return False
    if process.returncode is not None:
        return True
    try:
        return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:
        # A forked child has inherited its parent's.
        return False


def answers(seconds: float = ANSWER_SECONDS) -> bool:
    """Return whether the JVM of this process answers within a time limit."""
    gateway = _gateway()
    if gateway is None:
        return True
    if has_ended():
        return False
    where = getattr(gateway, "java_parameters", None) or gateway.gateway_parameters
    try:
        with socket.create_connection((where.address, where.port), seconds) as connection:
            # Each connection begins with this command; only a JVM that runs answers it.
            connection.sendall(f"A\n{where.auth_token}\n".encode())
            return connection.recv(len(_AUTHENTICATED)) == _AUTHENTICATED
    except OSError:
        return False


def note_end() -> None:
    """Count the JVM of this process, which has ended and is about to be replaced."""
    process = jvm_process()
    if process is not None:
        _replaced.append(process.pid)


def ends() -> int:
    """Return how many JVMs of this process have ended and were replaced so far."""
    return len(_replaced)


def was_lost(error: BaseException, since: int | None = None) -> bool:
    """Return whether an error was raised because the JVM of this process has ended, or ended at its start.

    Args:
        since: `ends` of when the work began that has failed. Its JVM may have been replaced meanwhile: by
            another thread, or by this one to see what the work has left.
    """
    if any(NOT_STARTED in str(each) for each in _causes(error)):
        return True
    if not any(_is_of_connection(each) for each in _causes(error)):
        return has_ended()
    if since is not None and ends() > since:
        return True
    until = monotonic() + END_SECONDS
    while not has_ended():
        if _gateway() is None or answers(GREETING_SECONDS):
            return False
        if monotonic() > until:
            return has_ended()
        sleep(POLL_SECONDS)
    return True


def kill() -> None:
    """Kill the JVM of this process, so that the threads that wait for its answer fail."""
    process = getattr(_gateway(), "proc", None)
    if process is not None:
        with suppress(ProcessLookupError):
            process.kill()


def _gateway() -> Any:
    pyspark = sys.modules.get("pyspark")
    return None if pyspark is None else pyspark.SparkContext._gateway


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and what it was raised from, or while."""
    found: BaseException | None = error
    while found is not None:
        yield found
        found = found.__cause__ or found.__context__


def _is_of_connection(error: BaseException) -> bool:
    broken = ConnectionRefusedError | ConnectionResetError | BrokenPipeError | EOFError
    return isinstance(error, broken) or type(error).__name__ in LOST
