"""Which worker gets a run, where workers are what the test says they are."""

import socket
from collections.abc import Iterator
from time import monotonic

import msgspec
import pytest

from tidegate.launcher.protocol import Launch, receive_line
from tidegate.launcher.warm import pool
from tidegate.launcher.warm.messages import Done, Message, Refused, RunOver
from tidegate.launcher.warm.pool import PATIENCE_SECONDS, Pool

KEPT = 2


class Workers:
    """A pool, and the workers' ends of its channels, by process id."""

    def __init__(self) -> None:
        self.pool = Pool(KEPT, self._hire)
        self.ends: dict[int, socket.socket] = {}
        self._channels: dict[int, socket.socket] = {}

    def _hire(self, run: Launch) -> tuple[int, socket.socket]:
        ours, theirs = socket.socketpair()
        pid = len(self.ends) + 1
        self.ends[pid], self._channels[pid] = theirs, ours
        return pid, ours

    def says(self, pid: int, *messages: Message) -> tuple[Launch, Done] | None:
        """Let a worker say something, all of which is there when the server reads it."""
        self.ends[pid].sendall(b"".join(msgspec.json.encode(each) + b"\n" for each in messages))
        return self.pool.heard(self._channels[pid])

    def got(self, pid: int) -> str:
        """Return the run that a worker has been given."""
        return msgspec.json.decode(receive_line(self.ends[pid]), type=Launch).run_id

    def close(self) -> None:
        for each in (*self.ends.values(), *self._channels.values()):
            each.close()


@pytest.fixture
def workers() -> Iterator[Workers]:
    made = Workers()
    yield made
    made.close()


def run(name: str) -> Launch:
    return Launch(run_id=name, instance="", folder="", environment={})


def over(name: str) -> RunOver:
    return RunOver(run_id=name)


def done(name: str, *, stays: bool = True) -> Done:
    return Done(run_id=name, finished=True, stays=stays)


@pytest.fixture
def busy(workers: Workers) -> Workers:
    """Two workers with a run each."""
    for pid, name in ((1, "a"), (2, "b")):
        workers.pool.give(run(name))
        assert workers.got(pid) == name
    return workers


@pytest.fixture
def postponing(busy: Workers) -> Workers:
    """The run of the first worker is over, and a third run waits for it."""
    assert busy.says(1, over("a")) is None
    busy.pool.give(run("c"))
    return busy


def test_a_run_waits_for_a_worker_whose_run_is_over_instead_of_starting_a_third(postponing: Workers) -> None:
    postponing.pool.give_postponed()
    assert list(postponing.ends) == [1, 2]

    assert postponing.says(1, done("a")) == (run("a"), done("a"))
    assert postponing.got(1) == "c"
    assert postponing.pool.process_of("c") == 1
    assert postponing.pool.waiting == 0


def test_a_run_gets_a_new_worker_where_all_have_one_that_goes_on(busy: Workers) -> None:
    busy.pool.give(run("c"))

    assert busy.got(3) == "c"


def test_no_more_runs_wait_than_workers_tidy_up(busy: Workers) -> None:
    busy.says(1, over("a"))

    for name in ("c", "d"):
        busy.pool.give(run(name))

    assert busy.got(3) == "d"
    busy.says(1, done("a"))
    assert busy.got(1) == "c"


def test_a_run_waits_no_longer_than_a_moment(postponing: Workers, monkeypatch: pytest.MonkeyPatch) -> None:
    later = monotonic() + PATIENCE_SECONDS
    monkeypatch.setattr(pool, "monotonic", lambda: later)

    postponing.pool.give_postponed()

    assert postponing.got(3) == "c"
    assert postponing.says(1, done("a")) == (run("a"), done("a"))
    assert postponing.pool.waiting == 1


@pytest.mark.parametrize("end", [done("a", stays=False), Refused(run_id="a")], ids=["leaves", "refuses"])
def test_a_worker_that_leaves_passes_the_run_that_waits_on_to_a_new_one(
    postponing: Workers, end: Message
) -> None:
    postponing.says(1, end)
    postponing.pool.give_postponed()

    given = {postponing.got(pid) for pid in postponing.ends if pid > KEPT}
    assert given == ({"c"} if isinstance(end, Done) else {"a", "c"})


def test_a_worker_that_dies_while_it_tidies_up_keeps_no_run_waiting(postponing: Workers) -> None:
    postponing.ends[1].close()

    assert postponing.pool.ended(1) == (run("a"), Done(run_id="a", finished=False, stays=False))
    postponing.pool.give_postponed()

    assert postponing.got(3) == "c"


def test_what_a_worker_has_said_before_its_end_is_read_whole(busy: Workers) -> None:
    for message in (over("a"), done("a", stays=False)):
        busy.ends[1].sendall(msgspec.json.encode(message) + b"\n")
    busy.ends[1].close()

    assert busy.pool.ended(1) == (run("a"), done("a", stays=False))


def test_messages_that_are_read_together_are_each_heeded(busy: Workers) -> None:
    assert busy.says(2, over("b"), done("b")) == (run("b"), done("b"))
    assert busy.pool.waiting == 1


def test_a_run_that_is_cancelled_while_it_waits_gets_a_process_to_interrupt(postponing: Workers) -> None:
    assert postponing.pool.process_of("c") == 3
    assert postponing.got(3) == "c"


def test_a_server_that_ends_lets_no_run_wait(postponing: Workers) -> None:
    postponing.pool.close()

    assert postponing.got(3) == "c"
    assert postponing.says(1, done("a")) == (run("a"), done("a"))
    assert postponing.pool.waiting == 0
