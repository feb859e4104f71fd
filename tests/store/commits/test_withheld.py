"""Withheld sequences in the stores: what ends one, and what it leaves alone."""

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from sqlalchemy import Engine

from tests.store.commits.sequences import FAILED, NOON, begin, put
from tidegate.domain.commit_store import CommitStepStore
from tidegate.domain.commits import Put, WatermarkMove
from tidegate.scheduler.model.records.withheld_publish import WITHHELD_PUBLISHES, WithheldPublish
from tidegate.scheduler.store.commits.steps import SqlCommitStepStore
from tidegate.scheduler.store.sql.store import SqlStore

MOVE: WatermarkMove = ("app/p", "app/s", "JFK", 1)
OTHER_PART: WatermarkMove = ("app/p", "app/s", "LGA", 1)
ROUNDS = 5
SECONDS_MAX = 30
OTHER_PROGRAM: WatermarkMove = ("app/q", "app/s", "JFK", 1)


def withhold(
    store: CommitStepStore, commit: str, body: str = "steps", moves: Sequence[WatermarkMove] = ()
) -> Put:
    """Withholds a sequence in an attempt of its own."""
    token = begin(store, commit)
    return store.withhold(commit, ["app/a"], token, body, moves, [FAILED], NOON + timedelta(seconds=token))


def withheld(store: CommitStepStore) -> list[str]:
    return [each.commit for each in store.list_withheld()]


def test_it_is_kept_and_is_not_unfinished(store: CommitStepStore) -> None:
    assert withhold(store, "c1", "text", [MOVE]) == "stored"
    kept = store.withheld("c1")
    assert kept is not None
    assert (kept.body, kept.token, kept.datasets, kept.verdicts) == ("text", 1, ("app/a",), (FAILED,))
    assert store.list_withheld("app/a") == (kept,)
    assert store.list_withheld("app/b") == ()
    assert (store.attempts(), store.list_unfinished(), store.get("c1"), store.result("c1")) == (
        (),
        (),
        None,
        None,
    )


def test_it_blocks_neither_a_put_nor_a_watermark(store: CommitStepStore) -> None:
    withhold(store, "c1", moves=[MOVE])
    assert put(store, "c2", moves=[OTHER_PART]) == "stored"
    assert withheld(store) == ["c1"]
    assert put(store, "c3", moves=[MOVE]) == "stored"
    assert withheld(store) == []


@pytest.mark.parametrize(
    ("later", "moves", "left"),
    [
        ("c1", [], []),
        ("c1~2", [], []),
        ("c1.r2", [], []),
        ("c2", [MOVE], []),
        ("c2", [OTHER_PART], ["c1"]),
        ("c2", [OTHER_PROGRAM], ["c1"]),
        ("c2", [], ["c1"]),
    ],
)
@pytest.mark.parametrize("how", ["put", "withheld"])
def test_what_ends_it(
    store: CommitStepStore, how: str, later: str, moves: list[WatermarkMove], left: list[str]
) -> None:
    withhold(store, "c1", moves=[MOVE])
    if how == "put":
        assert put(store, later, moves=moves) == "stored"
        assert withheld(store) == left
    else:
        assert withhold(store, later, "newer", moves) == "stored"
        assert withheld(store) == [*left, later]


def test_an_earlier_work_of_a_job_does_not_end_that_of_a_later_one(store: CommitStepStore) -> None:
    withhold(store, "c1.r2")
    put(store, "c1")
    assert withheld(store) == ["c1.r2"]


def test_it_is_withheld_where_it_might_have_been_put(store: CommitStepStore) -> None:
    token = begin(store, "c1")
    store.end(token)
    assert store.withhold("c1", ["app/a"], token, "", (), [FAILED], NOON) == "fenced"
    assert put(store, "c1") == "stored"
    assert withhold(store, "c1") == "known"
    assert withhold(store, "c2", moves=[("app/p", "app/s", "JFK", 2)]) == "moved"
    assert withheld(store) == []


def release(
    store: CommitStepStore, commit: str, moves: Sequence[WatermarkMove] = (), seen: Sequence[str] = ()
) -> str:
    token = begin(store, commit)
    return store.put_withheld(commit, ["app/a"], token, "released", moves, seen)


