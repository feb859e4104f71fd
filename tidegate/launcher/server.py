"""The run server: a process that has everything loaded, and forks itself for each run.

    launch ─► record ─► fork ─► the child executes the run, in its own session
                          └──► the child ends: done, or its run is reported as failed by a fork of its own

It has one thread, and neither a connection to a database nor a JVM, so a fork inherits nothing that cannot be
shared. It ends when no run came for a while, when files that it has loaded have changed and its runs have
ended, and by SIGTERM, with its runs.
"""

import os
import selectors
import signal
import socket
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import msgspec
from dagster._core.instance.ref import InstanceRef
from dagster._serdes import deserialize_value

from tidegate.launcher.children import Children, ended_text
from tidegate.launcher.client import PLACE_FILE
from tidegate.launcher.dead_run import report
from tidegate.launcher.execution import execute
from tidegate.launcher.loaded_files import changed_file, loaded_files
from tidegate.launcher.place import Place, environment_of
from tidegate.launcher.preload import preload, preload_instance
from tidegate.launcher.protocol import SOCKET, Answer, Cancel, Launch, Request, address, receive_line, send
from tidegate.launcher.records import NO_PROCESS, Records, RunRecord
from tidegate.spark_jobs.commit.process import is_gone, shown, this_process

LOOK_SECONDS = 1.0
"""From one look for the runs of dead servers, and for the folder, to the next."""

REQUEST_SECONDS = 5
"""A launcher sends its request at once."""

STARTING_SECONDS = 10
"""A process records itself within milliseconds of its fork."""

STOP_SECONDS = 10
"""Time for runs to end after SIGTERM; then they are killed."""

BACKLOG = 128


