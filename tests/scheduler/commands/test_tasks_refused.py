"""What commands on tasks refuse, and what they change then: nothing."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from typing import Any

import msgspec
import pytest

from tests.doubles.dump import dump
from tests.worlds.by import CLI
from tidegate.compiler.compile import compile_files
from tidegate.domain.model import App, TaskTrigger
from tidegate.domain.tasks.grid import business_slots
from tidegate.scheduler.commands.backfills import points, start
from tidegate.scheduler.commands.backfills.cancel import cancel_backfill
from tidegate.scheduler.commands.backfills.request import Wanted
from tidegate.scheduler.commands.backfills.start import start_backfill
from tidegate.scheduler.commands.by_hand.manual import cancel, trigger
from tidegate.scheduler.commands.deployment.deploy import deploy
from tidegate.scheduler.commands.deployment.schedules import delete_schedules
from tidegate.scheduler.commands.tasks import reports
from tidegate.scheduler.commands.tasks.instances import InstanceName, act
from tidegate.scheduler.commands.tasks.reports import Times, report
from tidegate.scheduler.decision.instances.actions import Action
from tidegate.scheduler.decision.instances.inputs import Inputs, manifest_of_inputs
from tidegate.scheduler.launch.dead_letter import retry
from tidegate.scheduler.model.journal import By
from tidegate.scheduler.model.refused import InstanceRefused, Refused
from tidegate.scheduler.store.memory.store import MemoryStore
from tidegate.scheduler.tick.rerun import consumers_of
from tidegate.scheduler.tick.tick import tick

NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)
BY = By(actor="test")
TEXT = """
app: a
datasets: {raw: {partitions: {cycle: day, start: 2026-01-01}}}
programs: {p: {run: x.p, reads: [raw]}}
schedules: {plain: {program: p, status: active, trigger: {partitions: {dataset: raw}}}}
tasks:
  gate: {type: source, dataset: raw, cycle: hour, at: {from: "08:00", to: "10:00"}, update: outside}
  other: {type: external, dataset: raw, cycle: hour, status: active}
  daily: {program: p, cycle: day, at: {time: "13:00"}, valid_from: 2026-03-01, status: active}
