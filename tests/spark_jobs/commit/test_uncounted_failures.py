"""A failure of a sequence that cannot be counted: its lease ends, so that no other process waits for it."""

import pytest

from tests.spark_jobs.commit.notes import CONTEXT, WORLD, promise
from tests.spark_jobs.commit.notes import empty_world as empty_world
from tests.spark_jobs.commit.test_recovery import store as store
from tidegate.domain.commit_store import CommitStepStore
from tidegate.scheduler.store.error import StoreError
from tidegate.spark_jobs.commit.recovery import recover


@pytest.mark.parametrize("method", ["fail", "result"])
def test_a_failure_that_cannot_be_counted_frees_the_lease(
    store: CommitStepStore, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    promise(store, "c1", "app/a")
    WORLD.broken["c1 1"] = RuntimeError("the catalog says no")

    def unable(*_: object) -> None:
        raise StoreError("the column is too short")

    with monkeypatch.context() as patch:
        patch.setattr(store, method, unable)
        with pytest.raises(RuntimeError, match="the catalog says no"):
            recover(["app/a"], store, CONTEXT)
    state = store.recovery_state("c1")
    assert state is not None and (state.owner, state.until, state.failures) == ("", None, 0)

    with monkeypatch.context() as patch:
        patch.setattr(store, method, unable)
        patch.setattr(store, "release", unable)
        with pytest.raises(RuntimeError, match="the catalog says no"):
            recover(["app/a"], store, CONTEXT)
    state = store.recovery_state("c1")
    assert state is not None and state.owner, "then it expires"


def test_a_message_that_databases_refuse_is_counted(store: CommitStepStore) -> None:
    promise(store, "c1", "app/a")
    WORLD.broken["c1 1"] = RuntimeError("no file of this name: \udce9\0.parquet")
    with pytest.raises(RuntimeError):
        recover(["app/a"], store, CONTEXT)
    state = store.recovery_state("c1")
    assert state is not None and state.failures == 1
    assert state.error == "RuntimeError: no file of this name: ? .parquet"
