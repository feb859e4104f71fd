"""A worker: a fork of the run server that executes one run after the other.

    run ─► execute ─► end all that is left of it ─► as good as new? ──yes──► wait for the next one
                                                         └──no──► end

A worker ends by itself after a number of runs or minutes, when its memory has grown, when a file of the
project that it has loaded changes, after a run that ended hard, and when its server has gone.
"""

import os
import signal
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path
from resource import getpagesize

import msgspec
from dagster import DagsterInstance

from tidegate.launcher.config import LauncherConfig
from tidegate.launcher.execution import Outcome, execute, open_instance
from tidegate.launcher.kept_definitions import forget_definitions
from tidegate.launcher.preload import changed_file, loaded_files
from tidegate.launcher.protocol import Launch, receive_line
from tidegate.launcher.warm.messages import Done, Message, Refused, RunOver
from tidegate.launcher.warm.process_state import ProcessState, seed
from tidegate.project.settings.settings import SETTINGS_FILE
from tidegate.spark_jobs.java import jvm
from tidegate.spark_jobs.session.renewal import Renewal

MEGABYTE = 1024 * 1024


class Worker:
    """The worker of this process."""

    def __init__(
        self, channel: socket.socket, config: LauncherConfig, begun: Callable[[Launch], None]
    ) -> None:
        """Args:
        begun: records that this process executes a run.
        """
        self._channel, self._config, self._begun = channel, config, begun
        self._state, self._renewal = ProcessState(), Renewal()
        # At the files of the server, the server itself looks before each run.
        self._modules = set(sys.modules)
        self._files = dict[str, int]()
        self._since, self._runs = time.monotonic(), 0
        self._first_size: int | None = None
        self._instance: tuple[object, DagsterInstance] | None = None

    def work(self) -> bool:
        """Execute runs until this worker is to end."""
        while True:
            run = self._next()
            if run is None:
                return True
            if changed_file(self._files) is not None:
                self._say(Refused(run_id=run.run_id))
                return True
            done = self._execute(run)
            self._say(done)
            if not done.stays:
                return True

    def _next(self) -> Launch | None:
        try:
            return msgspec.json.decode(receive_line(self._channel), type=Launch)
        except ConnectionError:
            return None

    def _say(self, message: Message) -> None:
        self._channel.sendall(msgspec.json.encode(message) + b"\n")

    def _execute(self, run: Launch) -> Done:
        self._enter(run)
        # As they are before they are read.
        self._files = {**self._settings(run), **self._files}
        try:
            instance = self._instance_of(run)
            outcome = execute(run.run_id, instance, lambda: self._say(RunOver(run_id=run.run_id)))
        finally:
            # A cancel that comes too late must not end the run after it; SIGTERM ends an idle worker.
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
        self._runs += 1
        stays = outcome is Outcome.CALM and self._as_good_as_new(run) and self._in_limits()
        return Done(run_id=run.run_id, finished=outcome is not Outcome.UNFINISHED, stays=stays)

    def _enter(self, run: Launch) -> None:
        self._begun(run)
        os.chdir(run.folder)
        os.environ.clear()
        os.environ.update(run.environment)
        seed()
        signal.signal(signal.SIGINT, signal.default_int_handler)

    def _instance_of(self, run: Launch) -> DagsterInstance:
        """Return the instance of a run: that of the run before, with its connections, if it is the same."""
        key = run.instance, run.folder, run.environment
        if self._instance is None or self._instance[0] != key:
            forget_definitions()
            if self._instance is not None:
                self._instance[1].dispose()
            self._instance = key, open_instance(run.instance)
        return self._instance[1]

    def _as_good_as_new(self, run: Launch) -> bool:
        # Spark's own Python processes keep the project's modules too: a change of one needs another Spark.
        loaded = sys.modules.keys() - self._modules
        self._files = {**loaded_files(loaded), **self._files}
        self._modules |= loaded
        return self._renewal.renew() and self._state.restore()

    def _settings(self, run: Launch) -> dict[str, int]:
        file = Path(run.folder) / SETTINGS_FILE
        return {str(file): file.stat().st_mtime_ns} if file.is_file() else {}

    def _in_limits(self) -> bool:
        size = sum(_resident(pid) for pid in (os.getpid(), _jvm_process()) if pid is not None)
        if self._first_size is None:
            self._first_size = size
        return within_limits(
            self._config, self._runs, time.monotonic() - self._since, size - self._first_size
        )


def within_limits(config: LauncherConfig, runs: int, seconds: float, growth: int) -> bool:
    """Return whether a worker may take another run.

    Args:
        growth: in bytes, since its first run.
    """
    return (
        runs < config.worker_runs
        and seconds < config.worker_minutes * 60
        and growth < config.worker_growth_mb * MEGABYTE
    )


def _jvm_process() -> int | None:
    process = jvm.jvm_process()
    return None if process is None else process.pid


def _resident(pid: int) -> int:
    """Return the memory of a process in bytes; 0 for one that has ended."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * getpagesize()
    except (OSError, IndexError):
        return 0