"""


def app_of(text: str = TEXT) -> App:
    found = compile_files({"a.yaml": text.encode()})
    assert found.ok, found.diagnostics
    return found.apps["a"].app


@pytest.fixture
def store() -> Iterator[MemoryStore]:
    made = MemoryStore()
    with made.transaction() as transaction:
        deploy(transaction, {"a": app_of(), "empty": App(name="empty")}, NOON - timedelta(hours=12), by=CLI)
    tick(made, NOON)
    yield made


def wanted(**fields: object) -> Wanted:
    given = {"app": "a", "task": "daily", "from_": "2026-03-08", "to": "2026-03-08", **fields}
    return msgspec.convert(given, Wanted)


@pytest.mark.parametrize(
    ("fields", "code", "message"),
    [
        ({"lot": 0}, "E-RANGE", "at least one business date"),
        ({"from_": "2026-01-01", "to": "2026-01-02"}, "E-RANGE", "no task has an instance"),
        ({"app": "empty", "task": None}, "E-TASK", "app empty has no tasks"),
        ({"task": "plain"}, "E-RANGE", "a/plain has no keys"),
        ({"task": "none"}, "E-TASK", "no task or schedule a/none"),
    ],
)
def test_a_backfill_is_refused(
    store: MemoryStore, fields: dict[str, object], code: str, message: str
) -> None:
    before = dump(store)
    with pytest.raises(InstanceRefused, match=message) as refused, store.transaction() as transaction:
        start_backfill(transaction, wanted(**fields), NOON, BY)
    assert refused.value.code == code
    assert dump(store) == before


def test_a_backfill_of_too_many_instances_is_refused(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(start, "INSTANCES_MAX", 1)
    with pytest.raises(InstanceRefused, match="at most 1 instances"), store.transaction() as transaction:
        start_backfill(transaction, wanted(from_="2026-03-07"), NOON, BY)


def test_a_range_that_is_far_too_long_is_refused_before_all_its_instances_are_built(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(start, "INSTANCES_MAX", 10)
    built: list[str] = []

    def counted(task: TaskTrigger, first: str, last: str) -> Any:
        built.append(first)
        return business_slots(task, first, last)

    monkeypatch.setattr(points, "business_slots", counted)
    with pytest.raises(InstanceRefused, match="at most 10 instances"), store.transaction() as transaction:
        start_backfill(transaction, wanted(task="gate", from_="1990-01-01"), NOON, BY)
    assert built == ["1990-01-01"]


def test_a_range_of_months_has_each_business_date_once(store: MemoryStore) -> None:
    with store.transaction() as transaction:
        deploy(transaction, {"a": app_of(TEXT.replace("valid_from: 2026-03-01, ", ""))}, NOON, by=CLI)
        start_backfill(transaction, wanted(from_="2025-12-01"), NOON, BY)
    with store.reading() as reader:
        dates = [
            job.instance.business_date for job in reader.instances(backfill=1) if job.instance is not None
        ]
    assert sorted(dates) == [str(date(2025, 12, 1) + timedelta(days=n)) for n in range(98)]


def test_a_backfill_whose_tasks_are_all_disabled_is_refused(store: MemoryStore) -> None:
    text = TEXT.replace("cycle: hour", "enabled: false, cycle: hour").replace(
        "cycle: day, at", "enabled: false, cycle: day, at"
    )
    with store.transaction() as transaction:
        deploy(transaction, {"a": app_of(text)}, NOON, by=CLI)
    with pytest.raises(InstanceRefused, match="all tasks"), store.transaction() as transaction:
        start_backfill(transaction, wanted(task=None), NOON, BY)


def test_a_disabled_task_that_is_named_is_refused_and_one_that_is_not_named_is_left_out(
    store: MemoryStore,
) -> None:
    text = TEXT.replace("external, dataset: raw", "external, enabled: false, dataset: raw").replace(
        "type: source, dataset", "type: source, enabled: false, dataset"
    )
    with store.transaction() as transaction:
        deploy(transaction, {"a": app_of(text)}, NOON, by=CLI)
    for fields in ({"task": "gate"}, {"task": None, "only": ["daily", "gate"]}):
        with pytest.raises(InstanceRefused, match="a/gate is disabled"), store.transaction() as transaction:
            start_backfill(transaction, wanted(**fields), NOON, BY)
    with store.transaction() as transaction:
        whole = start_backfill(transaction, wanted(task=None), NOON, BY)
        upstream = start_backfill(transaction, wanted(upstream=True), NOON, BY)
        alone = start_backfill(transaction, wanted(task=None, only=["daily"]), NOON, BY)
    assert {each.tasks for each in (whole, upstream, alone)} == {("a/daily",)}
    assert [each.disabled for each in (whole, upstream, alone)] == [("a/gate", "a/other")] * 2 + [()]


def test_a_backfill_is_cancelled_once(store: MemoryStore) -> None:
    with store.transaction() as transaction:
        start_backfill(transaction, wanted(), NOON, BY)
        cancel_backfill(transaction, 1, NOON, BY)
    for number, message in ((1, "nothing left to cancel"), (9, "there is no backfill 9")):
        with pytest.raises(InstanceRefused, match=message), store.transaction() as transaction:
            cancel_backfill(transaction, number, NOON, BY)


@pytest.mark.parametrize(
    ("times", "message"),
    [
        (Times(), "a range needs"),
        (Times(from_="2026-03-10-03:00", to="2026-03-10-04:00"), "names no time of the task"),
    ],
)
def test_a_report_is_refused(store: MemoryStore, times: Times, message: str) -> None:
    before = dump(store)
    with pytest.raises(InstanceRefused, match=message), store.transaction() as transaction:
        report(transaction, "a/gate", times, "successful", NOON, BY)
    assert dump(store) == before


def test_a_report_of_too_many_instances_is_refused(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reports, "INSTANCES_MAX", 1)
    for times in (
        Times(from_="2026-03-10-08:00", to="2026-03-10-10:00"),
        Times(scheduled=("2026-03-10-08:00", "2026-03-10-09:00")),
    ):
        with pytest.raises(InstanceRefused, match="at most 1 instances"), store.transaction() as transaction:
            report(transaction, "a/gate", times, "successful", NOON, BY)


def test_what_is_for_jobs_of_schedules_is_refused_for_instances(store: MemoryStore) -> None:
    with store.reading() as reader:
        job = reader.instances(["a/daily"], NOON - timedelta(days=1), NOON)[0]
    for refused in (
        lambda transaction: trigger(transaction, "a/daily", NOON, by=CLI),
        lambda transaction: cancel(transaction, job.id, NOON, by=CLI),
        lambda transaction: retry(transaction, job.id, NOON, by=CLI),
    ):
        with pytest.raises(Refused, match="task"), store.transaction() as transaction:
            refused(transaction)


def test_an_instance_of_a_deleted_task_has_no_consumers(store: MemoryStore) -> None:
    name = InstanceName(scheduled="2026-03-10")
    with store.transaction() as transaction:
        (job,) = act(transaction, "a/daily", name, Action.MARK_SUCCESSFUL, NOON, BY)
        delete_schedules(transaction, ["a/daily"], NOON, by=CLI)
        assert consumers_of(transaction, {job.id: job}) == ()


def test_a_job_of_a_schedule_is_not_an_instance(store: MemoryStore) -> None:
    with store.reading() as reader:
        (plain,) = reader.schedules(refs=["a/plain"])
        job = reader.instances(["a/daily"], NOON - timedelta(days=1), NOON)[0]
    with pytest.raises(ValueError, match="plain is not a task"):
        _ = plain.spec.as_task
    with pytest.raises(ValueError, match="is not an instance"):
        _ = msgspec.structs.replace(job, instance=None).of_task


def test_an_upstream_instance_of_which_nothing_is_known_is_about_nothing(store: MemoryStore) -> None:
    with store.reading() as reader:
        jobs = reader.instances(["a/gate", "a/daily"], NOON - timedelta(days=1), NOON)
        tasks = {state.ref: state for state in reader.schedules()}
    inputs = Inputs(jobs=jobs, tasks=tasks)
    assert manifest_of_inputs("a", app_of().programs["p"], inputs) == {}
