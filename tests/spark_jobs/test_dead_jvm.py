"""A real JVM that is killed, or stopped: its session is not used again, and no sequence is blamed.

In a process of its own, so that the session of the other tests is left alone.
"""

import os
import signal
import threading
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest
from pyspark import SparkContext, java_gateway

from tests.crashes.processes import in_child
from tests.doubles.commit_store import MemoryCommitStepStore
from tests.effort import EFFORT
from tests.interpreted import INTERPRETED
from tests.spark_jobs.commit.notes import CONTEXT, failures
from tests.spark_jobs.staging import begin
from tidegate.domain.published import PublishedPartition
from tidegate.domain.value import Value
from tidegate.spark_jobs.commit.context import CommitContext
from tidegate.spark_jobs.commit.recovery import recover_all
from tidegate.spark_jobs.commit.sequence import CommitSequence, encode_sequence
from tidegate.spark_jobs.commit.step import DONE, NOT_DONE, Effect, Verified, step_kind
from tidegate.spark_jobs.iceberg.catalog.failures import java_failures
from tidegate.spark_jobs.java import jvm
from tidegate.spark_jobs.session.session import SparkSettings, session

pytestmark = pytest.mark.spark

SETTINGS = SparkSettings(master="local[1]", conf={"spark.driver.memory": "512m", **INTERPRETED})
DEATHS: list[int] = []
DONE_BY: list[int] = []


def pid() -> int:
    gateway: Any = session(SETTINGS).sparkContext._gateway
    return gateway.proc.pid


@step_kind("deadly")
class Deadly(Value, kw_only=True):
    """Counts with Spark; the first time its JVM is killed meanwhile. Its check takes the next JVM."""

    effect: ClassVar[Effect] = Effect.PUBLISHES

    def verify(self, context: CommitContext) -> Verified:
        assert session(SETTINGS).range(3).count() == 3
        return DONE if DONE_BY else NOT_DONE

    def execute(self, context: CommitContext) -> None:
        java: Any = session(SETTINGS)._jsparkSession
        if not DEATHS:
            DEATHS.append(pid())
            os.kill(pid(), signal.SIGKILL)
        with java_failures("count"):
            DONE_BY.append(java.range(10).count())

    def describe(self) -> str:
        return "count"


def killed_during_recovery() -> None:
    """The JVM is killed while recovery works; the next try gets another one and finishes.

    Often the first try has got it already, to see what the killed one has left.
    """
    DEATHS.clear()
    DONE_BY.clear()
    store = MemoryCommitStepStore()
    part = PublishedPartition(dataset="a", key="", rows=1, bytes=1, files=1)
    sequence = CommitSequence(
        id="c1",
        datasets=("app/a",),
        token=begin(store, "c1", ("app/a",)),
        steps=(Deadly(),),
        result=(part,),
    )
    assert store.put("c1", ("app/a",), sequence.token, encode_sequence(sequence)) == "stored"

    since = jvm.ends()
    (first,) = recover_all(store, CONTEXT)
    assert first.error is not None and jvm.was_lost(first.error, since), first.error
    assert failures(store, "c1") == (0, "")

    (second,) = recover_all(store, CONTEXT)
    assert second.error is None
    assert pid() not in DEATHS


def killed_and_reported_late() -> None:
    """The system reports the end of the JVM only when the check of the step has failed too."""
    ended, calls = jvm.has_ended, 0

    def late() -> bool:
        nonlocal calls
        calls += len(DEATHS)
        # First the step asks, to kill it, then the check.
        return calls > 2 and ended()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jvm, "has_ended", late)
        killed_during_recovery()


def stopped_during_a_call() -> None:
    """The JVM hangs: it answers nothing, and once it is killed the call that waits for it fails."""
    spark, hangs = session(SETTINGS), pid()
    assert jvm.answers()
    os.kill(hangs, signal.SIGSTOP)
    assert not jvm.answers(0.5)
    assert not jvm.has_ended()
    threading.Timer(0.5, jvm.kill).start()
    with pytest.raises(Exception) as raised:
        spark.range(10).count()
    assert jvm.was_lost(raised.value), raised.value
    again = session(SETTINGS)
    assert again.range(3).count() == 3
    assert pid() != hangs
    again.stop()


def killed_while_it_starts() -> None:
    """The JVM is killed before there is a session; the next try gets another JVM."""
    context: Any = SparkContext
    begin = context._initialize_context

    def dying(self: Any, conf: Any) -> Any:
        DEATHS.append(self._gateway.proc.pid)
        os.kill(DEATHS[-1], signal.SIGKILL)
        return begin(self, conf)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(context, "_initialize_context", dying)
        with pytest.raises(Exception) as raised:
            session(SETTINGS)
    assert jvm.was_lost(raised.value), raised.value
    assert session(SETTINGS).range(3).count() == 3
    assert pid() not in DEATHS


def test_a_jvm_whose_start_is_interrupted_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    module: Any = java_gateway
    started, popen = list[Any](), module.Popen

    def noted(*given: Any, **named: Any) -> Any:
        started.append(popen(*given, **named))
        return started[-1]

    def interrupted(_seconds: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(java_gateway, "Popen", noted)
    monkeypatch.setattr(java_gateway, "time", SimpleNamespace(sleep=interrupted))

    with pytest.raises(KeyboardInterrupt), jvm.starting():
        java_gateway.launch_gateway()

    assert [each.wait(30) for each in started] == [-signal.SIGKILL]
    assert module.Popen is noted


def test_a_jvm_that_dies_or_hangs_is_replaced_and_blocks_nothing() -> None:
    """Each death takes the JVM that has replaced the one before."""

    def work() -> None:
        killed_while_it_starts()
        if EFFORT > 1:  # whichever comes first
            killed_during_recovery()
        killed_and_reported_late()
        stopped_during_a_call()

    assert in_child(work) == 0
