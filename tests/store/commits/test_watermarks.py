"""The contract of a commit step store: watermarks, and of those who race for them one wins."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import Engine, text

from tests.store.commits.sequences import LEASE, NOON, begin, put
from tidegate.domain.commit_store import CommitStepStore
from tidegate.domain.commits import NewWatermark, Put, Watermark, WatermarkMove
from tidegate.scheduler.store.commits.steps import SqlCommitStepStore

WEEK, DAY = ("app/weekly", "app/flights"), ("app/daily", "app/flights")


def test_watermarks_move_by_one_and_never_back(store: CommitStepStore) -> None:
    assert store.watermarks(*WEEK) == {}
    assert not store.set_watermark((*WEEK, "JFK", 2), "skips the first", "c2")
    assert store.set_watermark((*WEEK, "JFK", 1), "p1", "c1")
    assert not store.set_watermark((*WEEK, "JFK", 1), "p1", "c1")
    assert not store.set_watermark((*WEEK, "JFK", 3), "skips one", "c3")
    assert store.set_watermark((*WEEK, "JFK", 2), "p2", "c2")
    assert not store.set_watermark((*WEEK, "JFK", 1), "back", "c1")
    assert store.set_watermark((*WEEK, "", 1), "all", "c1")
    assert store.set_watermark((*DAY, "JFK", 1), "other", "c1")

    seen = {part: (mark.number, mark.position, mark.commit) for part, mark in store.watermarks(*WEEK).items()}
    assert seen == {"JFK": (2, "p2", "c2"), "": (1, "all", "c1")}
    assert [set(store.watermarks(*WEEK, part)) for part in ("JFK", "", "EWR")] == [{"JFK"}, {""}, set()]
    assert {part: mark.number for part, mark in store.watermarks(*WEEK, "JFK").items()} == {"JFK": 2}
    assert store.watermarks(*WEEK, "EWR") == {}
    assert store.followers() == (DAY, WEEK)


def test_many_watermarks_move_at_once_and_those_at_another_number_stay(store: CommitStepStore) -> None:
    store.set_watermarks([])
    parts = [f"part {number}" for number in range(2_000)]
    store.set_watermarks([NewWatermark((*WEEK, part, 1), "p1", "c1") for part in parts])
    assert set(store.watermarks(*WEEK).values()) == {Watermark(1, "p1", "c1")}
    assert store.set_watermark((*WEEK, parts[0], 2), "by another", "c2")

    store.set_watermarks(
        [
            *(NewWatermark((*WEEK, part, 2), "p2", "c3") for part in parts),
            NewWatermark((*WEEK, "first", 1), "p1", "c3"),
            NewWatermark((*WEEK, "skips", 3), "p3", "c3"),
        ]
    )

    marks = store.watermarks(*WEEK)
    assert marks[parts[0]] == Watermark(2, "by another", "c2")
    assert {marks[part] for part in parts[1:]} == {Watermark(2, "p2", "c3")}
    assert marks["first"] == Watermark(1, "p1", "c3")
    assert "skips" not in marks


@pytest.mark.parametrize(
    ("moves", "answer"),
    [
        ([(*WEEK, "JFK", 2), (*WEEK, "LGA", 1)], "stored"),
        ([(*WEEK, "JFK", 1)], "moved"),
        ([(*WEEK, "JFK", 3)], "moved"),
        ([(*WEEK, "LGA", 2)], "moved"),
        ([(*WEEK, "EWR", 1)], "moved"),
        ([(*WEEK, "LGA", 1), (*WEEK, "EWR", 1)], "moved"),
        ([(*DAY, "EWR", 1), (*DAY, "JFK", 1)], "stored"),
        ([(*WEEK, "JFK", 2), (*DAY, "JFK", 2)], "moved"),
    ],
)
def test_a_sequence_is_kept_only_if_its_watermarks_stand_where_it_read_them(
    store: CommitStepStore, moves: list[WatermarkMove], answer: Put
) -> None:
    """Given JFK is at move 1, and an unfinished sequence is about to move EWR."""
    store.set_watermark((*WEEK, "JFK", 1), "p1", "c0")
    put(store, "c1", moves=[(*WEEK, "EWR", 1)])
    token = begin(store, "c2")

    assert store.put("c2", ["app/a"], token, "steps", moves) == answer

    assert (store.get("c2") is not None) == (answer == "stored")
    assert store.renew(token, NOON + LEASE) == (answer != "stored"), "only a put that is kept ends it"


def test_a_finished_or_abandoned_sequence_is_in_no_ones_way(store: CommitStepStore) -> None:
    put(store, "c1", moves=[(*WEEK, "", 1)])
    store.set_watermark((*WEEK, "", 1), "p1", "c1")
    store.remove("c1", "done")
    assert put(store, "c2", moves=[(*WEEK, "", 2)]) == "stored"
    store.abandon("c2", "", NOON)
    assert put(store, "c3", moves=[(*WEEK, "", 2)]) == "stored"


def test_a_torn_sequence_promises_nothing(engine: Engine) -> None:
    store = SqlCommitStepStore(engine)
    put(store, "c1", moves=[(*WEEK, "", 1)])
    store.take("c1", "first", now=NOON, until=NOON + LEASE)

    with engine.begin() as connection:
        connection.execute(text("UPDATE commit_sequences SET body = ''"))

    assert store.recovery_state("c1") is store.take("c1", "second", now=NOON, until=NOON + LEASE) is None
    assert not store.abandon("c1", "", NOON)
    assert put(store, "c2", moves=[(*WEEK, "", 1)]) == "stored"
    assert put(store, "c1") == "stored"
    state = store.recovery_state("c1")
    assert state is not None and state.owner == ""


def test_of_many_who_race_one_wins(store: CommitStepStore) -> None:
    """For each question that only one may get the good answer to, asked by four at once."""
    put(store, "taken")
    commits = [f"moves {n}" for n in range(8)]
    tokens = [begin(store, commit) for commit in commits]
    stalled = begin(store, "stalled")

    def take(n: int) -> bool:
        state = store.take("taken", str(n), now=NOON, until=NOON + LEASE)
        return state is not None and state.owner == str(n)

    def read_the_same(n: int) -> bool:
        return store.put(commits[n], ["app/a"], tokens[n], "", [(*WEEK, "", 1)]) == "stored"

    races: list[Callable[[int], bool]] = [
        take,
        read_the_same,
        lambda n: store.set_watermark((*DAY, "", 1), str(n), str(n)),
        lambda n: store.expire(stalled, NOON + LEASE),
    ]
    with ThreadPoolExecutor(4) as pool:
        for race in races:
            assert sum(pool.map(race, range(8))) == 1
