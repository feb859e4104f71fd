"""Leases: a living run keeps its attempt, and one that was stopped can do no harm any more."""

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from itertools import cycle

import pytest

from tests.crashes.processes import SIGKILL, in_child, kill_self
from tests.doubles.commit_store import MemoryCommitStepStore
from tests.doubles.wired import gone, wired
from tests.spark_jobs.commit.notes import CONTEXT, NOON, SIGNAL_SECONDS, WORLD, ScriptedClock, notes, promise
from tests.spark_jobs.commit.notes import empty_world as empty_world
from tidegate.spark_jobs.commit.finish import POLL_SECONDS, WAIT_SECONDS, finish
from tidegate.spark_jobs.commit.lease import LEASE, LEASE_SECONDS, RENEWALS_PER_LEASE, AttemptLease, Heartbeat
from tidegate.spark_jobs.commit.process import UNKNOWN, new_owner, this_machine
from tidegate.spark_jobs.commit.publish import publish
from tidegate.spark_jobs.commit.sequence import encode_result
from tidegate.spark_jobs.errors import CommitBusy, CommitFenced

THIRD = LEASE / RENEWALS_PER_LEASE


@pytest.fixture
def store() -> MemoryCommitStepStore:
    return MemoryCommitStepStore()


def lease_ends(store: MemoryCommitStepStore) -> list[datetime]:
    return [one.until for one in store.attempts()]


def end_of_heartbeat(what: str) -> None:
    """Waits until a heartbeat has nothing left to prolong."""
    for thread in threading.enumerate():
        if thread.name == f"lease of {what}":
            thread.join(SIGNAL_SECONDS)


def test_an_attempt_is_renewed_while_its_run_lives_and_closed_when_it_ends(
    store: MemoryCommitStepStore,
) -> None:
    clock = ScriptedClock(beats=7)
    with AttemptLease(store, "c1", ["app/a"], at_least=41, clock=clock) as token:
        assert token == 42
        assert clock.quiet.wait(SIGNAL_SECONDS)
        assert lease_ends(store) == [NOON + 7 * THIRD + LEASE]
        assert not store.expire(token, clock.now())
    assert store.attempts() == ()


def test_an_attempt_is_closed_when_its_run_fails(store: MemoryCommitStepStore) -> None:
    with pytest.raises(ZeroDivisionError), AttemptLease(store, "c1", ["app/a"], clock=ScriptedClock()):
        _ = 1 / 0
    assert store.attempts() == ()


def test_a_run_that_was_given_up_publishes_nothing(store: MemoryCommitStepStore) -> None:
    """The process was stopped for longer than its lease; meanwhile another one cleared its staging."""
    clock = ScriptedClock()
    with AttemptLease(store, "c1", ["app/a"], clock=clock) as token:
        clock.move(LEASE_SECONDS)
        assert store.expire(token, clock.now())

        with pytest.raises(CommitFenced, match=r"closed: its lease of 120 s expired; nothing was published"):
            publish(notes("c1", token), store, CONTEXT, clock)

    assert WORLD.written == []
    assert store.list_unfinished() == ()


def test_a_run_that_was_given_up_fails_for_that_reason(store: MemoryCommitStepStore) -> None:
    """Its staging was removed while it wrote, and what it says of that would not lead to the cause."""
    clock = ScriptedClock()
    with pytest.raises(CommitFenced) as raised, AttemptLease(store, "c1", ["app/a"], clock=clock) as token:
        store.end(token)
        clock.beats = 1
        end_of_heartbeat("an attempt of commit c1")
        raise FileNotFoundError("part-00000.parquet")
    assert isinstance(raised.value.__cause__, FileNotFoundError)


@pytest.mark.parametrize("finished", [False, True])
def test_a_run_that_has_put_is_not_given_up(store: MemoryCommitStepStore, finished: bool) -> None:
    """To finish what it has put may take longer than a lease."""
    clock = ScriptedClock()
    with pytest.raises(ZeroDivisionError), AttemptLease(store, "c1", ["app/a"], clock=clock) as token:
        store.put("c1", ["app/a"], token, "steps")
        if finished:
            store.remove("c1", "[]")
        clock.beats = 1
        end_of_heartbeat("an attempt of commit c1")
        _ = 1 / 0


def test_a_renewal_that_fails_is_tried_again_before_the_lease_is_over() -> None:
    down = cycle([True, False])

    def every_other_time(method: str) -> None:
        if method in ("renew", "end") and next(down):
            raise ConnectionError("the server is gone")

    store, clock = wired(MemoryCommitStepStore(), before=every_other_time), ScriptedClock(beats=2)
    with AttemptLease(store, "c1", ["app/a"], clock=clock):
        assert clock.quiet.wait(SIGNAL_SECONDS)
        assert lease_ends(store) == [NOON + 2 * THIRD + LEASE]


