"""The metrics of the server, and their documentation."""

import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.alerts.samples import alert
from tests.server.sales import SPEC, deployed
from tests.server.serving import NS, Served, problem
from tidegate.domain.maintenance.measures import HEALTHY
from tidegate.scheduler.explain.metrics import BYTES, JOBS, METRICS, Sample
from tidegate.scheduler.launch.active_host import take
from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.model.maintenance import MAINTAINED_TABLES, Health, TableState
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.records.alert import ALERTS, AlertState
from tidegate.scheduler.model.records.token import Role
from tidegate.scheduler.model.records.watched import WATCHED_FOLDERS, WatchedFolder
from tidegate.scheduler.model.run import Run, RunStatus
from tidegate.server.routes.metrics import exposition

pytestmark = [pytest.mark.store]

DOCS = Path(__file__).parents[3] / "docs" / "metrics.md"

LABELS = {metric.name: metric.labels for metric in METRICS}

Samples = dict[tuple[str, ...], float]


@pytest.fixture
def served(server: Served) -> Served:
    """A server of two apps, each with two days that wait for the evening."""
    for app in ("sales", "other"):
        deployed(server, {**SPEC, "app": app})
        days = [{"key": "2026-03-08"}, {"key": "2026-03-09"}]
        body = {"app": app, "dataset": "raw", "partitions": days}
        assert server.client.post(f"{NS}/events/partitions", json=body).status_code == 202
    server.pass_time(timedelta(0))
    return server


def scraped(client: Any) -> dict[str, Samples]:
    """Return the samples of each metric, by the values of their labels."""
    answer = client.get("/metrics")
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    found: dict[str, Samples] = {}
    for family in text_string_to_metric_families(answer.text):
        name = f"{family.name}_total" if family.type == "counter" else family.name
        labels = LABELS[name]
        found[name] = {
            tuple(sample.labels[label] for label in labels): sample.value for sample in family.samples
        }
    return found


def test_values_of_labels_are_read_as_they_were_written():
    values = ("a\\b", 'in "quotes"', "two\nlines")
    text = exposition([(JOBS, Sample(values=values, number=2.5)), (BYTES, Sample(number=1e22))])
    found = {family.name: family for family in text_string_to_metric_families(text)}
    (jobs,), (size,) = found[JOBS.name].samples, found[BYTES.name].samples
    assert (tuple(jobs.labels[name] for name in JOBS.labels), jobs.value) == (values, 2.5)
    assert (size.labels, size.value) == ({}, 1e22)
    assert {family.documentation for family in found.values()} == {metric.help for metric in METRICS}


def test_jobs_events_and_deliveries_by_app(served: Served):
    found = scraped(served.client)

    assert found["tidegate_jobs"] == {
        (app, "PENDING_CONSTRAINT", "W-WINDOW"): 2 for app in ("sales", "other")
    }
    assert found["tidegate_events"] == {(app, "partition"): 2 for app in ("sales", "other")}
    assert found["tidegate_deliveries"]["sales", "pending", ""] == 2
    assert found["tidegate_deliveries"]["sales", "succeeded", ""] == 0
    assert found["tidegate_schedules"]["sales", "active"] == 1
    assert found["tidegate_schedules"]["sales", "suspended"] == 1
    assert found["tidegate_deployments_total"] == {("sales",): 1, ("other",): 1}
    assert found["tidegate_dead_letters"] == {}
    assert found["tidegate_store_bytes"][()] > 10_000


def test_the_oldest_waiting_job_and_the_last_tick_have_an_age(served: Served):
    served.now += timedelta(minutes=10)

    found = scraped(served.client)

    assert found["tidegate_oldest_waiting_seconds"]["sales", "PENDING_CONSTRAINT"] == 600
    assert found["tidegate_scheduler_ticking"] == {(): 0}
    ticked = found["tidegate_last_tick_timestamp_seconds"][()]
    assert found["tidegate_last_tick_age_seconds"][()] == served.now.timestamp() - ticked
    served.pass_time(timedelta(seconds=5))
    assert scraped(served.client)["tidegate_scheduler_ticking"] == {(): 1}


