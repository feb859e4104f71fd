"""Triggers over another app: events reach them, references name it, and deployments keep both apart."""

from datetime import timedelta
from typing import Any

import pytest

from tests.two_apps import FEEDS
from tests.worlds.by import CLI
from tests.worlds.world import MIDNIGHT
from tidegate.compiler.compile import compile_files
from tidegate.compiler.plan.ownership import Scope
from tidegate.domain.model import App
from tidegate.scheduler.commands.by_hand.manual import trigger
from tidegate.scheduler.commands.deployment.deploy import deploy
from tidegate.scheduler.commands.deployment.deployed_rows import deployed_apps
from tidegate.scheduler.commands.deployment.schedules import delete_schedules
from tidegate.scheduler.intake.observe import RunObservation, observe_runs
from tidegate.scheduler.model.event import Event, EventKind, partition_event_key
from tidegate.scheduler.model.job import Job, JobState
from tidegate.scheduler.model.refused import Refused
from tidegate.scheduler.model.run import RunStatus
from tidegate.scheduler.store.memory.store import MemoryStore
from tidegate.scheduler.store.protocol import Store
from tidegate.scheduler.tick.tick import tick

SALES = """
app: sales
datasets:
  raw: {partitions: {cycle: day, start: 2026-01-01}}
  report: {partitions: {cycle: day, start: 2026-01-01}}
programs:
  report: {run: jobs.report, reads: [feeds/raw], writes: [report]}
schedules:
  daily: {program: report, status: active, %s}
"""
DAY = "for_each: day, trigger: {partitions: {dataset: feeds/raw}}"
TWO = "trigger: {partitions: {dataset: feeds/raw, count: 2}}"
AFTER = (
    "trigger: {run: {program: feeds/land}}, output_partition: {from: trigger.run.outputs.feeds/raw},"
    ' args: {program: "{{ trigger.run.program }}", wrote: "{{ trigger.run.outputs.feeds/raw }}",'
    ' own: "{{ trigger.partitions.feeds/raw }}"}'
)
FEEDS_PROJECT, SALES_PROJECT = Scope(project="feeds"), Scope(project="sales")


def compiled(*texts: str, store: Store | None = None) -> dict[str, App]:
    def known() -> dict[str, App]:
        with (store or MemoryStore()).reading() as reader:
            return deployed_apps(reader)

    found = compile_files({f"{n}.yaml": text.encode() for n, text in enumerate(texts)}, known=known)
    assert found.ok, [(d.code, d.summary) for d in found.diagnostics]
    return found.models()


def put(store: Store, text: str, scope: Scope, **options: Any) -> None:
    with store.transaction() as transaction:
        deploy(transaction, compiled(text, store=store), MIDNIGHT, scope=scope, by=CLI, **options)


def two_projects(schedule: str) -> Store:
    store = MemoryStore()
    put(store, FEEDS, FEEDS_PROJECT)
    put(store, SALES % schedule, SALES_PROJECT)
    return store


def arrive(store: Store, app: str, *keys: str, minute: int = 1) -> list[Job]:
    now = MIDNIGHT + timedelta(minutes=minute)
    with store.transaction() as transaction:
        transaction.add_events(
            [
                Event(
                    id=f"{app}:{key}:{minute}",
                    kind=EventKind.PARTITION,
                    key=partition_event_key(app, "raw"),
                    time=now,
                    arrived=now,
                    partition=key,
                )
                for key in keys
            ]
        )
    return jobs(store, minute)


def jobs(store: Store, minute: int) -> list[Job]:
    assert tick(store, MIDNIGHT + timedelta(minutes=minute)).errors == ()
    with store.reading() as reader:
        return list(reader.jobs())


def test_a_partition_of_another_app_s_dataset_launches_and_the_own_one_does_not() -> None:
    store = two_projects(DAY)
    assert arrive(store, "sales", "2026-03-01") == []
    (job,) = arrive(store, "feeds", "2026-03-01", minute=2)
    assert (job.state, job.key) == (JobState.PENDING_LAUNCH, "2026-03-01")
    assert job.launch is not None
    assert job.launch.manifest == {"feeds/raw": ("2026-03-01",)}
    assert job.launch.partitions == ("2026-03-01",)


