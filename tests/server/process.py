"""A server in a process of its own, as a user starts it."""

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from time import monotonic, sleep

import httpx

START_SECONDS = 90.0
"""On a busy machine."""


class ServerProcess:
    """`tidegate serve` on a project, on a free port."""

    def __init__(
        self, project: Path, *options: str, program: Sequence[str] = ("-m", "tidegate.cli.main")
    ) -> None:
        """Args:
        program: how Python runs `tidegate`.
        """
        self._ready = project / "address"
        self._ready.unlink(missing_ok=True)
        command = [*program, "serve", *options, "--port", "0"]
        self.process = subprocess.Popen(
            [sys.executable, *command, "--ready-file", str(self._ready)],
            cwd=project,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.address = self._address()

    def _address(self) -> str:
        deadline = monotonic() + START_SECONDS
        while not self._ready.is_file():
            assert self.process.poll() is None, self.output()
            assert monotonic() < deadline, "the server does not answer"
            sleep(0.05)
        return self._ready.read_text()

    def client(self) -> httpx.Client:
        """A client of the server."""
        return httpx.Client(base_url=self.address, timeout=60)

    def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        """End the server as an operator does, and return its exit code."""
        self.process.send_signal(number)
        return self.process.wait(30)

    def kill(self) -> None:
        """Kill the server as a crash does."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(30)

    def output(self) -> str:
        """What the server printed, once it has ended."""
        assert self.process.stdout is not None
        return self.process.stdout.read()
