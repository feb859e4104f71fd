"""Drivers that can be killed: processes forked from the tests, each with a connection of its own to our JVM.

Forking costs a second less than a JVM. What the JVM was asked before the kill it does to the end,
as a real one does that outlives its driver for a moment; whole JVMs are killed in the sweep.
"""

import os
import signal
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from tests.crashes.processes import FAILED, Work, fork
from tests.spark_jobs.crash_table.points import share_jvm
from tidegate.spark_jobs.errors import SparkJobError

CLEAN = 3
"""Exit code of a driver that has ended with a failure meant for people, see `spark_jobs.errors`."""


def stop() -> None:
    """Does nothing until a process sends SIGCONT: a machine that hangs, a pause of the collector."""
    # To this thread, which then takes no further step; the others of the process stop with it.
    signal.pthread_kill(threading.get_ident(), signal.SIGSTOP)


def start(work: Work, prepare: Work = lambda: None) -> int:
    """Starts a driver that does some work, and gives its process id."""

    def drive() -> None:
        share_jvm()
        prepare()
        # A thread of its own has a connection of its own to the JVM.
        thread = threading.Thread(target=_run, args=(work,))
        thread.start()
        thread.join()
        os._exit(FAILED)

    return fork(drive)


@contextmanager
def stopping(work: Work, prepare: Work) -> Iterator[int]:
    """A driver that is stopped at some point of its work. The caller that wakes it waits for its end."""
    child = start(work, prepare)
    assert os.WIFSTOPPED(os.waitpid(child, os.WUNTRACED)[1]), "it has ended and did not stop"
    try:
        yield child
    except BaseException:
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        raise


def go_on(child: int) -> None:
    """Wakes a driver that is stopped."""
    os.kill(child, signal.SIGCONT)


def _run(work: Work) -> None:
    code = FAILED
    try:
        work()
        code = 0
    except SparkJobError as failure:
        print(f"a driver failed: {failure}")
        code = CLEAN
    except BaseException:  # noqa: BLE001 -- printed, and reported to the parent by the exit code
        traceback.print_exc()
    finally:
        os._exit(code)
