"""Commit sequences without files and without Spark, and a clock of their own, for the tests of recovery.

A `Note` is a step whose whole effect is that its text is in `WORLD`. The world says as well what goes
wrong, and who is called while a step is executed.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import ClassVar

import pytest

from tests.spark_jobs.staging import begin
from tidegate.domain.commit_store import CommitStepStore
from tidegate.domain.published import PublishedPartition
from tidegate.domain.value import Value
from tidegate.spark_jobs.commit.context import CommitContext
from tidegate.spark_jobs.commit.finish import POLL_SECONDS
from tidegate.spark_jobs.commit.sequence import CommitSequence, encode_sequence
from tidegate.spark_jobs.commit.step import DONE, NOT_DONE, Effect, Verified, step_kind, unknown
from tidegate.spark_jobs.files.filesystem import LocalFiles

NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)
SIGNAL_SECONDS = 30
"""How long a test waits for a signal that always comes."""
LOOK_SECONDS = 0.002
"""How often a heartbeat looks whether the test lets it beat."""


@dataclass
class World:
    """What has happened, and what will go wrong.

    Attributes:
        written: the notes that are there, in the order in which they were executed, again if twice.
        broken: notes that cannot be written, and what is raised.
        unclear: notes that cannot tell whether they are there.
        meanwhile: called with the note while one is executed, before it is there.
    """

    written: list[str] = field(default_factory=list[str])
    broken: dict[str, BaseException] = field(default_factory=dict[str, BaseException])
    unclear: set[str] = field(default_factory=set[str])
    meanwhile: Callable[[str], object] = lambda note: None


WORLD = World()
CONTEXT = CommitContext(files=LocalFiles())


@pytest.fixture(autouse=True)
def empty_world() -> None:
    """Begin each test of a module that imports this with an empty world."""
    WORLD.__init__()


@step_kind("note")
class Note(Value, kw_only=True):
    """Writes its text into the world."""

    effect: ClassVar[Effect] = Effect.PUBLISHES

    text: str

    def verify(self, context: CommitContext) -> Verified:
        if self.text in WORLD.unclear:
            return unknown("its evidence is gone")
        return DONE if self.text in WORLD.written else NOT_DONE

    def execute(self, context: CommitContext) -> None:
        WORLD.meanwhile(self.text)
        if self.text in WORLD.broken:
            raise WORLD.broken[self.text]
        WORLD.written.append(self.text)

    def describe(self) -> str:
        return f"write {self.text}"


def notes(commit: str, token: int, *datasets: str, texts: int = 1) -> CommitSequence:
    """A sequence that writes "c1 1", "c1 2" and so on."""
    return CommitSequence(
        id=commit,
        datasets=datasets or ("app/a",),
        token=token,
        steps=tuple(Note(text=f"{commit} {number}") for number in range(1, texts + 1)),
        result=(PublishedPartition(dataset="a", key="", rows=1, bytes=1, files=1),),
    )


def attempt(store: CommitStepStore, commit: str, *datasets: str, texts: int = 1) -> CommitSequence:
    """Such a sequence with the token of an open attempt."""
    token = begin(store, commit, datasets or ("app/a",))
    return notes(commit, token, *datasets, texts=texts)


def promise(store: CommitStepStore, commit: str, *datasets: str, texts: int = 1) -> CommitSequence:
    """Keeps such a sequence, as a run does that dies right afterwards."""
    sequence = attempt(store, commit, *datasets, texts=texts)
    body = encode_sequence(sequence)
    assert store.put(commit, sequence.datasets, sequence.token, body) == "stored"
    return sequence


def failures(store: CommitStepStore, commit: str) -> tuple[int, str]:
    """How often a sequence has failed, and with what at last."""
    state = store.recovery_state(commit)
    assert state is not None and state.owner == ""
    return state.failures, state.error


class ScriptedClock:
    """A clock that is stopped, and moves only by what is waited for.

    Attributes:
        beats: how many heartbeats are to come now.
        quiet: set once they have.
        polled: called each time a process has waited for another owner.
    """

    def __init__(self, beats: int = 0, polled: Callable[[], object] = lambda: None) -> None:
        self.beats = beats
        self.quiet = threading.Event()
        self.polled = polled
        self._now = NOON
        self._lock = threading.Lock()

    def now(self) -> datetime:
        return self._now

    def move(self, seconds: float) -> None:
        """Time passes."""
        with self._lock:
            self._now += timedelta(seconds=seconds)

    def wait(self, stop: threading.Event, seconds: float) -> bool:
        if seconds == POLL_SECONDS:
            self.move(seconds)
            self.polled()
            return stop.is_set()
        while not stop.wait(LOOK_SECONDS):
            if self.beats > 0:
                self.beats -= 1
                self.move(seconds)
                return False
            self.quiet.set()
        return True
