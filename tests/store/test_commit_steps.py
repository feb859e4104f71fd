"""The contract of a commit step store, for every implementation."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import Engine, create_engine, text

from tests.databases import MEMORY
from tests.doubles.commit_store import MemoryCommitStepStore
from tests.store.conftest import open_empty
from tidegate.domain.commit_store import CommitStepStore
from tidegate.domain.commits import Put, WatermarkMove
from tidegate.scheduler.store.commits.steps import SqlCommitStepStore
from tidegate.scheduler.store.sql.store import SqlStore

HOSTILE_NAMES = ("a:b", "a_b", "x/y", "_hidden", ".h", "é漢字", "it's", "a" * 300)


NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)
LEASE = timedelta(seconds=120)


def begin(store: CommitStepStore, commit: str = "c1", at_least: int = 0) -> int:
    """Opens an attempt at noon."""
    return store.begin(commit, ["app/a"], until=NOON + LEASE, at_least=at_least)


def put(
    store: CommitStepStore,
    commit: str,
    body: str = "steps",
    datasets: Sequence[str] = ("app/a",),
    moves: Sequence[WatermarkMove] = (),
) -> Put:
    """Puts a sequence in an attempt of its own."""
    return store.put(commit, datasets, begin(store, commit), body, moves)


@pytest.fixture
def engine(sql_store: SqlStore) -> Engine:
    """The engine of a new schedule store, in each kind of database."""
    return sql_store.engine


@pytest.fixture
def store(url: str, request: pytest.FixtureRequest) -> Iterator[CommitStepStore]:
    """A commit step store of every kind."""
    if url == MEMORY:
        yield MemoryCommitStepStore()
        return
    opened = open_empty(url, request)
    assert isinstance(opened, SqlStore)
    yield SqlCommitStepStore(opened.engine)
    opened.close()


def test_a_sequence_is_absent_then_unfinished_then_finished(store: CommitStepStore) -> None:
    assert not store.exists("c1")
    assert store.get("c1") is None

    assert put(store, "c1", "the steps", ["app/a", "app/b"]) == "stored"

    assert store.exists("c1")
    assert store.get("c1") == "the steps"
    assert store.list_unfinished("app/a") == store.list_unfinished("app/b") == ("c1",)
    assert store.result("c1") is None

    store.remove("c1", "the result")

    assert not store.exists("c1")
    assert store.get("c1") is None
    assert store.list_unfinished() == store.list_unfinished("app/a") == ()
    assert store.result("c1") == "the result"


def test_an_id_is_taken_once_for_ever(store: CommitStepStore) -> None:
    assert put(store, "c1", "first") == "stored"
    assert put(store, "c1", "second", ["app/b"]) == "known"
    assert store.get("c1") == "first"
    assert store.list_unfinished("app/b") == ()

    store.remove("c1", "done")

    assert put(store, "c1", "third") == "known"
    assert store.result("c1") == "done"


def test_removing_twice_keeps_the_first_result(store: CommitStepStore) -> None:
    put(store, "c1")
    store.remove("c1", "first")
    store.remove("c1", "second")
    store.remove("never put", "nothing")
    assert store.result("c1") == "first"
    assert store.result("never put") is None


def test_unfinished_sequences_come_oldest_token_first(store: CommitStepStore) -> None:
    tokens = {name: begin(store, name) for name in ("early", "middle", "late")}
    for name in ("late", "early", "middle"):
        store.put(name, ["app/a"], tokens[name], "")
    assert store.list_unfinished("app/a") == ("early", "middle", "late")


def test_tokens_rise_and_jump_over_what_the_warehouse_has_seen(store: CommitStepStore) -> None:
    assert [begin(store) for _ in range(3)] == [1, 2, 3]
    assert begin(store, at_least=40) == 41
    assert begin(store, at_least=7) == 42


def test_names_never_meet(store: CommitStepStore) -> None:
    for name in HOSTILE_NAMES:
        assert put(store, name, name, [f"app/{name}"]) == "stored"
    for name in HOSTILE_NAMES:
        assert store.get(name) == name
        assert store.list_unfinished(f"app/{name}") == (name,)


def test_of_many_who_put_one_id_one_wins(store: CommitStepStore) -> None:
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda n: put(store, "c1", str(n)), range(8)))
    assert sorted(answers) == ["known"] * 7 + ["stored"]
    assert store.get("c1") == str(answers.index("stored"))


def test_of_many_who_ask_no_two_get_one_token(store: CommitStepStore) -> None:
    with ThreadPoolExecutor(4) as pool:
        tokens = list(pool.map(lambda _: begin(store), range(40)))
    assert sorted(tokens) == list(range(1, 41))


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE commit_sequences SET body = substr(body, 1, 5)",
        "UPDATE commit_sequences SET token = token + 1",
        "UPDATE commit_sequences SET datasets = '[]'",
        "UPDATE commit_sequences SET checksum = ''",
    ],
)
def test_a_torn_record_was_never_committed(engine: Engine, damage: str) -> None:
    """P1 of the crash table: a torn record must not block the dataset."""
    store = SqlCommitStepStore(engine)
    put(store, "c1", "the whole of it")

    with engine.begin() as connection:
        connection.execute(text(damage))

    assert not store.exists("c1")
    assert store.list_unfinished("app/a") == store.list_unfinished() == ()
    assert store.torn() == ("c1",)
    assert put(store, "c1", "again") == "stored"
    assert store.torn() == ()
    assert store.get("c1") == "again"


def test_it_keeps_what_another_process_has_put(engine: Engine) -> None:
    put(SqlCommitStepStore(engine), "c1")
    assert SqlCommitStepStore(engine).get("c1") == "steps"


def test_it_can_stand_alone_in_a_database_without_a_schedule_store(tmp_path: Path) -> None:
    alone = create_engine(f"sqlite:///{tmp_path}/commits.db")
    for _ in range(2):
        SqlCommitStepStore(alone).create()
    assert put(SqlCommitStepStore(alone), "c1") == "stored"
    alone.dispose()


def test_an_attempt_is_open_until_it_puts_ends_or_is_given_up(store: CommitStepStore) -> None:
    puts, ends, stalls, lives = (begin(store, commit) for commit in ("c1", "c2", "c3", "c4"))
    assert [(one.token, one.commit, one.datasets, one.until) for one in store.attempts()] == [
        (token, f"c{token}", ("app/a",), NOON + LEASE) for token in (puts, ends, stalls, lives)
    ]

    assert store.put("c1", ["app/a"], puts, "steps") == "stored"
    store.end(ends)
    assert store.renew(lives, NOON + 2 * LEASE)
    assert [store.expire(token, NOON + LEASE) for token in (puts, ends, stalls, lives)] == [
        False,
        False,
        True,
        False,
    ]

    assert [one.token for one in store.attempts()] == [lives]
    assert [store.renew(token, NOON + 3 * LEASE) for token in (puts, ends, stalls)] == [False] * 3
    store.end(ends)


def test_an_attempt_that_is_not_open_cannot_put(store: CommitStepStore) -> None:
    """Whoever was given up has lost its staging, and must not promise to publish it."""
    token = begin(store)
    assert not store.expire(token, NOON + LEASE - timedelta(microseconds=1))
    assert store.expire(token, NOON + LEASE)

    assert store.put("c1", ["app/a"], token, "steps") == "fenced"
    assert store.put("c1", ["app/a"], begin(store, "another commit"), "steps") == "fenced"

    assert not store.exists("c1")
    assert put(store, "c1") == "stored"


def test_a_put_that_is_repeated_is_known_though_its_attempt_is_closed(store: CommitStepStore) -> None:
    """The answer to the first one may have been lost."""
    token = begin(store)
    assert store.put("c1", ["app/a"], token, "steps") == "stored"
    assert store.put("c1", ["app/a"], token, "steps") == "known"


def test_one_at_a_time_owns_a_sequence(store: CommitStepStore) -> None:
    put(store, "c1")
    state = store.recovery_state("c1")
    assert state is not None
    assert (state.owner, state.until, state.failures) == ("", None, 0)

    def taken(owner: str, seconds: int) -> tuple[str, datetime | None]:
        now = NOON + timedelta(seconds=seconds)
        state = store.take("c1", owner, now=now, until=now + LEASE)
        assert state is not None
        return state.owner, state.until

    assert taken("first", 0) == ("first", NOON + LEASE)
    assert taken("second", 119) == ("first", NOON + LEASE)
    assert taken("first", 119) == ("first", NOON + LEASE + timedelta(seconds=119))
    assert taken("second", 239) == ("second", NOON + LEASE + timedelta(seconds=239))

    store.release("c1", "first")
    assert taken("third", 240)[0] == "second"
    store.release("c1", "second")
    assert taken("third", 240)[0] == "third"


def test_a_failure_is_counted_once_and_lets_go(store: CommitStepStore) -> None:
    put(store, "c1")
    for number in (1, 2):
        store.take("c1", "first", now=NOON, until=NOON + LEASE)
        assert store.fail("c1", "somebody else", "no", NOON) == number - 1
        assert store.fail("c1", "first", f"error {number}", NOON) == number
        assert store.fail("c1", "first", "not its owner any more", NOON) == number

    state = store.take("c1", "second", now=NOON, until=NOON + LEASE)

    assert state is not None
    assert (state.owner, state.failures, state.error) == ("second", 2, "error 2")
    assert state.failed_at == NOON


def test_what_is_finished_or_never_was_has_no_owner(store: CommitStepStore) -> None:
    put(store, "c1")
    store.take("c1", "first", now=NOON, until=NOON + LEASE)
    store.remove("c1", "done")
    for commit in ("c1", "never put"):
        assert store.take(commit, "second", now=NOON, until=NOON + LEASE) is None
        assert store.recovery_state(commit) is None
        assert store.fail(commit, "first", "too late", NOON) == 0
        store.release(commit, "first")
        assert not store.abandon(commit, "", NOON)


def test_an_abandoned_sequence_is_on_record_and_its_id_is_never_used_again(store: CommitStepStore) -> None:
    put(store, "c1", "steps", ["app/a", "app/b"], [("app/p", "app/s", "", 1)])
    late = begin(store, "c1")
    store.take("c1", "first", now=NOON, until=NOON + LEASE)
    assert not store.abandon("c1", "somebody is at work", NOON)
    store.fail("c1", "first", "its staging is gone", NOON)
    assert not store.was_abandoned("c1")

    assert store.abandon("c1", "by hand", NOON)

    assert store.was_abandoned("c1")
    assert store.get("c1") is store.result("c1") is store.recovery_state("c1") is None
    assert store.list_unfinished() == store.list_unfinished("app/b") == ()
    (kept,) = store.abandoned()
    assert (kept.commit, kept.token, kept.datasets) == ("c1", 1, ("app/a", "app/b"))
    assert (kept.body, kept.note, kept.at) == ("steps", "by hand", NOON)
    assert kept.error == "its staging is gone"
    assert store.put("c1", ["app/a"], late, "new steps") == "fenced"
    assert put(store, "c1~2", "new steps", ["app/a"], [("app/p", "app/s", "", 1)]) == "stored"


def test_the_newest_abandoned_come_first(store: CommitStepStore) -> None:
    for number in range(3):
        put(store, f"c{number}")
        store.abandon(f"c{number}", "", NOON + number * LEASE)
    assert [kept.commit for kept in store.abandoned()] == ["c2", "c1", "c0"]
    assert [kept.commit for kept in store.abandoned(limit=1)] == ["c2"]


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

    assert store.exists("c2") == (answer == "stored")
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


def test_an_attempt_is_either_given_up_or_puts(store: CommitStepStore) -> None:
    with ThreadPoolExecutor(2) as pool:
        for n in range(12):
            token = begin(store, f"c{n}")
            given_up = pool.submit(store.expire, token, NOON + LEASE)
            answer = pool.submit(store.put, f"c{n}", ["app/a"], token, "steps")
            assert answer.result() == ("fenced" if given_up.result() else "stored")
