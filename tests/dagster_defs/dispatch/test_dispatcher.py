"""The dispatcher: one tick takes in events, decides, and asks for runs; a preview does nothing."""

from datetime import timedelta
from pathlib import Path
from time import sleep
from typing import Any

import msgspec
import pytest
from dagster import DagsterInstance, RunRequest
from sqlalchemy import event

from tests.dagster_defs.instance import evaluate, report, report_day, repository_of
from tests.dagster_defs.sample import NOW, deploy, location_of, sample_app
from tests.doubles.dump import dump
from tests.doubles.reference.store import ReferenceStore
from tests.worlds.by import CLI
from tidegate.dagster_defs.dispatch import steps
from tidegate.dagster_defs.dispatch.dispatcher import RELOAD_TEXT
from tidegate.dagster_defs.run.run_request import Invalid
from tidegate.domain.model import Dataset
from tidegate.scheduler.commands.by_hand.held_apps import hold_app, release_app
from tidegate.scheduler.intake.observe import RunObservation, observe_runs
from tidegate.scheduler.launch.outbox import LaunchRequest
from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.model.run import RunStatus
from tidegate.scheduler.store.sql.open import open_sql_store

pytestmark = pytest.mark.dagster


def states(store: ReferenceStore) -> list[JobState]:
    with store.reading() as reader:
        return [job.state for job in reader.jobs()]


def test_a_satisfied_job_is_asked_for(instance: DagsterInstance, store: ReferenceStore) -> None:
    repository = repository_of(location_of(store))
    report_day(instance, "2023-03-09")

    (request,) = evaluate(instance, repository).run_requests or []

    assert request.partition_key == "2023-03-09"
    assert request.run_key is not None
    assert request.run_key.startswith("flights.clean_as_it_comes-")
    assert states(store) == [JobState.PENDING_LAUNCH]


def test_it_is_asked_for_again_under_the_same_key_until_its_run_is_seen(
    instance: DagsterInstance, store: ReferenceStore
) -> None:
    report_day(instance, "2023-03-09")
    (first,) = evaluate(instance, repository_of(location_of(store))).run_requests or []

    later = repository_of(location_of(store, now=NOW + timedelta(minutes=2)))
    (again,) = evaluate(instance, later).run_requests or []

    assert again.run_key == first.run_key


def test_what_waits_is_told(instance: DagsterInstance, store: ReferenceStore) -> None:
    repository = repository_of(location_of(store))
    assert evaluate(instance, repository).skip_message == "no waiting jobs"

    report(instance, "raw", "2023-03-09|JFK")
    skipped = evaluate(instance, repository).skip_message

    assert skipped is not None
    assert "flights/clean_as_it_comes[2023-03-09]: W-TRIGGER" in skipped


def test_a_preview_changes_nothing(instance: DagsterInstance, store: ReferenceStore) -> None:
    repository = repository_of(location_of(store))
    report_day(instance, "2023-03-09")
    before = dump(store)

    outcome = evaluate(instance, repository, log_key="20230310_120000")

    assert not outcome.run_requests
    assert (outcome.skip_message or "").startswith("preview only")
    assert dump(store) == before


