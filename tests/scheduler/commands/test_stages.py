"""The stages of a deployment: `deploy` runs those that `plan` shows, in their order, in one transaction."""

from collections.abc import Callable
from datetime import UTC, datetime

import msgspec
import pytest

from tests.doubles.dump import dump
from tests.worlds.by import CLI
from tidegate.compiler.plan.stages import STAGES, Stage
from tidegate.domain.model import App, Dataset, PartitionsTrigger, Program, Schedule
from tidegate.scheduler.commands.deployment import deploy as deploying
from tidegate.scheduler.commands.deployment.deploy import deploy
from tidegate.scheduler.commands.deployment.deployment import Deployment
from tidegate.scheduler.model.journal import EntryKind
from tidegate.scheduler.store.memory.store import MemoryStore

NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)
SHOP = App(
    name="shop",
    datasets={"raw": Dataset(name="raw")},
    programs={"load": Program(name="load", run="m.load")},
    schedules={
        "s": Schedule(name="s", program="load", trigger=PartitionsTrigger(dataset="raw"), status="active")
    },
)
STORE = msgspec.structs.replace(SHOP, name="store", renamed_from=("shop",))


def stages_run(monkeypatch: pytest.MonkeyPatch, fails: str = "") -> list[Stage]:
    """Return the list into which the stages from now on are written; one may fail after its work."""
    found: list[Stage] = []

    def noting(stage: Stage, run: Callable[[Deployment], None]) -> Callable[[Deployment], None]:
        def stage_noted(deployment: Deployment) -> None:
            run(deployment)
            found.append(stage)
            if stage == fails:
                raise OSError(f"after {stage}")

        return stage_noted

    real = dict(deploying._RUN)
    monkeypatch.setattr(deploying, "_RUN", {stage: noting(stage, real[stage]) for stage in real})
    return found


def test_every_stage_has_one_function_and_they_run_in_the_order_that_plan_shows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert set(deploying._RUN) == set(STAGES)
    found = stages_run(monkeypatch)
    with MemoryStore().transaction() as transaction:
        deploy(transaction, {"shop": SHOP}, NOW, by=CLI)
    assert tuple(found) == STAGES


@pytest.mark.parametrize("stage", STAGES)
def test_a_deployment_that_fails_after_any_stage_has_changed_nothing(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = MemoryStore()
    with store.transaction() as transaction:
        deploy(transaction, {"shop": SHOP}, NOW, by=CLI)
    before = dump(store)
    stages_run(monkeypatch, fails=stage)
    with pytest.raises(OSError, match=f"after {stage}"), store.transaction() as transaction:
        deploy(transaction, {"store": STORE}, NOW, by=CLI)
    assert dump(store) == before


def test_the_entry_of_the_deployment_is_the_last() -> None:
    store = MemoryStore()
    with store.transaction() as transaction:
        deploy(transaction, {"shop": SHOP}, NOW, by=CLI)
    with store.transaction() as transaction:
        changes = deploy(transaction, {"store": STORE}, NOW, by=CLI)
    assert changes.renames.apps == {"shop": "store"}
    with store.reading() as reader:
        kinds = [entry.kind for entry in reader.journal()]
    assert EntryKind.RENAME in kinds
    assert kinds[-1] is EntryKind.DEPLOY
