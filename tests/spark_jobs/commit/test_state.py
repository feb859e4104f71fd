"""What has become of a commit: the four answers of the store, and the answer that a run gets."""

from datetime import UTC, datetime

import pytest

from tests.doubles.commit_store import MemoryCommitStepStore
from tests.spark_jobs.staging import begin
from tidegate.domain.published import PublishedPartition
from tidegate.spark_jobs.commit.context import CommitContext
from tidegate.spark_jobs.commit.publish import publish, state_of
from tidegate.spark_jobs.commit.sequence import CommitSequence, encode_result, encode_sequence
from tidegate.spark_jobs.commit.state import (
    Abandoned,
    CommitState,
    New,
    Published,
    Unfinished,
    commit_to_publish,
    is_put,
    look_up,
)
from tidegate.spark_jobs.errors import CommitAbandoned
from tidegate.spark_jobs.files.filesystem import LocalFiles

NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)
CONTEXT = CommitContext(files=LocalFiles())
PARTS = (PublishedPartition(dataset="a", key="", rows=1, bytes=2, files=1),)


class World:
    """A store with one dataset, whose sequences have no steps."""

    def __init__(self) -> None:
        self.store = MemoryCommitStepStore()

    def sequence(self, commit: str) -> CommitSequence:
        token = begin(self.store, commit, ["app/a"])
        return CommitSequence(id=commit, datasets=("app/a",), token=token, steps=(), result=PARTS)

    def put(self, commit: str) -> str:
        sequence = self.sequence(commit)
        body = encode_sequence(sequence)
        assert self.store.put(commit, sequence.datasets, sequence.token, body) == "stored"
        return body

    def abandon(self, commit: str, **published: tuple[PublishedPartition, ...]) -> None:
        kept = {f"app/{name}": encode_result(parts) for name, parts in published.items()}
        assert self.store.abandon(commit, "by hand", NOON, kept)


def test_a_commit_has_one_of_four_states_one_after_the_other() -> None:
    world, found = World(), list[CommitState]()
    found.append(look_up("c", world.store))
    body = world.put("c")
    found.append(look_up("c", world.store))
    state_of("c", world.store, CONTEXT)
    found.append(look_up("c", world.store))
    world.put("d")
    world.abandon("d", a=PARTS)
    found.append(look_up("d", world.store))
    assert found == [
        New(commit="c"),
        Unfinished(commit="c", body=body),
        Published(commit="c", parts=PARTS),
        Abandoned(commit="d", outputs={"app/a": PARTS}),
    ]


def test_a_run_finishes_what_was_put_and_gets_its_parts() -> None:
    world = World()
    world.put("c")
    assert state_of("c", world.store, CONTEXT) == Published(commit="c", parts=PARTS)
    assert world.store.list_unfinished() == ()


@pytest.mark.parametrize("asked", ["c", "c~2", "c~3"])
def test_the_work_of_abandoned_commits_goes_on_as_the_next_one_whichever_is_asked_for(asked: str) -> None:
    world = World()
    for commit, published in (("c", {"a": PARTS}), ("c~2", {"b": PARTS})):
        world.put(commit)
        world.abandon(commit, **published)
    before = {"app/a": PARTS, "app/b": PARTS}
    assert state_of(asked, world.store, CONTEXT) == New(commit="c~3", before=before)
    assert commit_to_publish(asked, world.store) == "c~3"
    world.put("c~3")
    assert commit_to_publish(asked, world.store) == "c~3"
    assert state_of(asked, world.store, CONTEXT) == Published(commit="c~3", parts=PARTS, before=before)


@pytest.mark.parametrize("commit", ["c~", "c~x", "c~12345", "run~0a1b2c3d"])
def test_what_only_looks_like_a_number_belongs_to_the_id(commit: str) -> None:
    world = World()
    world.put(commit)
    world.abandon(commit)
    assert commit_to_publish(commit, world.store) == f"{commit}~2"


def test_only_what_is_in_the_store_is_put() -> None:
    world = World()
    assert not is_put("c", world.store)
    world.put("c")
    assert is_put("c", world.store)
    world.abandon("c")
    assert not is_put("c", world.store)


def test_an_attempt_that_another_one_was_faster_than_gets_its_parts() -> None:
    world = World()
    late = world.sequence("c")
    world.put("c")
    assert publish(late, world.store, CONTEXT) == PARTS


def test_an_attempt_whose_commit_was_abandoned_does_not_take_the_next_ones_parts_for_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = World()
    late = world.sequence("c")
    world.put("c")
    real = world.store.put

    def put_late(*args: object, **keywords: object) -> object:
        # It is known, and a person abandons it before this attempt looks; the next commit is published.
        monkeypatch.setattr(world.store, "put", real)
        world.abandon("c")
        world.put("c~2")
        state_of("c~2", world.store, CONTEXT)
        return "known"

    monkeypatch.setattr(world.store, "put", put_late)
    with pytest.raises(CommitAbandoned):
        publish(late, world.store, CONTEXT)