def test_a_launch_that_becomes_a_dead_letter(served: Served):
    job = served.client.post(f"{NS}/apps/sales/schedules/daily/trigger", json={"reason": "now"}).json()["job"]
    served.pass_time(timedelta(seconds=1))
    found = scraped(served.client)
    assert found["tidegate_jobs"]["sales", "PENDING_LAUNCH", ""] == 1
    assert found["tidegate_launches"] == {("sales",): 1}
    with served.store.transaction() as transaction:
        (pending,) = transaction.jobs(ids=[job])
        dead = msgspec.structs.replace(pending, state=JobState.FAILED, reason=Reason.F_LAUNCH)
        transaction.put_jobs([dead])
    found = scraped(served.client)
    assert found["tidegate_dead_letters"] == {("sales",): 1}
    assert found["tidegate_jobs"]["sales", "FAILED", "F-LAUNCH"] == 1


def test_the_lease_of_the_host(served: Served):
    assert scraped(served.client)["tidegate_host_active"] == {(): 0}
    with served.store.transaction() as transaction:
        take(transaction, served.service.settings.name, "host", served.now)
    served.now += timedelta(seconds=1)

    found = scraped(served.client)

    assert (found["tidegate_host_active"], found["tidegate_host_lease_seconds"]) == ({(): 1}, {(): 3})
    served.now += timedelta(seconds=3)
    found = scraped(served.client)
    assert (found["tidegate_host_active"], found["tidegate_host_lease_seconds"]) == ({(): 0}, {(): 0})


def test_what_needs_a_person_beside_jobs(served: Served):
    """Dead alerts, failing folders, the debt of tables, and a run that Dagster keeps in its queue."""
    project, now = served.service.settings.name, served.now
    dead = {"project": project, "state": AlertState.DEAD, "next_at": None, "ended_at": now}
    folder = WatchedFolder(dataset="sales/raw", project=project, folder="/landing", since=now)
    failing = msgspec.structs.replace(folder, problem="away", remedy="mount it", problem_since=now)
    small = Health(measured_at=now, values={**HEALTHY, "small_file_percent": 95})
    runs = [
        Run(run_id=str(age), program=program, status=status, seen_at=now - timedelta(minutes=age))
        for age, program, status in (
            (9, "other/load", RunStatus.STARTED),
            (7, "other/load", RunStatus.QUEUED),
            (5, "other/load", RunStatus.QUEUED),
        )
    ]
    with served.store.transaction() as transaction:
        transaction.put_records(
            ALERTS,
            [
                msgspec.structs.replace(alert("duty", id="1", subject="sales/daily"), **dead),
                msgspec.structs.replace(alert("duty", id="2", subject="other/daily"), **dead),
                msgspec.structs.replace(alert("ops", id="3", subject="sales/daily"), project=project),
            ],
        )
        transaction.put_records(WATCHED_FOLDERS, [failing])
        transaction.put_records(
            MAINTAINED_TABLES,
            [
                TableState(name="sales/raw", dataset="sales/raw", health=small),
                TableState(name="lake.raw.t", catalog_name="lake.raw.t", health=small),
                TableState(name="other/raw", dataset="other/raw"),
            ],
        )
        transaction.put_runs(runs)

    found = scraped(served.client)

    assert found["tidegate_dead_alerts"] == {("duty",): 2, ("ops",): 0}
    assert found["tidegate_failing_watched_folders"] == {("sales",): 1, ("other",): 0}
    debts = found["tidegate_maintenance_debt"]
    assert debts["sales",] == debts["",] > 0 == debts["other",]
    assert found["tidegate_oldest_queued_run_seconds"] == {("sales",): 0, ("other",): 420}
    mine = scraped(served.of(served.token(Role.READ, app="sales")))
    assert mine["tidegate_dead_alerts"] == {("duty",): 1, ("ops",): 0}
    assert mine["tidegate_maintenance_debt"] == {("sales",): debts["sales",]}


def test_a_token_of_an_app_sees_that_app_only(served: Served):
    mine = served.of(served.token(Role.READ, app="sales"))

    found = scraped(mine)

    labelled = {name for name, labels in LABELS.items() if "app" in labels}
    assert {values[0] for name in labelled for values in found[name]} == {"sales"}
    assert found["tidegate_jobs"] == {("sales", "PENDING_CONSTRAINT", "W-WINDOW"): 2}
    problem(served.client.get("/metrics"), 401)


def test_each_metric_is_documented_and_each_documented_one_exists(served: Served):
    rows = re.findall(r"^\| `(tidegate_\w+)` \| (.*?) \|", DOCS.read_text(), re.MULTILINE)
    documented = {name: tuple(re.findall(r"`(\w+)`", labels)) for name, labels in rows}

    assert documented == LABELS
    assert scraped(served.client).keys() == documented.keys()
