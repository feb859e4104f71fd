"""What a deployment does to the instances of a changed task, whatever `on_update` says."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.worlds.by import CLI
from tidegate.compiler.compile import compile_files
from tidegate.domain.model import App
from tidegate.scheduler.commands.deployment.deploy import deploy
from tidegate.scheduler.model.job import Job, JobState
from tidegate.scheduler.store.memory.store import MemoryStore
from tidegate.scheduler.tick.tick import tick

NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)
TASK = "{program: p, cycle: day, status: active, on_update: %s, at: {time: '%s'}, constraints: [%s]}"
LATE = "{window: {from: '20:00', to: '21:00'}}"


def app_of(on_update: str, morning: str, evening: str) -> App:
    text = (
        "app: a\nprograms: {p: {run: x.p}}\ntasks:\n"
        f"  early: {TASK % (on_update, '06:00', morning)}\n  late: {TASK % (on_update, evening, '')}\n"
    )
    found = compile_files({"a.yaml": text.encode()})
    assert found.ok, found.diagnostics
    return found.apps["a"].app


def instances(store: MemoryStore) -> dict[str, Job]:
    with store.reading() as reader:
        return {
            job.schedule: job for job in reader.instances(["a/early", "a/late"], NOON - timedelta(1), NOON)
        }


@pytest.mark.parametrize("on_update", ["reset", "carry"])
def test_what_waits_stays_under_the_new_constraints_and_what_is_not_run_is_made_again(on_update: str) -> None:
    store = MemoryStore()
    with store.transaction() as transaction:
        deploy(transaction, {"a": app_of(on_update, LATE, "13:00")}, NOON - timedelta(hours=12), by=CLI)
    tick(store, NOON)
    before = instances(store)
    assert before["a/early"].state is JobState.PENDING_CONSTRAINT

    with store.transaction() as transaction:
        deploy(transaction, {"a": app_of(on_update, "", "14:00")}, NOON + timedelta(minutes=1), by=CLI)
    tick(store, NOON + timedelta(minutes=2))
    after = instances(store)

    assert after["a/early"].id == before["a/early"].id
    assert after["a/early"].state is JobState.PENDING_LAUNCH
    assert after["a/late"].id == before["a/late"].id
    assert after["a/late"].of_task.start == NOON + timedelta(hours=2)
    assert after["a/late"].state is JobState.PENDING_TRIGGER