def test_a_partition_that_cannot_be_launched_does_not_stop_the_others(
    instance: DagsterInstance, store: ReferenceStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The event log may have a key that Dagster's own list of partitions lacks."""
    valid = steps.run_request

    def request_of(launch: LaunchRequest, *rest: Any) -> RunRequest | Invalid:
        if "2023-03-10" in launch.launch.partitions:
            return Invalid("Dagster has no partition 2023-03-10 of flights/clean yet")
        return valid(launch, *rest)

    monkeypatch.setattr(steps, "run_request", request_of)
    repository = repository_of(location_of(store))
    report_day(instance, "2023-03-09")
    report_day(instance, "2023-03-10")

    (request,) = evaluate(instance, repository).run_requests or []

    assert request.partition_key == "2023-03-09"
    with store.reading() as reader:
        (stuck,) = [job for job in reader.jobs() if job.key == "2023-03-10"]
    assert "no partition 2023-03-10" in stuck.detail
    assert stuck.next_check_at is not None


def test_a_failed_step_is_told_and_stops_no_other(
    instance: DagsterInstance, store: ReferenceStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("the disk is full")

    repository = repository_of(location_of(store))
    monkeypatch.setattr(steps, "reconcile", broken)

    with pytest.raises(RuntimeError, match="the disk is full"):
        evaluate(instance, repository)
    report_day(instance, "2023-03-09")
    assert len(evaluate(instance, repository).run_requests or []) == 1


def test_a_deployment_that_is_not_loaded_is_told(instance: DagsterInstance, store: ReferenceStore) -> None:
    repository = repository_of(location_of(store))
    deploy(store, sample_app(), revision=2)

    assert "reload the code location" in (evaluate(instance, repository).skip_message or "")


def test_events_of_what_is_deployed_but_not_loaded_yet_count(
    instance: DagsterInstance, store: ReferenceStore
) -> None:
    repository = repository_of(location_of(store))
    app = sample_app()
    more = {**app.datasets, "tides": Dataset(name="tides")}
    deploy(store, msgspec.structs.replace(app, datasets=more), revision=2)
    report(instance, "tides")

    evaluate(instance, repository)

    with store.reading() as reader:
        assert len(reader.events(key_prefix="partition:flights/tides")) == 1


def test_it_launches_the_jobs_of_all_apps(instance: DagsterInstance, store: ReferenceStore) -> None:
    deploy(store, msgspec.structs.replace(sample_app(), name="trains"))
    repository = repository_of(location_of(store))
    report_day(instance, "2023-03-09")
    report_day(instance, "2023-03-09", app="trains")

    requests = evaluate(instance, repository).run_requests or []

    assert {request.tags["tidegate/app"] for request in requests} == {"flights", "trains"}


def test_an_app_that_is_not_loaded_yet_is_not_offered_in_vain(
    instance: DagsterInstance, store: ReferenceStore
) -> None:
    repository = repository_of(location_of(store))
    deploy(store, msgspec.structs.replace(sample_app(), name="trains"))
    report_day(instance, "2023-03-09", app="trains")

    outcome = evaluate(instance, repository)

    assert not outcome.run_requests
    assert RELOAD_TEXT in (outcome.skip_message or "")
    with store.reading() as reader:
        (job,) = reader.jobs(apps=["trains"])
    assert (job.state, job.offers) == (JobState.PENDING_LAUNCH, 0)


def test_nothing_is_launched_of_an_app_on_hold_until_it_is_released(
    instance: DagsterInstance, store: ReferenceStore
) -> None:
    repository = repository_of(location_of(store))
    with store.transaction() as transaction:
        assert hold_app(transaction, "flights", NOW, by=CLI)
        assert not hold_app(transaction, "flights", NOW, by=CLI)
    report_day(instance, "2023-03-09")

    held = evaluate(instance, repository)

    assert not held.run_requests
    assert "nothing is launched of flights, on hold" in (held.skip_message or "")
    assert states(store) == [JobState.PENDING_LAUNCH]
    with store.transaction() as transaction:
        assert release_app(transaction, "flights", NOW, by=CLI)
        assert not release_app(transaction, "flights", NOW, by=CLI)
    assert len(evaluate(instance, repository).run_requests or []) == 1


def test_ticks_have_one_pace_of_pruning(
    instance: DagsterInstance, store: ReferenceStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    slices = list[str]()

    def slow(*_: object) -> None:
        slices.append("pruned")
        sleep(0.5)

    monkeypatch.setattr(steps, "prune_slice", slow)
    repository = repository_of(location_of(store))

    for tick in range(3):
        evaluate(instance, repository, log_key=str(tick))

    assert slices == ["pruned"], "the next slice comes after some ten seconds"


def test_an_idle_tick_asks_the_store_as_little_for_many_apps_as_for_one(
    instance: DagsterInstance, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # They have their turns by the computer's clock.
    monkeypatch.setattr(steps, "end_dead_runs", lambda *_: None)
    monkeypatch.setattr(steps, "prune_slice", lambda *_: None)
    monkeypatch.setattr(steps.Steps, "_note_places", lambda *_: None)

    def asked(apps: int) -> int:
        store = open_sql_store(f"sqlite:///{tmp_path}/{apps}.db")
        for number in range(apps):
            deploy(store, msgspec.structs.replace(sample_app(), name=f"app_{number}"))
        repository, count = repository_of(location_of(store)), list[str]()
        assert evaluate(instance, repository, log_key="1").skip_message == "no waiting jobs"
        event.listen(store.engine, "before_cursor_execute", lambda *what: count.append(what[2]))
        evaluate(instance, repository, log_key="2")
        store.close()
        return len(count)

    assert asked(1) == asked(20)


def test_what_a_run_publishes_triggers_others(instance: DagsterInstance, store: ReferenceStore) -> None:
    repository = repository_of(location_of(store))
    with store.transaction() as transaction:
        ended = RunObservation(run_id="r", program="flights/report", status=RunStatus.SUCCEEDED, at=NOW)
        observe_runs(transaction, [ended], NOW)

    (request,) = evaluate(instance, repository).run_requests or []

    assert request.tags["tidegate/schedule"] == "flights/notify_after"
