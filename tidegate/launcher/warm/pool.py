"""The workers of a run server: which of them has which run, and which waits for one."""

import socket
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

import msgspec

from tidegate.launcher.protocol import Launch, receive_line, send
from tidegate.launcher.warm.messages import Done, Message


@dataclass
class Hired:
    """A worker, as its server knows it. Without a run and not leaving, it waits for the next one."""

    channel: socket.socket
    run: Launch | None = None
    leaving: bool = False


@dataclass
class Pool:
    """The workers of a run server.

    Attributes:
        kept: how many workers may wait for a run.
        hire: starts a worker for a run, and returns its process id and the server's end of its channel.
    """

    kept: int
    hire: Callable[[Launch], tuple[int, socket.socket]]
    _workers: dict[int, Hired] = field(default_factory=dict[int, Hired])

    @property
    def waiting(self) -> int:
        """How many workers wait for a run."""
        return len(self._waiting())

    def give(self, run: Launch) -> None:
        """Give a run to a worker that waits, or to a new one."""
        for worker in self._waiting():
            try:
                send(worker.channel, run)
            except OSError:
                # It has just ended.
                self._dismiss(worker)
                continue
            worker.run = run
            return
        pid, channel = self.hire(run)
        self._workers[pid] = Hired(channel, run)
        with suppress(OSError):
            # One that has ended already is seen to end.
            send(channel, run)

    def process_of(self, run_id: str) -> int | None:
        """Return the process that has a run."""
        for pid, worker in self._workers.items():
            if worker.run is not None and worker.run.run_id == run_id:
                return pid
        return None

    def heard(self, channel: socket.socket) -> tuple[Launch, Done] | None:
        """Read what a worker says; return the run that it has done."""
        worker = next(each for each in self._workers.values() if each.channel is channel)
        try:
            message: Message = msgspec.json.decode(receive_line(channel), type=Message)
        except OSError:
            # It has ended with its run, which is reported when its process is gone.
            self._dismiss(worker)
            return None
        run, worker.run = worker.run, None
        if run is None:
            return None
        if not isinstance(message, Done):
            self._dismiss(worker)
            self.give(run)
            return None
        if not message.stays or len(self._waiting()) > self.kept:
            self._dismiss(worker)
        return run, message

    def ended(self, pid: int) -> tuple[Launch, Done] | None:
        """Forget a worker whose process has ended, and return the run that it had."""
        worker = self._workers.get(pid)
        if worker is None:
            return None
        run = worker.run
        # What it has said before its end is still there to be read.
        done = self.heard(worker.channel) if run is not None else None
        del self._workers[pid]
        worker.channel.close()
        if done is not None or worker.run is None:
            return done
        return worker.run, Done(run_id=worker.run.run_id, finished=False, stays=False)

    def channels(self) -> list[socket.socket]:
        """Return the channels on which a worker may say something."""
        return [worker.channel for worker in self._workers.values() if not worker.leaving]

    def close(self) -> None:
        """Let the workers end that wait for a run, and those that will."""
        self.kept = 0
        for worker in self._waiting():
            self._dismiss(worker)

    def _waiting(self) -> list[Hired]:
        return [each for each in self._workers.values() if each.run is None and not each.leaving]

    def _dismiss(self, worker: Hired) -> None:
        worker.leaving = True
        worker.channel.close()
