"""The contract of a commit step store: the double and the store in SQL have every method of it."""

import pytest

from tests.doubles.commit_store import MemoryCommitStepStore
from tidegate.domain.commit_store import CommitStepStore
from tidegate.scheduler.store.commits.steps import SqlCommitStepStore


@pytest.mark.parametrize("kind", [MemoryCommitStepStore, SqlCommitStepStore])
def test_a_store_has_every_method_of_the_contract(kind: type) -> None:
    wanted = {name for name in vars(CommitStepStore) if not name.startswith("_")}
    assert wanted
    assert {name for name in wanted if not callable(getattr(kind, name, None))} == set()
