"""What a script starts in the background ignores SIGINT; the processes that it starts end all the same."""

import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tidegate.processes.site import ManagedProcess, Site

AS_DAGSTER = """
import signal, time
signal.signal(signal.SIGTERM, signal.getsignal(signal.SIGINT))
print("ready", flush=True)
time.sleep(600)
"""
"""Dagster's processes handle SIGTERM as SIGINT (dagster._utils.interrupts.setup_interrupt_handlers)."""


@pytest.fixture
def in_the_background() -> Iterator[None]:
    """A test that ignores SIGINT, as a process does that a script has started with `&`."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("in_the_background")
def test_a_process_of_dagster_ends_on_sigterm(tmp_path: Path) -> None:
    site = Site(project=tmp_path, home=tmp_path, logs=tmp_path)
    process = ManagedProcess("daemon", [sys.executable, "-c", AS_DAGSTER], site)
    process.wait_until(lambda: "ready" in process.log.read_text())

    process.stop()

    assert process.log.read_text().rstrip().endswith("KeyboardInterrupt"), "it was not killed"
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