def test_of_two_releases_one_puts(store: CommitStepStore) -> None:
    withhold(store, "c1", moves=[MOVE])
    assert release(store, "c1", [MOVE]) == "stored"
    assert (store.get("c1"), withheld(store)) == ("released", [])
    assert release(store, "c1", [MOVE]) == "known"
    assert store.list_unfinished("app/a") == ("c1",)


def test_of_a_release_and_an_abandonment_one_succeeds(store: CommitStepStore) -> None:
    withhold(store, "c1")
    assert store.abandon_withheld("c1")
    assert release(store, "c1") == "gone"
    assert not store.abandon_withheld("c1")
    withhold(store, "c1")
    assert release(store, "c1") == "stored"
    assert not store.abandon_withheld("c1")


@pytest.mark.store  # threads that wait for each other
@pytest.mark.parametrize("other", ["release", "abandon", "retry"])
def test_of_two_at_the_same_moment_one_succeeds(engine: Engine, other: str) -> None:
    first = SqlCommitStepStore(engine)
    for number in range(ROUNDS):
        commit, both = f"c{number}", threading.Barrier(2)
        withhold(first, commit)

        def decide(how: str, commit: str = commit, both: threading.Barrier = both) -> str:
            store = SqlCommitStepStore(engine)
            token = begin(store, commit)
            seen = [f"c{earlier}" for earlier in range(ROUNDS)]
            both.wait(SECONDS_MAX)
            match how:
                case "release":
                    return store.put_withheld(commit, ["app/a"], token, "released", (), seen)
                case "retry":
                    return store.put(commit, ["app/a"], token, "computed again")
                case _:
                    return "stored" if store.abandon_withheld(commit) else "gone"

        with ThreadPoolExecutor(2) as pool:
            answers = list(pool.map(decide, ("release", other)))
        assert answers.count("stored") == 1, answers
        assert {*answers} <= {"stored", "known", "gone"}
        assert first.withheld(commit) is None


def test_a_retry_that_puts_meanwhile_finds_what_was_released(store: CommitStepStore) -> None:
    withhold(store, "c1")
    retry = begin(store, "c1")
    assert release(store, "c1") == "stored"
    assert store.put("c1", ["app/a"], retry, "computed again") == "known"
    assert store.withhold("c1", ["app/a"], retry, "", (), [FAILED], NOON) == "known"
    assert store.get("c1") == "released"


def test_an_abandoned_one_leaves_its_id_to_the_next_attempt(store: CommitStepStore) -> None:
    withhold(store, "c1")
    store.abandon_withheld("c1")
    assert not store.was_abandoned("c1")
    assert put(store, "c1") == "stored"


def test_a_release_is_refused_once_a_watermark_has_moved(store: CommitStepStore) -> None:
    withhold(store, "c1", moves=[MOVE])
    # Without a commit of its own, as a process does that finishes one which was put before.
    store.set_watermark(MOVE, "further", "c0")
    assert release(store, "c1", [MOVE]) == "moved"
    assert withheld(store) == ["c1"]


def test_what_was_put_since_is_listed_and_must_have_been_looked_at(store: CommitStepStore) -> None:
    put(store, "older")
    withhold(store, "c1")
    put(store, "elsewhere", datasets=["app/b"])
    put(store, "newer")
    store.remove("newer", "its result")
    put(store, "newest")
    found = store.put_after(["app/a"], 2)
    assert [(each.commit, each.body, each.result) for each in found] == [
        ("newer", "", "its result"),
        ("newest", "steps", None),
    ]
    assert release(store, "c1", seen=["newer"]) == "again"
    assert release(store, "c1", seen=["newer", "newest"]) == "stored"


def test_the_engine_reads_it_without_its_text(sql_store: SqlStore) -> None:
    commits = SqlCommitStepStore(sql_store.engine)
    token = begin(commits, "job.r2~3")
    commits.withhold("job.r2~3", ["app/a", "app/p <- app/s"], token, "steps", [MOVE], [FAILED], NOON)
    with sql_store.reading() as reader:
        (found,) = reader.records(WITHHELD_PUBLISHES, job=["job"])
        assert reader.due_records(WITHHELD_PUBLISHES, None, 1) == (found,)
    assert found == WithheldPublish(
        commit="job.r2~3", job="job", token=token, datasets=("app/a",), verdicts=(FAILED,), at=NOON
    )
    assert found.failed == (FAILED,)
