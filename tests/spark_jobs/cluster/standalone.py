"""Spark's standalone cluster as teams run it: a master and workers, each a process, on the loopback.

They are started from pip's `pyspark` without this project on their Python path, as on machines that have
Spark and no checkout. `standalone` ends it with its block.
"""

import os
import re
import signal
import socket
import subprocess
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pyspark

from tests.effort import longer
from tests.interpreted import INTERPRETED
from tidegate.spark_jobs.session.java import java_home

HOME = Path(pyspark.__file__).parent
HOST = "127.0.0.1"
SCALA = ".".join(next(HOME.glob("jars/scala-library-*.jar")).stem.split("-")[2].split(".")[:2])
DEPLOY = "org.apache.spark.deploy"
START_SECONDS = longer(300)
PAUSE_SECONDS = 0.1

SMALL = {
    **INTERPRETED,
    "spark.driver.host": HOST,
    "spark.driver.bindAddress": HOST,
    "spark.driver.memory": "700m",
    "spark.executor.memory": "512m",
    "spark.cores.max": "1",
}
"""Properties of a driver that shares a small machine with the whole cluster."""

DAEMON_OPTIONS = ("-Xmx160m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")


class Standalone:
    """A running cluster.

    Attributes:
        master: its URL.
        folder: logs of its processes, and the folders of the workers with those of the executors.
    """

    def __init__(self, folder: Path) -> None:
        with socket.socket() as free:
            free.bind((HOST, 0))
            self._port = free.getsockname()[1]
        self.folder = folder
        self.master = f"spark://{HOST}:{self._port}"
        self._master: subprocess.Popen[bytes] | None = None
        self._workers: list[subprocess.Popen[bytes]] = []

    def start(self, workers: int = 2) -> None:
        """Start the master and the workers, and wait until they know each other."""
        self.start_master()
        for _ in range(workers):
            self.start_worker()

    def start_master(self) -> None:
        """Start the master, also one that was killed, whose workers come back by themselves."""
        options = ("--host", HOST, "--port", str(self._port), "--webui-port", "0")
        # What a master that was killed knew of its workers, the next one reads.
        recovery = (
            "-Dspark.deploy.recoveryMode=FILESYSTEM",
            f"-Dspark.deploy.recoveryDirectory={self.folder / 'recovery'}",
        )
        self._master = self._spawn("master", (*recovery, f"{DEPLOY}.master.Master", *options))
        self.wait_for("master", "New state: ALIVE")

    def start_worker(self) -> int:
        """Start a worker with one core. Return its number."""
        number = len(self._workers)
        options = ("--host", HOST, "--cores", "1", "--memory", "800m", "--webui-port", "0")
        work = ("--work-dir", str(self.folder / f"work-{number}"))
        process = self._spawn(f"worker-{number}", (f"{DEPLOY}.worker.Worker", *options, *work, self.master))
        self._workers.append(process)
        self.wait_for(f"worker-{number}", "Successfully registered with master")
        return number

    def kill_master(self) -> None:
        """Kill the master as by a power cut. Applications go on with the executors that they have."""
        assert self._master is not None
        _kill(self._master)

    def kill_worker(self, number: int) -> None:
        """Kill a worker and its executors as by a power cut of their machine."""
        for executor in self.executors(number):
            os.kill(executor, signal.SIGKILL)
        _kill(self._workers[number])

    def executors(self, number: int) -> list[int]:
        """Return the processes of the executors of a worker."""
        work = str(self.folder / f"work-{number}").encode()
        parent = self._workers[number].pid
        return [pid for pid, command in children_of(parent) if work in command or b"Executor" in command]

    def stop(self) -> None:
        """End every process of the cluster."""
        for number in range(len(self._workers)):
            self.kill_worker(number)
        if self._master is not None:
            _kill(self._master)

    def wait_for(self, name: str, words: str, times: int = 1) -> None:
        """Wait until the log of a process has some words."""
        log = self.folder / f"{name}.log"
        until = time.monotonic() + START_SECONDS
        while len(re.findall(words, text := log.read_text(errors="replace"))) < times:
            assert time.monotonic() < until, f"{name} has not written {words!r}:\n{text[-2000:]}"
            time.sleep(PAUSE_SECONDS)

    def _spawn(self, name: str, command: tuple[str, ...]) -> subprocess.Popen[bytes]:
        self.folder.mkdir(parents=True, exist_ok=True)
        java = str(java_home() / "bin" / "java")
        environment = {
            **{key: value for key, value in os.environ.items() if key != "PYTHONPATH"},
            "SPARK_HOME": str(HOME),
            # What Spark's own scripts find out before they start a process.
            "SPARK_SCALA_VERSION": SCALA,
            "SPARK_LOCAL_IP": HOST,
            "JAVA_HOME": str(java_home()),
        }
        with (self.folder / f"{name}.log").open("ab") as log:
            return subprocess.Popen(
                [java, "-cp", f"{HOME / 'jars'}/*", *_opened(), *DAEMON_OPTIONS, *command],
                stdout=log,
                stderr=log,
                cwd=self.folder,
                env=environment,
            )


@contextmanager
def standalone(folder: Path, workers: int = 2) -> Generator[Standalone]:
    """Run a cluster while a block does."""
    cluster = Standalone(folder)
    try:
        cluster.start(workers)
        yield cluster
    finally:
        cluster.stop()


def _opened() -> tuple[str, ...]:
    """The packages of Java that Spark opens for itself, as its own scripts do."""
    names = ("java.lang", "java.lang.invoke", "java.io", "java.net", "java.nio", "java.util", "sun.nio.ch")
    return tuple(f"--add-opens=java.base/{name}=ALL-UNNAMED" for name in names)


def _kill(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()


def children_of(parent: int) -> list[tuple[int, bytes]]:
    found: list[tuple[int, bytes]] = []
    for folder in Path("/proc").iterdir():
        try:
            stat = (folder / "stat").read_text() if folder.name.isdigit() else ""
            if stat and int(stat.rpartition(")")[2].split()[1]) == parent:
                found.append((int(folder.name), (folder / "cmdline").read_bytes()))
        except OSError:
            continue
    return found
