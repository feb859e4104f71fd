"""The JVM of a process, seen from outside of its session: ended, hung, or well. Others take its place."""

import socket
import subprocess
import threading
from collections.abc import Iterator
from datetime import timedelta
from types import SimpleNamespace

import pytest

from tests.crashes.processes import in_child
from tests.doubles.commit_store import MemoryCommitStepStore
from tests.spark_jobs.commit.notes import (
    CONTEXT,
    NOON,
    SIGNAL_SECONDS,
    WORLD,
    ScriptedClock,
    failures,
    promise,
)
from tests.spark_jobs.commit.notes import empty_world as empty_world
from tidegate.spark_jobs.commit.finish import finish
from tidegate.spark_jobs.commit.lease import LEASE, RENEWALS_PER_LEASE, AttemptLease, Heartbeat
from tidegate.spark_jobs.java import jvm

THIRD = LEASE / RENEWALS_PER_LEASE
SHORT_SECONDS = 0.2


@pytest.fixture
def process() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(["sleep", "60"]) as started:
        yield started
        started.kill()


@pytest.fixture
def server() -> Iterator[socket.socket]:
    """A port that takes connections, as the system does for a process that hangs."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening


@pytest.fixture
def gateway(
    process: subprocess.Popen[bytes], server: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> SimpleNamespace:
    host, port = server.getsockname()
    where = SimpleNamespace(address=host, port=port, auth_token="secret")
    made = SimpleNamespace(proc=process, java_parameters=where)
    monkeypatch.setattr(jvm, "_gateway", lambda: made)
    return made


def answering(server: socket.socket) -> threading.Thread:
    """Answer one connection as a JVM does."""

    def answer() -> None:
        connection, _ = server.accept()
        with connection:
            assert connection.recv(100) == b"A\nsecret\n"
            connection.sendall(b"!yv\n")

    thread = threading.Thread(target=answer)
    thread.start()
    return thread


def test_a_process_without_a_jvm_has_nothing_that_ends_or_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jvm, "_gateway", lambda: None)
    assert (jvm.answers(), jvm.has_ended()) == (True, False)
    assert not jvm.was_lost(ConnectionRefusedError())
    jvm.kill()


def test_one_that_answers_is_well(gateway: SimpleNamespace, server: socket.socket) -> None:
    thread = answering(server)
    assert jvm.answers()
    thread.join()


def test_one_that_takes_a_connection_and_says_nothing_hangs(gateway: SimpleNamespace) -> None:
    assert not jvm.answers(SHORT_SECONDS)
    assert not jvm.has_ended()


def test_one_that_was_killed_has_ended(gateway: SimpleNamespace) -> None:
    assert not jvm.has_ended()
    jvm.kill()
    assert jvm.was_lost(ConnectionResetError()), "the system may need a moment to report its end"
    assert jvm.has_ended()
    assert not jvm.answers()
    gateway.proc.wait()
    assert jvm.has_ended(), "also once its exit code was read"
    jvm.kill()


def test_one_whose_end_the_system_reports_late_was_lost(gateway: SimpleNamespace) -> None:
    """Its connections break first; the system goes on accepting new ones, and nothing answers them."""
    timer = threading.Timer(2.5, gateway.proc.kill)
    timer.start()
    assert jvm.was_lost(ConnectionResetError())
    timer.join()


def test_one_that_answers_after_an_error_was_not_lost(
    gateway: SimpleNamespace, server: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jvm, "END_SECONDS", 3600)
    thread = answering(server)
    assert not jvm.was_lost(ConnectionRefusedError("of a catalog"))
    thread.join()


def test_one_that_was_replaced_since_the_work_began_was_lost(
    gateway: SimpleNamespace, server: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jvm, "_replaced", [])
    since = jvm.ends()
    jvm.note_end()
    assert jvm.was_lost(ConnectionResetError(), since)
    assert not jvm.was_lost(ValueError("no fares"), since)
    thread = answering(server)
    assert not jvm.was_lost(ConnectionResetError(), jvm.ends()), "the work began after it"
    thread.join()


def test_a_forked_child_does_not_take_the_jvm_of_its_parent_for_dead(gateway: SimpleNamespace) -> None:
    def look() -> None:
        assert not jvm.has_ended()

    assert in_child(look) == 0


def test_an_error_of_a_living_jvm_is_an_error(
    gateway: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jvm, "END_SECONDS", SHORT_SECONDS)
    assert not jvm.was_lost(ValueError("no fares"))
    assert not jvm.was_lost(ConnectionRefusedError("of a catalog"))
    assert jvm.was_lost(RuntimeError("[JAVA_GATEWAY_EXITED] Java gateway process exited")), (
        "died at its start"
    )
    caused = RuntimeError("the step failed")
    caused.__cause__ = EOFError()
    assert not jvm.was_lost(caused)
    jvm.kill()
    assert jvm.was_lost(caused)


def test_a_lease_is_not_renewed_while_the_jvm_hangs_and_again_when_it_answers() -> None:
    hung, beats, clock = [False, True, False], list[int](), ScriptedClock(beats=3)
    heartbeat = Heartbeat("a test", lambda: not beats.append(1), clock, answers=lambda: not hung.pop(0))
    heartbeat.start()
    assert clock.quiet.wait(SIGNAL_SECONDS)
    heartbeat.stop()
    assert len(beats) == 2


def test_the_attempt_of_a_hung_jvm_lapses_and_the_jvm_is_killed(
    monkeypatch: pytest.MonkeyPatch, gateway: SimpleNamespace
) -> None:
    monkeypatch.setattr(jvm.answers, "__defaults__", (SHORT_SECONDS,))
    store, clock = MemoryCommitStepStore(), ScriptedClock(beats=4)
    with AttemptLease(store, "c1", ["app/a"], clock=clock) as token:
        assert clock.quiet.wait(SIGNAL_SECONDS)
        assert [one.until for one in store.attempts()] == [NOON + LEASE], "as it was taken"
        assert store.expire(token, clock.now())
        # The call that waits for its answer fails, and the step is tried again with another one.
        assert gateway.proc.wait(SIGNAL_SECONDS) < 0


def test_one_that_hangs_for_a_whole_lease_is_reported_once_per_beat() -> None:
    ended, clock = list[timedelta](), ScriptedClock(beats=4)
    heartbeat = Heartbeat(
        "a test", lambda: True, clock, answers=lambda: False, hung=lambda: ended.append(clock.now() - NOON)
    )
    heartbeat.start()
    assert clock.quiet.wait(SIGNAL_SECONDS)
    heartbeat.stop()
    assert ended == [LEASE, LEASE + THIRD]


def test_the_end_of_a_jvm_is_no_failure_of_the_sequence(gateway: SimpleNamespace) -> None:
    """Three of them once blocked a healthy dataset."""
    store = MemoryCommitStepStore()
    sequence = promise(store, "c1")
    jvm.kill()
    gateway.proc.wait()
    for _ in range(6):
        WORLD.broken = {"c1 1": ConnectionRefusedError("the gateway")}
        with pytest.raises(Exception, match="gateway"):
            finish(sequence, store, CONTEXT, ScriptedClock())
        assert failures(store, "c1") == (0, ""), "and it is free for the next try"
    WORLD.broken = {}
    assert finish(sequence, store, CONTEXT, ScriptedClock()) == sequence.result


def test_a_sequence_that_cannot_be_released_does_not_hide_the_end_of_the_jvm(
    gateway: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = MemoryCommitStepStore()
    sequence = promise(store, "c1")
    jvm.kill()

    def unreachable(*_: object) -> None:
        raise ConnectionError("the store is away")

    monkeypatch.setattr(store, "release", unreachable)
    WORLD.broken = {"c1 1": EOFError()}
    with pytest.raises(EOFError):
        finish(sequence, store, CONTEXT, ScriptedClock())
