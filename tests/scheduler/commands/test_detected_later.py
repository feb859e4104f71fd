"""Detection is part of a deployment: a task waits for a later one once it is deployed again itself."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.worlds.by import CLI
from tidegate.compiler.compile import compile_files
from tidegate.compiler.plan.diff import Diff
from tidegate.compiler.plan.ownership import Scope
from tidegate.scheduler.commands.deployment.deploy import deploy
from tidegate.scheduler.commands.deployment.deployed_rows import deployed_apps
from tidegate.scheduler.commands.deployment.live import difference
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.store.memory.store import MemoryStore
from tidegate.scheduler.store.protocol import EngineTransaction
from tidegate.scheduler.tick.tick import tick

MIDNIGHT = datetime(2026, 3, 10, tzinfo=UTC)
HOUR = timedelta(hours=1)
FX = """
app: fx
datasets: {rates: {}}
programs: {load: {run: jobs.load, writes: [rates]}}
"""
LOADS = "tasks:\n  load: {program: load, cycle: hour, at: {minute: 30}, status: active}\n"
SHOP = """
app: shop
programs: {report: {run: jobs.report, reads: [fx/rates]}}
tasks:
  report: {program: report, cycle: hour, status: active}
"""


class Store(MemoryStore):
    """A store in which each app belongs to a project of its own."""

    def deployed(self, name: str, text: str, now: datetime) -> Diff:
        """Deploy the one app of a project, as `tidegate deploy` does."""
        with self.transaction() as transaction:
            return deploy(
                transaction, self._compiled(transaction, text), now, scope=Scope(project=name), by=CLI
            )

    def planned(self, name: str, text: str) -> Diff:
        with self.transaction() as transaction:
            return difference(transaction, self._compiled(transaction, text), scope=Scope(project=name))

    def _compiled(self, transaction: EngineTransaction, text: str):
        compilation = compile_files({"a.yaml": text.encode()}, known=lambda: deployed_apps(transaction))
        assert compilation.ok, compilation.diagnostics
        return compilation.models()

    def report(self, hour: int) -> Job:
        """The instance of an hour that reports."""
        with self.reading() as reader:
            (job,) = reader.instances(["shop/report"], MIDNIGHT + hour * HOUR, MIDNIGHT + hour * HOUR)
        return job


@pytest.fixture
def store() -> Store:
    """The shop reads rates that no task writes; later the other project loads them each hour."""
    made = Store()
    made.deployed("fx", FX, MIDNIGHT)
    made.deployed("shop", SHOP, MIDNIGHT)
    tick(made, MIDNIGHT)
    made.deployed("fx", FX + LOADS, MIDNIGHT + HOUR)
    return made


def test_a_deployment_of_another_project_changes_no_deployed_task(store: Store) -> None:
    tick(store, MIDNIGHT + 2 * HOUR)
    job = store.report(2)
    assert (job.state, job.of_task.upstream) == ("PENDING_LAUNCH", ())


def test_the_next_plan_of_its_own_project_shows_it_and_the_deployment_makes_it_wait(store: Store) -> None:
    (change,) = [each for each in store.planned("shop", SHOP).schedules() if each.app == "shop"]
    assert (change.name, change.action) == ("report", "replace")
    (field,) = change.fields
    assert (field.path, field.old, field.new) == ("depends_on", None, ["fx/load"])
    store.deployed("shop", SHOP, MIDNIGHT + 2 * HOUR - timedelta(minutes=1))
    tick(store, MIDNIGHT + 2 * HOUR)
    job = store.report(2)
    assert (job.state, job.reason) == ("PENDING_TRIGGER", "W-UPSTREAM")


def test_the_task_that_came_later_is_then_needed(store: Store) -> None:
    store.deployed("shop", SHOP, MIDNIGHT + HOUR)
    assert [each.name for each in store.planned("fx", FX).refusals] == ["load"]