def test_references_and_output_partitions_name_the_other_app() -> None:
    store = two_projects(AFTER.replace(', own: "{{ trigger.partitions.feeds/raw }}"', ""))
    seen = RunObservation(
        run_id="1",
        program="feeds/land",
        status=RunStatus.SUCCEEDED,
        at=MIDNIGHT + timedelta(minutes=1),
        outputs={"raw": ("2026-03-01",)},
    )
    with store.transaction() as transaction:
        observe_runs(transaction, [seen], seen.at)
    (job,) = jobs(store, 2)
    assert job.launch is not None
    assert job.launch.partitions == ("2026-03-01",)
    assert job.launch.args == {"program": "feeds/land", "wrote": ["2026-03-01"]}
    assert job.launch.upstream[0].outputs == {"feeds/raw": ("2026-03-01",)}


def test_a_key_that_the_other_app_s_dataset_cannot_have_is_refused_by_hand() -> None:
    store = two_projects(DAY)
    with store.transaction() as transaction, pytest.raises(Refused, match="no such key"):
        trigger(transaction, "sales/daily", MIDNIGHT, "2026-W10", by=CLI)


def test_carried_events_of_another_app_stay() -> None:
    store = two_projects(TWO)
    arrive(store, "feeds", "2026-03-01")
    put(store, SALES % f"{TWO}, priority: high, on_update: carry", SALES_PROJECT)
    (job,) = arrive(store, "feeds", "2026-03-02", minute=2)
    assert job.state is JobState.PENDING_LAUNCH


def test_the_other_side_is_not_removed_or_changed_while_it_is_needed() -> None:
    store = two_projects(DAY)
    words = "remove dataset feeds/raw, which triggers sales/daily and is read by sales/report"
    with pytest.raises(Refused, match=words) as refused:
        put(store, "app: feeds\n", FEEDS_PROJECT)
    assert refused.value.hint is not None
    assert refused.value.hint.startswith("change sales first, so that it does not name the part")
    hourly = FEEDS.replace("cycle: day, start: 2026-01-01", "cycle: hour, start: 2026-01-01-00:00")
    with pytest.raises(Refused, match="change the partitions of dataset feeds/raw"):
        put(store, hourly, FEEDS_PROJECT)
    with store.transaction() as transaction, pytest.raises(Refused, match="remove dataset feeds/raw"):
        deploy(transaction, {}, MIDNIGHT, scope=FEEDS_PROJECT, by=CLI)


@pytest.mark.parametrize("schedule", [DAY, TWO, "trigger: {size: {dataset: feeds/raw, rows: 5}}"])
def test_what_was_removed_by_force_stops_no_other_job(schedule: str) -> None:
    store = two_projects(f"{schedule}}}\n  waiting: {{program: report, status: active, {TWO}")
    arrive(store, "feeds", "2026-03-01")
    put(store, "app: feeds\n", FEEDS_PROJECT, force=True)
    # Nothing reports partitions of it any more; what waits is judged without an error.
    jobs(store, 24 * 60)
    with store.transaction() as transaction:
        delete_schedules(transaction, ["sales/waiting"], MIDNIGHT + timedelta(days=2), by=CLI)


def test_an_app_is_deployed_before_the_one_that_names_it() -> None:
    store = MemoryStore()
    sales = compiled(FEEDS, SALES % DAY)
    only = Scope(project="both", only=frozenset({"sales"}))
    with store.transaction() as transaction, pytest.raises(Refused) as refused:
        deploy(transaction, sales, MIDNIGHT, scope=only, by=CLI)
    assert "need, where it is not deployed, dataset feeds/raw" in str(refused.value)
    with store.transaction() as transaction:
        deploy(transaction, sales, MIDNIGHT, scope=Scope(project="both"), by=CLI)
    (job,) = arrive(store, "feeds", "2026-03-01")
    assert job.state is JobState.PENDING_LAUNCH
