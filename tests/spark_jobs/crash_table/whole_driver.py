"""Drivers with a JVM of their own, which is killed with them, in the middle of whatever it does.

Such a driver costs seconds to start, so the next one is started while others work. It waits
until it learns what to run, tells when it begins, and is killed from outside at a moment that no call marks.
"""

import os
import select
import signal
from dataclasses import dataclass
from typing import Any

from tests.crashes.processes import SIGKILL, end, fork
from tests.spark_jobs.crash_table.project import Project
from tidegate.spark_jobs.iceberg.catalog.runtime import IcebergSettings
from tidegate.spark_jobs.session.session import SparkSettings, session

LONGEST_SECONDS = 3.0
"""A run takes about so long: it is killed at a moment between its start and this."""


class WholeDriver:
    """A driver for runs of one project."""

    def __init__(self, project: Project, iceberg: IcebergSettings) -> None:
        self._project, self._iceberg = project, iceberg
        self._ready: Started | None = None

    def prepare(self) -> None:
        """Starts the next driver, which costs seconds, and does not wait for it."""
        if self._ready is not None:
            return
        (orders, tell), (hear, tells) = os.pipe(), os.pipe()

        def serve() -> None:
            os.close(tell)
            os.close(hear)
            self._serve(orders, tells)

        self._ready = Started(process=fork(serve, None), tell=tell, hear=hear)
        os.close(orders)
        os.close(tells)

    def run_and_kill(self, commit: str, moment: float) -> bool:
        """One run that is killed with its JVM, unless it is faster. Whether it was killed.

        Args:
            moment: when, from 0 for its start to 1 for about its end.
        """
        self.prepare()
        assert self._ready is not None, "it was prepared"
        started, self._ready = self._ready, None
        jvm = int(_line(started.hear))
        os.write(started.tell, f"{commit}\n".encode())
        assert _line(started.hear) == "begins"
        # Its end of the pipe is closed when it ends: that is what is waited for.
        ended = bool(select.select([started.hear], [], [], moment * LONGEST_SECONDS)[0])
        if not ended:
            os.kill(jvm, signal.SIGKILL)
            os.kill(started.process, signal.SIGKILL)
        code = started.end()
        assert code in (0, SIGKILL), f"commit {commit} of a driver with a JVM of its own failed"
        return code != 0

    def close(self) -> None:
        """Ends a driver that no test has needed; it takes its JVM along."""
        if self._ready is not None:
            started, self._ready = self._ready, None
            _line(started.hear)
            os.write(started.tell, b"\n")
            started.end()

    def _serve(self, orders: int, tells: int) -> None:
        own = session(
            SparkSettings(master="local[1]", conf={"spark.driver.memory": "1g"}, iceberg=self._iceberg)
        )
        gateway: Any = own.sparkContext._gateway
        os.write(tells, f"{gateway.proc.pid}\n".encode())
        if commit := _line(orders):
            os.write(tells, b"begins\n")
            self._project.load(commit, own)
        own.stop()
        gateway.shutdown()


@dataclass(frozen=True, kw_only=True, slots=True)
class Started:
    """A driver that waits for its work, and our ends of its pipes."""

    process: int
    tell: int
    hear: int

    def end(self) -> int:
        """Waits for its end; see `driver.end`."""
        code = end(self.process)
        os.close(self.tell)
        os.close(self.hear)
        return code


def _line(pipe: int) -> str:
    """The next line from a pipe; "" when its other end is closed."""
    found = b""
    while (byte := os.read(pipe, 1)) not in (b"", b"\n"):
        found += byte
    return found.decode()
