"""A Dagster project with asset checks, and a store in which schedules wait for them."""

from datetime import UTC, datetime, timedelta
from typing import Any

from dagster import (
    AssetCheckKey,
    AssetCheckResult,
    AssetCheckSeverity,
    AssetCheckSpec,
    AssetKey,
    AssetSelection,
    DagsterInstance,
    DailyPartitionsDefinition,
    Definitions,
    ExecuteInProcessResult,
    MaterializeResult,
    asset,
    asset_check,
    define_asset_job,
)

from tests.dagster_defs.sample import DAILY, deploy
from tests.doubles.reference.store import ReferenceStore
from tidegate.dagster_defs.deployed.asset_plan import AssetPlan
from tidegate.dagster_defs.deployed.plan_state import LoadedApp, Plan
from tidegate.dagster_defs.ingest.intake import ingest
from tidegate.dagster_defs.ingest.reconcile import RECONCILE_EVERY, reconcile
from tidegate.domain.model import App, Dataset, PartitionsTrigger, Program, Schedule
from tidegate.scheduler.model.event import Event
from tidegate.scheduler.model.records.withheld import WITHHELD_EVENTS, WithheldEvent
from tidegate.scheduler.store.protocol import Store

DAY, NEXT = "2023-03-09", "2023-03-10"
DEMAND, FLAT = AssetKey(["acme", "core", "demand"]), AssetKey("flat")
DAYS = DailyPartitionsDefinition("2023-01-01")

CORE = App(
    name="core",
    datasets={
        "demand": Dataset(name="demand", asset=tuple(DEMAND.path), partitions=DAILY),
        "flat": Dataset(name="flat", asset=("flat",)),
        "unheard": Dataset(name="unheard", asset=("unheard",)),
    },
    programs={"sum": Program(name="sum", run="sample.sum")},
    schedules={
        name: Schedule(
            name=name,
            program="sum",
            trigger=PartitionsTrigger(dataset=name, checks="passed"),
            output_partition="none",
            status="active",
        )
        for name in ("demand", "flat")
    },
)

VERDICTS: dict[str, AssetCheckResult] = {}
"""What each check says; a check without an entry passes."""


class Broken(Exception):
    pass


@asset(key=DEMAND, partitions_def=DAYS)
def demand() -> MaterializeResult[None]:
    return MaterializeResult(metadata={"rows": 3})


@asset(
    key=FLAT,
    check_specs=[AssetCheckSpec("inside", asset=FLAT), AssetCheckSpec("never", asset=FLAT)],
)
def flat() -> Any:
    yield AssetCheckResult(passed=True, check_name="inside")
    yield MaterializeResult(asset_key=FLAT)
    if VERDICTS.get("raises"):
        raise Broken("after the materialisation")
    yield AssetCheckResult(passed=True, check_name="never")


@asset_check(asset=DEMAND)
def positive() -> AssetCheckResult:
    if "raises" in VERDICTS:
        raise Broken("the check itself")
    return VERDICTS.get("positive", AssetCheckResult(passed=True))


@asset_check(asset=DEMAND)
def complete() -> AssetCheckResult:
    return VERDICTS.get("complete", AssetCheckResult(passed=True))


@asset_check(asset=DEMAND, partitions_def=DAYS)
def of_day() -> AssetCheckResult:
    return VERDICTS.get("of_day", AssetCheckResult(passed=True))


PLAIN = define_asset_job("plain", AssetSelection.assets(DEMAND).without_checks())
TWO = define_asset_job(
    "two",
    AssetSelection.assets(DEMAND).without_checks()
    | AssetSelection.checks(AssetCheckKey(DEMAND, "positive"), AssetCheckKey(DEMAND, "complete")),
)
ONE_DAY = define_asset_job(
    "one_day",
    AssetSelection.assets(DEMAND).without_checks() | AssetSelection.checks(AssetCheckKey(DEMAND, "of_day")),
)
CHECKS = define_asset_job(
    "checks", AssetSelection.checks(AssetCheckKey(DEMAND, "positive"), AssetCheckKey(DEMAND, "complete"))
)
CHECK_DAY = define_asset_job("check_day", AssetSelection.checks(AssetCheckKey(DEMAND, "of_day")))
FLAT_JOB = define_asset_job("flat_job", AssetSelection.assets(FLAT))
DEFS = Definitions(
    assets=[demand, flat],
    asset_checks=[positive, complete, of_day],
    jobs=[PLAIN, TWO, ONE_DAY, CHECKS, CHECK_DAY, FLAT_JOB],
)


class House:
    """A store in which two schedules wait for checks, and a Dagster in which others materialise and check."""

    def __init__(self, instance: DagsterInstance, store: Store | None = None, app: App = CORE) -> None:
        self.instance, self.store = instance, store or ReferenceStore()
        self.now = datetime.now(UTC) + timedelta(minutes=1)
        self.said: list[str] = []
        self.plan = AssetPlan(Plan(apps=(LoadedApp(app=app, revision=1),)))
        deploy(self.store, app)

    def run(self, name: str, partition: str | None = None, **verdicts: Any) -> ExecuteInProcessResult:
        """Execute a job of theirs, whose checks say something."""
        VERDICTS.clear()
        VERDICTS.update(verdicts)
        tags = {} if partition is None else {"dagster/partition": partition}
        job = DEFS.resolve_job_def(name)
        return job.execute_in_process(instance=self.instance, tags=tags, raise_on_error=False)

    def read(self) -> None:
        self.now += timedelta(seconds=5)
        ingest(self.instance, self.store, self.plan, self.now, self.said.append)
        assert self.said == []

    def events(self, prefix: str = "checked:") -> list[Event]:
        with self.store.reading() as reader:
            return sorted(reader.events(key_prefix=prefix), key=lambda event: event.arrived)

    def checked(self) -> list[tuple[str, str | None]]:
        """Dataset and partition of all released events."""
        self.read()
        return [(each.key.removeprefix("checked:core/"), each.partition) for each in self.events()]

    def withheld(self) -> dict[str, WithheldEvent]:
        """What is withheld, by partition."""
        with self.store.reading() as reader:
            return {each.partition: each for each in reader.due_records(WITHHELD_EVENTS, None, 99)}

    def record(self, partition: str) -> WithheldEvent:
        with self.store.reading() as reader:
            (found,) = reader.records(WITHHELD_EVENTS, dataset="core/demand", partition=partition)
        return found

    def look_again(self) -> None:
        """Reconcile twice: the first pass only notes where it is."""
        for _ in range(2):
            self.now += RECONCILE_EVERY + timedelta(seconds=1)
            assert reconcile(self.instance, self.store, self.plan, self.now, self.said.append)

    def lacking(self, partition: str = DAY) -> dict[str, tuple[bool | None, str]]:
        """The checks that hold a partition back, with whether they passed and their description."""
        found = self.withheld()[partition].lacking
        return {name: (each.passed, each.description) for name, each in found.items()}


def failed(text: str = "", severity: AssetCheckSeverity = AssetCheckSeverity.ERROR) -> AssetCheckResult:
    return AssetCheckResult(passed=False, description=text or None, severity=severity)
