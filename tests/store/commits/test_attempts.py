"""The contract of a commit step store: attempts, owners, failures and what is abandoned."""

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from tests.store.commits.sequences import LEASE, NOON, begin, put
from tests.store.test_transactions import seen_to_look
from tidegate.domain.commit_store import CommitStepStore
from tidegate.scheduler.store.commits.steps import SqlCommitStepStore


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
    """A run that was abandoned has lost its staging, and must not promise to publish it."""
    token = begin(store)
    assert not store.expire(token, NOON + LEASE - timedelta(microseconds=1))
    assert store.expire(token, NOON + LEASE)

    assert store.put("c1", ["app/a"], token, "steps") == "fenced"
    assert store.put("c1", ["app/a"], begin(store, "another commit"), "steps") == "fenced"

    assert store.get("c1") is None
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
        assert store.fail("c1", "another owner", "no", NOON) == number - 1
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
    assert not store.abandon("c1", "a process is at work", NOON)
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


def test_published_outputs_of_an_abandoned_sequence_are_on_record(store: CommitStepStore) -> None:
    put(store, "c1", "steps", ["app/a", "app/b", "app/c"])
    store.take("c1", "first", now=NOON, until=NOON + LEASE)
    store.fail("c1", "first", "app/c is gone", NOON)

    assert store.abandon("c1", "by hand", NOON, {"app/b": "[2]", "app/a": "[1]"})

    assert [(each.dataset, each.published) for each in store.output_records("c1")] == [
        ("app/a", "[1]"),
        ("app/b", "[2]"),
    ]
    assert {(each.error, each.note, each.at) for each in store.output_records("c1")} == {
        ("app/c is gone", "by hand", NOON)
    }


def test_one_output_of_a_sequence_is_abandoned_and_the_rest_stays(store: CommitStepStore) -> None:
    put(store, "c1", "steps", ["app/a", "app/b"], [("app/p", "app/s", "", 1)])
    store.take("c1", "first", now=NOON, until=NOON + LEASE)

    def abandon(dataset: str = "app/b", before: str = "steps", now: datetime = NOON) -> bool:
        return store.abandon_output("c1", dataset, before=before, body="fewer", note="gone", now=now)

    assert not abandon(), "its owner is at work"
    store.fail("c1", "first", "app/b is gone", NOON)
    assert not abandon(before="others"), "the text has changed"
    assert not abandon(dataset="app/x"), "it does not write that"
    assert abandon()
    assert not abandon(before="fewer"), "it has no such output any more"

    assert (store.get("c1"), store.list_unfinished("app/a")) == ("fewer", ("c1",))
    assert store.list_unfinished("app/b") == ()
    assert not store.was_abandoned("c1")
    state = store.recovery_state("c1")
    assert state is not None and (state.failures, state.error) == (0, ""), "it is tried again"
    (record,) = store.output_records("c1")
    assert (record.dataset, record.published, record.note) == ("app/b", None, "gone")
    assert (record.error, record.at) == ("app/b is gone", NOON)
    assert put(store, "c2", "steps", ["app/b"], [("app/p", "app/s", "", 1)]) == "moved"

    store.remove("c1", "result")
    assert store.result("c1") == "result"
    assert not abandon(before="fewer"), "it is finished"
    assert store.output_records("c1") == (record,)


def test_the_newest_abandoned_come_first(store: CommitStepStore) -> None:
    for number in range(3):
        put(store, f"c{number}")
        store.abandon(f"c{number}", "", NOON + number * LEASE)
    assert [kept.commit for kept in store.abandoned()] == ["c2", "c1", "c0"]
    assert [kept.commit for kept in store.abandoned(limit=1)] == ["c2"]


def test_an_attempt_is_either_given_up_or_puts(store: CommitStepStore) -> None:
    with ThreadPoolExecutor(2) as pool:
        for n in range(12):
            token = begin(store, f"c{n}")
            given_up = pool.submit(store.expire, token, NOON + LEASE)
            answer = pool.submit(store.put, f"c{n}", ["app/a"], token, "steps")
            assert answer.result() == ("fenced" if given_up.result() else "stored")


def test_a_run_that_waits_for_the_lock_of_sqlite_looks_often(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with seen_to_look(tmp_path, monkeypatch) as store:
        begin(SqlCommitStepStore(store.engine))