def test_an_attempt_that_cannot_be_closed_does_not_hide_why_the_run_failed() -> None:
    store = wired(MemoryCommitStepStore(), before=gone("renew", "end"))
    with pytest.raises(ZeroDivisionError), AttemptLease(store, "c1", ["app/a"], clock=ScriptedClock()):
        _ = 1 / 0


def test_a_heartbeat_that_has_stopped_beats_no_more() -> None:
    beats: list[int] = []
    clock = ScriptedClock(beats=2)
    heartbeat = Heartbeat("a test", lambda: bool(beats.append(1)) or True, clock)
    heartbeat.start()
    assert clock.quiet.wait(SIGNAL_SECONDS)
    heartbeat.stop()
    clock.beats = 5
    assert len(beats) == 2


def test_of_two_who_finish_a_sequence_one_works_and_the_other_waits(store: MemoryCommitStepStore) -> None:
    sequence = promise(store, "c1", texts=3)
    at_work, polled = threading.Event(), threading.Event()

    def meanwhile(note: str) -> None:
        at_work.set()
        assert polled.wait(SIGNAL_SECONDS)

    WORLD.meanwhile = meanwhile
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(finish, sequence, store, CONTEXT, ScriptedClock())
        assert at_work.wait(SIGNAL_SECONDS)
        second = finish(sequence, store, CONTEXT, ScriptedClock(polled=polled.set))

    assert second == first.result() == sequence.result
    assert WORLD.written == ["c1 1", "c1 2", "c1 3"], "each step was done once"


def test_an_owner_of_another_machine_is_waited_for_until_its_lease_is_over(
    store: MemoryCommitStepStore,
) -> None:
    sequence, clock = promise(store, "c1"), ScriptedClock()
    store.take("c1", "elsewhere/1/0123456789ab/7/1", now=NOON, until=NOON + LEASE)

    assert finish(sequence, store, CONTEXT, clock) == sequence.result

    assert LEASE <= clock.now() - NOON <= LEASE + timedelta(seconds=POLL_SECONDS)


def test_an_owner_that_goes_on_and_on_is_not_waited_for_for_ever(store: MemoryCommitStepStore) -> None:
    sequence, clock = promise(store, "c1"), ScriptedClock()
    other = "elsewhere/1/0123456789ab/7/1"

    def prolong() -> None:
        store.take("c1", other, now=clock.now(), until=clock.now() + LEASE)

    prolong()
    clock.polled = prolong
    with pytest.raises(CommitBusy, match=f"held by {other} for {WAIT_SECONDS} s"):
        finish(sequence, store, CONTEXT, clock)

    assert clock.now() - NOON == timedelta(seconds=WAIT_SECONDS)
    state = store.recovery_state("c1")
    assert state is not None and state.failures == 0


def test_a_dead_owner_of_this_machine_is_not_waited_for(store: MemoryCommitStepStore) -> None:
    """Where the system tells processes apart; elsewhere its lease has to end."""
    sequence, polls = promise(store, "c1"), list[int]()
    store.take("c1", owner_that_was_killed(), now=NOON, until=NOON + LEASE)

    assert finish(sequence, store, CONTEXT, ScriptedClock(polled=lambda: polls.append(1))) == sequence.result

    assert (polls == []) == (UNKNOWN not in this_machine())


def owner_that_was_killed() -> str:
    """The name of a process of this machine that is no more."""
    reads, writes = os.pipe()

    def dying() -> None:
        os.write(writes, new_owner().encode())
        kill_self()

    assert in_child(dying) == SIGKILL
    os.close(writes)
    with os.fdopen(reads) as pipe:
        return pipe.read()


def test_whoever_loses_a_sequence_stops_and_waits_for_the_new_owner(store: MemoryCommitStepStore) -> None:
    """It was stopped in the middle of a step for longer than its lease; another one took over."""
    sequence, clock = promise(store, "c1", texts=3), ScriptedClock()
    other = "elsewhere/1/0123456789ab/7/1"

    def stand_still(note: str) -> None:
        clock.move(LEASE_SECONDS)
        store.take("c1", other, now=clock.now(), until=clock.now() + LEASE)
        clock.beats = 1
        end_of_heartbeat("commit c1")

    WORLD.meanwhile = stand_still
    clock.polled = lambda: store.remove("c1", encode_result(sequence.result))

    assert finish(sequence, store, CONTEXT, clock) == sequence.result

    assert WORLD.written == ["c1 1"], "what it was doing is done; the rest is the other one's"
