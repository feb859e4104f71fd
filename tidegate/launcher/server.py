"""The run server: a process that has everything loaded, and forks itself for each run.

    launch ─► record ─► fork ─► the child executes the run, in its own session
                          └──► the child ends: done, or its run is reported as failed by a fork of its own

It has one thread, and neither a connection to a database nor a JVM, so a fork inherits nothing that cannot be
shared. It ends when no run came for a while, when files that it has loaded have changed and its runs have
ended, and by SIGTERM, with its runs.
"""

import os
import select
import signal
import socket
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from dagster import DagsterInstance, DagsterRunStatus, deserialize_value

from tidegate.dagster_defs.internals.instance import InstanceRef
from tidegate.dagster_defs.run.dead_runs import report_dead
from tidegate.domain.error import UserError
from tidegate.launcher.children import Children, ended_text
from tidegate.launcher.client import PLACE_FILE
from tidegate.launcher.config import Mode
from tidegate.launcher.execution import Outcome, execute, open_instance, prepare_process
from tidegate.launcher.place import Place, environment_of
from tidegate.launcher.preload import LoadedFiles, preload, preload_instance
from tidegate.launcher.protocol import SOCKET, Answer, Cancel, Launch, Request, address, receive_line, send
from tidegate.launcher.records import NO_PROCESS, Records, RunRecord
from tidegate.launcher.warm.messages import Done
from tidegate.launcher.warm.pool import Pool
from tidegate.launcher.warm.worker import Worker
from tidegate.project.location import location_of
from tidegate.project.settings.settings import load_settings
from tidegate.spark_jobs.commit.process import is_gone, shown, this_process


def report(run_id: str, instance_ref: str, text: str) -> None:
    """Report a run as failed, or as cancelled if that was asked for, unless it has ended.

    Args:
        text: what became of its process.
    """
    with DagsterInstance.from_ref(deserialize_value(instance_ref, InstanceRef)) as instance:
        run = instance.get_run_by_id(run_id)
        if run is None or run.is_finished:
            return
        if run.status is DagsterRunStatus.CANCELING:
            instance.report_run_canceled(run, text)
            return
        try:
            report_dead(instance, location_of(load_settings()), run, text, datetime.now(UTC), print)
        except UserError as error:
            # The engine learns it from Dagster, once it has its store again.
            print(f"run {run_id}: {error}")
            instance.report_run_failed(run, f"the run died: {text}")


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
        self._pool = Pool(place.config.workers, self._hire)
        self._files = LoadedFiles()
        self._instances: set[str] = set()
        self._idle_since = time.monotonic()
        self._looked = 0.0
        self._stopping = False
        self._listener: socket.socket | None = None
        self._connection: socket.socket | None = None

    def serve(self) -> None:
        """Listen, and execute runs until the server is to end."""
        signal.signal(signal.SIGTERM, self._stop)
        signal.signal(signal.SIGINT, self._stop)
        self._records.enter()
        self._listen()
        while self._goes_on():
            listener = [] if self._listener is None else [self._listener]
            heard = [self._children.awake, *listener, *self._pool.channels()]
            for ready in select.select(heard, [], [], LOOK_SECONDS)[0]:
                if self._listener is not None and ready is self._listener:
                    self._accept(self._listener)
                elif ready is not self._children.awake:
                    self._done(self._pool.heard(ready))
            self._reap()
            self._pool.give_postponed()
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
        self._pool.close()
        if self._listener is not None:
            (self._directory / SOCKET).unlink(missing_ok=True)
            self._listener.close()
            self._listener = None

    def _accept(self, listener: socket.socket) -> None:
        connection, _ = listener.accept()
        with connection, suppress(OSError, msgspec.DecodeError):
            connection.settimeout(REQUEST_SECONDS)
            line = receive_line(connection)
            self._connection = connection
            answer = self._answer(msgspec.json.decode(line, type=Request))
            if answer.stale:
                self._close()
            send(connection, answer)

    def _answer(self, request: Request) -> Answer:
        if isinstance(request, Cancel):
            return Answer(done=self._cancel(request.run_id))
        changed = self._files.changed()
        if changed is not None:
            return Answer(done=False, stale=True, problem=f"{changed} has changed")
        self._prepare(request.instance)
        record = RunRecord(server=self._name, instance=request.instance, folder=request.folder)
        if self._records.begin(request.run_id, record):
            if self._place.config.mode is Mode.WARM:
                self._pool.give(request)
            else:
                self._runs[self._fork(lambda: self._execute(request), request)] = request
        return Answer(done=True)

    def _cancel(self, run_id: str) -> bool:
        forked = (pid for pid, run in self._runs.items() if run.run_id == run_id)
        pid = next(forked, None) or self._pool.process_of(run_id)
        if pid is not None:
            os.kill(pid, signal.SIGINT)
        return pid is not None

    def _prepare(self, instance: str) -> None:
        if instance in self._instances:
            return
        preload_instance(deserialize_value(instance, InstanceRef))
        self._instances.add(instance)
        self._files = LoadedFiles()

    # --- runs ---------------------------------------------------------------------------

    def _begun(self, run: Launch) -> None:
        record = RunRecord(
            server=self._name, instance=run.instance, folder=run.folder, process=this_process()
        )
        self._records.put(run.run_id, record)

    def _execute(self, run: Launch) -> bool:
        self._begun(run)
        with open_instance(run.instance) as instance:
            return execute(run.run_id, instance) is not Outcome.UNFINISHED

    def _hire(self, run: Launch) -> tuple[int, socket.socket]:
        ours, theirs = socket.socketpair()

        def work() -> bool:
            ours.close()
            return Worker(theirs, self._place.config, self._begun).work()

        pid = self._fork(work, run)
        theirs.close()
        return pid, ours

    def _reap(self) -> None:
        for ended in self._children.ended():
            run = self._runs.pop(ended.pid, None)
            if run is not None:
                self._end(run, ended.status == 0, ended_text(ended))
            self._done(self._pool.ended(ended.pid), ended_text(ended))
            self._idle_since = time.monotonic()

    def _done(self, done: tuple[Launch, Done] | None, text: str = "its worker has no end of it") -> None:
        if done is not None:
            self._end(done[0], done[1].finished, text)
            self._idle_since = time.monotonic()

    def _end(self, run: Launch, finished: bool, text: str) -> None:
        if finished:
            self._records.end(run.run_id)
        else:
            self._report(run, text)

    def _report(self, run: Launch, text: str) -> None:
        """Report the end of a run's process in another one, since this one has no database."""

        def reported() -> bool:
            report(run.run_id, run.instance, text)
            self._records.end(run.run_id)
            return True

        self._fork(reported, run)

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

    def _fork(self, work: Callable[[], bool], run: Launch) -> int:
        """Do some work for a run in another process, with the run's folder and environment."""

        def begin() -> bool:
            # What a child holds open, its server cannot close.
            for inherited in (self._listener, self._connection, *self._pool.channels()):
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
        if self._children.alive > self._pool.waiting:
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
    prepare_process()
    RunServer(directory, place).serve()


if __name__ == "__main__":
    main()
