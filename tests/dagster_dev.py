"""`dagster dev` in a folder, as its user starts it."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from tests import tally
from tidegate.processes.code_servers import HOST, free_port
from tidegate.processes.graphql import answers
from tidegate.processes.site import CHECKOUT

READY_SECONDS = 180
END_SECONDS = 10
"""Dagster waits for each of its processes for up to a minute; it is killed before, with all of them."""


def with_checkout() -> str:
    """`PYTHONPATH` of a process that finds this checkout, and loads as every Python that a test starts."""
    return os.pathsep.join([str(CHECKOUT), os.environ["PYTHONPATH"]])


@contextlib.contextmanager
def dagster_dev(folder: Path) -> Iterator[str]:
    """Start it and yield the address of its UI, once that answers; then stop it with Ctrl-C."""
    url = f"http://{HOST}:{free_port()}"
    log = folder / "dagster-dev.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "dagster", "dev", "-h", HOST, "-p", url.rpartition(":")[2]],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": with_checkout()},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        deadline = time.monotonic() + READY_SECONDS
        while not answers(url):
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.5)
        tally.take_part("Dagster")
        yield url
    finally:
        process.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(END_SECONDS)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