class RunServer:
    """The server of one place."""

    def __init__(self, directory: Path, place: Place) -> None:
        self._place, self._directory = place, directory
        self._records = Records(directory)
        self._records.create()
        self._name = this_process()
        self._children = Children()
        self._runs: dict[int, Launch] = {}
        self._files = loaded_files()
        self._instances: set[str] = set()
        self._idle_since = time.monotonic()
        self._looked = 0.0
        self._stopping = False
        self._listener: socket.socket | None = None

    def serve(self) -> None:
        """Listen, and execute runs until the server is to end."""
        signal.signal(signal.SIGTERM, self._stop)
        signal.signal(signal.SIGINT, self._stop)
        self._records.enter()
        self._listen()
        with selectors.DefaultSelector() as selector:
            selector.register(self._children.awake, selectors.EVENT_READ)
            if self._listener is not None:
                selector.register(self._listener, selectors.EVENT_READ)
            while self._goes_on():
                for key, _ in selector.select(LOOK_SECONDS):
                    if key.fileobj is self._listener:
                        self._accept(selector)
                self._reap()
                self._look()
        self._close()
        self._end_runs()
        self._records.leave()

    # --- requests -----------------------------------------------------------------------

    def _listen(self) -> None:
        listener = socket.socket(socket.AF_UNIX)
        # The caller holds the lock of the folder: a socket that is there belongs to a dead server.
        (self._directory / SOCKET).unlink(missing_ok=True)
        with address(self._directory) as where:
            listener.bind(where)
        listener.listen(BACKLOG)
        self._listener = listener

    def _close(self) -> None:
        """Leave the place to the next server."""
        if self._listener is not None:
            (self._directory / SOCKET).unlink(missing_ok=True)
            self._listener.close()
            self._listener = None

    def _accept(self, selector: selectors.BaseSelector) -> None:
        assert self._listener is not None
        connection, _ = self._listener.accept()
        with connection, suppress(OSError, msgspec.DecodeError):
            connection.settimeout(REQUEST_SECONDS)
            line = receive_line(connection)
            answer = self._answer(msgspec.json.decode(line, type=Request), connection)
            if answer.stale:
                selector.unregister(self._listener)
                self._close()
            send(connection, answer)

    def _answer(self, request: Request, connection: socket.socket) -> Answer:
        if isinstance(request, Cancel):
            return Answer(done=self._cancel(request.run_id))
        changed = changed_file(self._files)
        if changed is not None:
            return Answer(done=False, stale=True, problem=f"{changed} has changed")
        self._prepare(request.instance)
        record = RunRecord(server=self._name, instance=request.instance, folder=request.folder)
        if self._records.begin(request.run_id, record):
            pid = self._fork(lambda: self._execute(request, record), request, connection)
            self._runs[pid] = request
        return Answer(done=True)

    def _cancel(self, run_id: str) -> bool:
        for pid, executed in self._runs.items():
            if executed.run_id == run_id:
                os.kill(pid, signal.SIGINT)
                return True
        return False

    def _prepare(self, instance: str) -> None:
        if instance in self._instances:
            return
        preload_instance(deserialize_value(instance, InstanceRef))
        self._instances.add(instance)
        self._files = loaded_files()

    # --- runs ---------------------------------------------------------------------------

    def _execute(self, run: Launch, record: RunRecord) -> bool:
        self._records.put(run.run_id, msgspec.structs.replace(record, process=this_process()))
        return execute(run.run_id, run.instance)

    def _reap(self) -> None:
        for ended in self._children.ended():
            run = self._runs.pop(ended.pid, None)
            if run is not None and ended.status == 0:
                self._records.end(run.run_id)
            elif run is not None:
                self._report(run, ended_text(ended))
            self._idle_since = time.monotonic()

    def _report(self, run: Launch, text: str) -> None:
        """Report the end of a run's process in another one, since this one has no database."""

        def reported() -> bool:
            report(run.run_id, run.instance, text)
            self._records.end(run.run_id)
            return True

        self._fork(reported, run, None)

    def _look(self) -> None:
        """Look after the runs of servers that have died."""
        if time.monotonic() - self._looked < LOOK_SECONDS:
            return
        self._looked = time.monotonic()
        if not self._directory.is_dir():
            # The whole instance was removed.
            self._stopping = True
            return
        for run_id, record in self._records.orphans().items():
            if record.process == NO_PROCESS:
                if self._records.age(run_id) < STARTING_SECONDS:
                    continue
                text = "the run server ended before the run had a process"
            elif is_gone(record.process):
                text = f"{shown(record.process)} has ended without a word, and so had its run server"
            else:
                continue
            # It is this server's now, so that it is reported once.
            self._records.put(run_id, msgspec.structs.replace(record, server=self._name))
            own = environment_of(record.folder)
            run = Launch(run_id=run_id, instance=record.instance, folder=record.folder, environment=own)
            self._report(run, text)

    def _fork(self, work: Callable[[], bool], run: Launch, connection: socket.socket | None) -> int:
        """Do some work for a run in another process, with the run's folder and environment."""

        def begin() -> bool:
            for inherited in (self._listener, connection):
                if inherited is not None:
                    inherited.close()
            os.chdir(run.folder)
            os.environ.clear()
            os.environ.update(run.environment)
            return work()

        return self._children.fork(begin)

    # --- the end ------------------------------------------------------------------------

    def _goes_on(self) -> bool:
        if self._stopping:
            return False
        if self._children.alive:
            return True
        idle = time.monotonic() - self._idle_since
        return self._listener is not None and idle < self._place.config.idle_minutes * 60

    def _stop(self, _number: int, _frame: object) -> None:
        self._stopping = True

    def _end_runs(self) -> None:
        """End the runs that are left; what does not end in time is killed, and reported."""
        self._children.signal(signal.SIGTERM)
        deadline = time.monotonic() + STOP_SECONDS
        while self._children.alive and time.monotonic() < deadline:
            self._children.wait()
            self._reap()
        self._children.signal(signal.SIGKILL)
        while self._children.alive:
            self._children.wait()
            self._reap()


def main() -> None:
    """Serve the place of the folder that is the first argument."""
    directory = Path(sys.argv[1])
    place = msgspec.json.decode((directory / PLACE_FILE).read_bytes(), type=Place)
    preload(place)
    RunServer(directory, place).serve()


if __name__ == "__main__":
    main()
