"""The workers of a run server: which of them has which run, and which waits for one.

    run ─► a worker waits: it gets the run
      ├──► a worker has a run that is over: the run waits for it, a moment
      └──► else: a new worker

Nothing here knows what a run does.
"""

import socket
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from time import monotonic

import msgspec

from tidegate.launcher.protocol import Launch, receive_line, send
from tidegate.launcher.warm.messages import Done, Message, RunOver

PATIENCE_SECONDS = 5.0
"""A worker tidies up in less than a second, and a new one needs longer than this to start its Spark."""

MESSAGES = msgspec.json.Decoder(Message)


@dataclass
class Hired:
    """A worker, as its server knows it. Without a run and not leaving, it waits for the next one.

    Attributes:
        over: its run is over, but it still tidies up.
    """

    channel: socket.socket
    run: Launch | None = None
    over: bool = False
    leaving: bool = False


@dataclass
class Postponed:
    """A run that waits for a worker whose run is over, until an instant of the monotonic clock."""

    run: Launch
    until: float


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
    _postponed: list[Postponed] = field(default_factory=list[Postponed])

    @property
    def waiting(self) -> int:
        """How many workers wait for a run."""
        return len(self._waiting())

    def give(self, run: Launch) -> None:
        """Give a run to a worker that waits or will do so soon, or to a new one."""
        self._postponed.append(Postponed(run, monotonic() + PATIENCE_SECONDS))
        self.give_postponed()

    def give_postponed(self) -> None:
        """Give the runs that wait, in order, to workers that wait, or to new ones."""
        now = monotonic()
        postponed, self._postponed = self._postponed, []
        for each in postponed:
            if self._is_taken(each.run):
                continue
            if self.kept and now < each.until and len(self._tidying()) > len(self._postponed):
                self._postponed.append(each)
            else:
                self._hire(each.run)

    def _is_taken(self, run: Launch) -> bool:
        """Give a run to a worker that waits; return whether there is one."""
        for worker in self._waiting():
            try:
                send(worker.channel, run)
            except OSError:
                # It has just ended.
                self._dismiss(worker)
                continue
            worker.run, worker.over = run, False
            return True
        return False

    def _hire(self, run: Launch) -> None:
        pid, channel = self.hire(run)
        self._workers[pid] = Hired(channel, run)
        with suppress(OSError):
            # One that has ended already is seen to end.
            send(channel, run)

    def process_of(self, run_id: str) -> int | None:
        """Return the process that has a run; one that waits for a worker gets one."""
        for each in [each for each in self._postponed if each.run.run_id == run_id]:
            self._postponed.remove(each)
            self._hire(each.run)
        for pid, worker in self._workers.items():
            if worker.run is not None and worker.run.run_id == run_id:
                return pid
        return None

    def heard(self, channel: socket.socket) -> tuple[Launch, Done] | None:
        """Read what a worker says; return the run that it has done."""
        worker = next(each for each in self._workers.values() if each.channel is channel)
        try:
            *_, message = MESSAGES.decode_lines(receive_line(channel))
        except OSError:
            # It has ended with its run, which is reported when its process is gone.
            self._dismiss(worker)
            return None
        if isinstance(message, RunOver):
            worker.over = True
            return None
        run, worker.run, worker.over = worker.run, None, False
        if run is None:
            return None
        if not isinstance(message, Done):
            self._dismiss(worker)
            self.give(run)
            return None
        if not message.stays:
            self._dismiss(worker)
        self.give_postponed()
        if len(self._waiting()) > self.kept:
            self._dismiss(worker)
        return run, message

    def ended(self, pid: int) -> tuple[Launch, Done] | None:
        """Forget a worker whose process has ended, and return the run that it had."""
        worker = self._workers.get(pid)
        if worker is None:
            return None
        # What it has said before its end is still there to be read.
        done = None
        while done is None and worker.run is not None and not worker.leaving:
            done = self.heard(worker.channel)
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
        self.give_postponed()
        for worker in self._waiting():
            self._dismiss(worker)

    def _waiting(self) -> list[Hired]:
        return [each for each in self._workers.values() if each.run is None and not each.leaving]

    def _tidying(self) -> list[Hired]:
        return [each for each in self._workers.values() if each.over and not each.leaving]

    def _dismiss(self, worker: Hired) -> None:
        worker.leaving = True
        worker.channel.close()
