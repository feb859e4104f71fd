"""The contract of a commit step store: sequences, their tokens and what is left of a torn one."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import Engine, text

from tests.store.commits.sequences import HOSTILE_NAMES, begin, put
from tidegate.domain.commit_store import CommitStepStore
from tidegate.scheduler.store.commits.steps import SqlCommitStepStore


def test_a_sequence_is_absent_then_unfinished_then_finished(store: CommitStepStore) -> None:
    assert store.get("c1") is None
    assert store.get("c1") is None

    assert put(store, "c1", "the steps", ["app/a", "app/b"]) == "stored"

    assert store.get("c1") is not None
    assert store.get("c1") == "the steps"
    assert store.list_unfinished("app/a") == store.list_unfinished("app/b") == ("c1",)
    assert store.result("c1") is None

    store.remove("c1", "the result")

    assert store.get("c1") is None
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

    assert store.get("c1") is None
    assert store.list_unfinished("app/a") == store.list_unfinished() == ()
    assert store.torn() == ("c1",)
    assert put(store, "c1", "again") == "stored"
    assert store.torn() == ()
    assert store.get("c1") == "again"


def test_it_keeps_what_another_process_has_put(engine: Engine) -> None:
    put(SqlCommitStepStore(engine), "c1")
    assert SqlCommitStepStore(engine).get("c1") == "steps"
