"""What dead runs have left is finished once, in order, side by side, and not without end in vain."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import create_engine

from tests.doubles.commit_store import MemoryCommitStepStore
from tests.spark_jobs.commit.notes import (
    CONTEXT,
    NOON,
    SIGNAL_SECONDS,
    WORLD,
    ScriptedClock,
    attempt,
    failures,
    notes,
    promise,
)
from tests.spark_jobs.commit.notes import empty_world as empty_world
from tests.spark_jobs.staging import begin, parts_of
from tidegate.domain.commit_store import CommitStepStore
from tidegate.scheduler.store.commits.steps import SqlCommitStepStore
from tidegate.scheduler.store.sql.schema import bring_up_to_date
from tidegate.spark_jobs.commit.context import NoEvents
from tidegate.spark_jobs.commit.publish import publish
from tidegate.spark_jobs.commit.recovery import (
    BLOCKED_AFTER,
    THREADS,
    independent,
    one_at_a_time,
    recover,
    recover_all,
)
from tidegate.spark_jobs.commit.sequence import CommitSequence, watermark_resource
from tidegate.spark_jobs.commit.state import commit_to_publish
from tidegate.spark_jobs.commit.steps.set_watermark import SetWatermark
from tidegate.spark_jobs.errors import (
    CommitAbandoned,
    CommitBlocked,
    CommitConflict,
    CommitFailed,
    CommitFenced,
    CommitUnknown,
)


@pytest.fixture(params=["memory", pytest.param("sqlite", marks=pytest.mark.store)])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[CommitStepStore]:
    if request.param == "memory":
        yield MemoryCommitStepStore()
        return
    engine = create_engine(f"sqlite:///{tmp_path}/commits.db")
    bring_up_to_date(engine, create=True)
    yield SqlCommitStepStore(engine)
    engine.dispose()


def test_what_was_left_is_finished_oldest_first_and_nothing_else_is(store: CommitStepStore) -> None:
    for commit, datasets in (("c1", ["app/a"]), ("c2", ["app/b"]), ("c3", ["app/a", "app/c"])):
        promise(store, commit, *datasets)

    assert recover(["app/a", "app/x"], store, CONTEXT) == ("c1", "c3")

    assert WORLD.written == ["c1 1", "c3 1"]
    assert store.list_unfinished() == ("c2",)
    assert recover(["app/a"], store, CONTEXT) == ()


@pytest.mark.parametrize(
    ("left", "groups"),
    [
        ({}, []),
        ({"c1": "a", "c2": "b"}, ["c1", "c2"]),
        ({"c1": "a", "c2": "a"}, ["c1 c2"]),
        ({"c1": "a", "c2": "b", "c3": "ab"}, ["c1 c2 c3"]),
        ({"c1": "ab", "c2": "c", "c3": "bd", "c4": "d"}, ["c2", "c1 c3 c4"]),
    ],
)
def test_sequences_with_a_dataset_in_common_come_one_after_the_other(
    left: dict[str, str], groups: list[str]
) -> None:
    sequences = [notes(commit, token, *datasets) for token, (commit, datasets) in enumerate(left.items())]
    assert [" ".join(one.id for one in group) for group in independent(sequences)] == groups


def test_independent_ones_are_finished_at_the_same_time(store: CommitStepStore) -> None:
    together = threading.Barrier(THREADS, timeout=SIGNAL_SECONDS)
    WORLD.meanwhile = lambda note: together.wait()
    for number in range(THREADS):
        promise(store, f"c{number}", f"app/{number}")

    done = recover_all(store, CONTEXT)

    assert [one.error for one in done] == [None] * THREADS
    assert store.list_unfinished() == ()


def test_a_failing_sequence_is_counted_and_stops_those_behind_it_only(store: CommitStepStore) -> None:
    for commit, datasets in (("c1", ["app/a"]), ("c2", ["app/a", "app/b"]), ("c3", ["app/c"])):
        promise(store, commit, *datasets)
    WORLD.broken["c1 1"] = OSError("no space left on device")

    first, second, third = recover_all(store, CONTEXT, clock=ScriptedClock())

    assert isinstance(first.error, CommitFailed) and "no space left" in str(first.error)
    assert isinstance(second.error, CommitBlocked) and "waits for commit c1" in str(second.error)
    assert (third.commit, third.datasets, third.error) == ("c3", ("app/c",), None)
    assert WORLD.written == ["c3 1"]
    assert failures(store, "c1")[0] == 1
    assert failures(store, "c2") == (0, "")


def test_a_run_is_told_of_the_failure_and_not_of_what_waits_for_it(store: CommitStepStore) -> None:
    promise(store, "c1", "app/b")
    promise(store, "c2", "app/a", "app/b")
    WORLD.broken["c1 1"] = RuntimeError("the catalog says no")
    with pytest.raises(RuntimeError, match="the catalog says no"):
        recover(["app/a", "app/b"], store, CONTEXT)


def test_after_so_many_failures_its_datasets_are_blocked_and_no_others(store: CommitStepStore) -> None:
    promise(store, "c1", "app/a", "app/b")
    promise(store, "c2", "app/c")
    WORLD.broken["c1 1"] = RuntimeError("the catalog says no")
    for _ in range(BLOCKED_AFTER):
        with pytest.raises(RuntimeError, match="the catalog says no"):
            recover(["app/a"], store, CONTEXT)

    tries: list[str] = []
    WORLD.meanwhile = tries.append
    for dataset in ("app/a", "app/b"):
        with pytest.raises(CommitBlocked) as blocked:
            recover([dataset], store, CONTEXT)
    assert tries == [], "it is not tried any more"
    assert "commit c1 has failed 5 times, and app/a, app/b cannot be written" in blocked.value.message
    assert "RuntimeError: the catalog says no" in blocked.value.message
    assert "tidegate commits abandon c1" in blocked.value.hint
    assert recover(["app/c"], store, CONTEXT) == ("c2",)

    WORLD.broken.clear()
    (done,) = recover_all(store, CONTEXT, include_blocked=True)
    assert done.error is None
    assert recover(["app/a", "app/b"], store, CONTEXT) == ()


def test_a_step_that_cannot_tell_is_a_failure_too(store: CommitStepStore) -> None:
    promise(store, "c1")
    WORLD.unclear.add("c1 1")
    with pytest.raises(CommitUnknown, match="its evidence is gone"):
        recover(["app/a"], store, CONTEXT)
    assert failures(store, "c1")[0] == 1


def test_a_publish_that_fails_has_failed_once(store: CommitStepStore) -> None:
    WORLD.broken["c1 1"] = RuntimeError("x" * 10_000)
    with pytest.raises(RuntimeError):
        publish(attempt(store, "c1"), store, CONTEXT)
    count, error = failures(store, "c1")
    assert count == 1 and error.startswith("RuntimeError: xxx") and len(error) < 5_000


def test_a_process_that_is_told_to_end_lets_go_and_has_not_failed(store: CommitStepStore) -> None:
    sequence = promise(store, "c1")
    WORLD.broken["c1 1"] = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        parts_of("c1", store, CONTEXT)
    assert failures(store, "c1") == (0, "")

    WORLD.broken.clear()
    assert parts_of("c1", store, CONTEXT) == sequence.result


def test_a_sequence_of_another_version_is_told_and_stops_nobody_else(store: CommitStepStore) -> None:
    store.put("c1", ["app/a"], begin(store, "c1", ["app/a"]), '{"from": "the future"}')
    promise(store, "c2", "app/b")

    with pytest.raises(CommitUnknown, match="commit c1 cannot be read"):
        recover(["app/a", "app/b"], store, CONTEXT)

    assert store.list_unfinished() == ("c1",)


def abandon_at_once(store: CommitStepStore, note: str) -> None:
    """What a person does to the sequence of a note whose owner they take for dead."""
    commit = note.split()[0]
    state = store.recovery_state(commit)
    assert state is not None
    store.release(commit, state.owner)
    assert store.abandon(commit, "by hand", NOON)


def test_one_that_is_abandoned_meanwhile_is_not_missed(store: CommitStepStore) -> None:
    for commit in ("c1", "c2"):
        promise(store, commit)

    def abandon(note: str) -> None:
        if note == "c1 1":
            abandon_at_once(store, note)

    WORLD.meanwhile = abandon
    assert [(one.commit, one.error) for one in recover_all(store, CONTEXT)] == [("c2", None)]


def test_a_run_whose_sequence_is_abandoned_meanwhile_has_failed(store: CommitStepStore) -> None:
    WORLD.meanwhile = lambda note: abandon_at_once(store, note)
    with pytest.raises(CommitAbandoned, match="may be partly published"):
        publish(attempt(store, "c1"), store, CONTEXT)
    assert commit_to_publish("c1", store) == "c1~2"


def test_what_is_done_anew_after_an_abandoned_commit_is_another_commit(store: CommitStepStore) -> None:
    """The tables may hold half of the first one, under its id."""
    late = attempt(store, "c1")
    promise(store, "c1")
    assert commit_to_publish("c1", store) == "c1"
    store.abandon("c1", "by hand", NOON)

    with pytest.raises(CommitFenced):
        publish(late, store, CONTEXT)
    assert commit_to_publish("c1", store) == commit_to_publish("c1~2", store) == "c1~2"

    promise(store, "c1~2")
    store.abandon("c1~2", "by hand", NOON)
    assert commit_to_publish("c1", store) == "c1~3"
    assert WORLD.written == []


def test_spark_is_started_by_one_thread_at_a_time() -> None:
    busy = threading.Lock()

    def start() -> None:
        assert busy.acquire(blocking=False), "two are in here"
        busy.release()

    started = one_at_a_time(start)  # pyright: ignore[reportArgumentType] -- what it starts matters not
    with ThreadPoolExecutor(THREADS) as pool:
        for waits in [pool.submit(started) for _ in range(100)]:
            waits.result()


WEEKLY, FLIGHTS = "app/weekly", "app/flights"


def incremental(store: CommitStepStore, commit: str, number: int, part: str = "") -> CommitSequence:
    """A publish of what was new of the flights since move `number` - 1."""
    token = begin(store, commit, ["app/a"])
    step = SetWatermark(
        consumer=WEEKLY, source=FLIGHTS, part=part, number=number, position=commit, commit=commit
    )
    return CommitSequence(
        id=commit,
        datasets=("app/a", watermark_resource(WEEKLY, FLIGHTS)),
        token=token,
        steps=(*notes(commit, token).steps, step),
        result=(),
    )


def position(store: CommitStepStore) -> dict[str, str]:
    return {part: mark.position for part, mark in store.watermarks(WEEKLY, FLIGHTS).items()}


def test_of_two_runs_that_read_the_same_new_rows_one_publishes(store: CommitStepStore) -> None:
    first, second = incremental(store, "c1", 1), incremental(store, "c2", 1)
    publish(first, store, CONTEXT)

    with pytest.raises(CommitConflict, match="commit c2: another run has read the new rows of app/flights"):
        publish(second, store, CONTEXT)

    assert WORLD.written == ["c1 1"]
    assert position(store) == {"": "c1"}
    publish(incremental(store, "c3", 2), store, CONTEXT)
    assert position(store) == {"": "c3"}


def test_what_was_promised_of_a_source_is_finished_before_it_is_read_again(store: CommitStepStore) -> None:
    """P6: the data is there, the watermark not yet."""
    dead, late = incremental(store, "c1", 1), incremental(store, "c2", 1)
    WORLD.broken["c1 1"] = SystemExit()
    with pytest.raises(SystemExit):
        publish(dead, store, CONTEXT)
    WORLD.broken.clear()

    with pytest.raises(CommitConflict):
        publish(late, store, CONTEXT)
    assert recover([watermark_resource(WEEKLY, FLIGHTS)], store, CONTEXT) == ("c1",)

    assert WORLD.written == ["c1 1"]
    assert position(store) == {"": "c1"}


def test_runs_that_read_different_parts_do_not_meet(store: CommitStepStore) -> None:
    for sequence in [incremental(store, f"c {part}", 1, part) for part in ("JFK", "LGA")]:
        publish(sequence, store, CONTEXT)
    assert position(store) == {"JFK": "c JFK", "LGA": "c LGA"}


class Listener(NoEvents):
    """Hears which commits are finished; cannot be reached the first few times."""

    def __init__(self, unreachable: int = 0) -> None:
        self.heard: list[tuple[str, bool]] = []
        self.unreachable = unreachable
        self.store = MemoryCommitStepStore()

    def record_finished(self, commit: str) -> None:
        if self.unreachable:
            self.unreachable -= 1
            raise ConnectionError("the store is away")
        self.heard.append((commit, self.store.get(commit) is not None))


def test_the_engine_hears_of_a_finished_commit_before_it_is_removed() -> None:
    events = Listener(unreachable=1)
    promise(events.store, "c1")
    context = replace(CONTEXT, events=events)

    with pytest.raises(ConnectionError):
        recover(["app/a"], events.store, context)
    assert events.store.get("c1") is not None
    assert recover(["app/a"], events.store, context) == ("c1",)

    assert events.heard == [("c1", True)]
    assert WORLD.written == ["c1 1"]
