"""Jobs over REST: lists in pages, one in full, why it waits, and the actions of people."""

import json
from datetime import timedelta
from typing import Any

import msgspec
import pytest

from tests.server.board.board import HTML
from tests.server.sales import deployed
from tests.server.serving import NS, Served, problem
from tidegate.listings.shown_job import ShownJob
from tidegate.scheduler.model.event import Event, EventKind, partition_event_key
from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.model.journal import EntryKind
from tidegate.scheduler.model.places import Noted
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.records.token import Role
from tidegate.scheduler.model.run import Run, RunStatus
from tidegate.scheduler.tick.places import note_places

pytestmark = [pytest.mark.store]

JOBS = f"{NS}/jobs"
DAYS = ("2026-03-07", "2026-03-08", "2026-03-09")


@pytest.fixture
def waiting(server: Served) -> Served:
    """Three jobs of sales/each_day that wait for their window, each opened a minute after the one before."""
    deployed(server)
    server.pass_time(timedelta(minutes=1))
    for day in DAYS:
        key = partition_event_key("sales", "raw")
        event = Event(
            id=day, kind=EventKind.PARTITION, key=key, time=server.now, arrived=server.now, partition=day
        )
        with server.store.transaction() as transaction:
            transaction.add_events([event])
        server.pass_time(timedelta(minutes=1))
    return server


def listed(server: Served, query: str = "") -> list[Any]:
    answer = server.client.get(f"{JOBS}{query}")
    assert answer.status_code == 200, answer.text
    return answer.json()["items"]


def failed(server: Served, reason: Reason) -> str:
    """Let the newest job fail, as if its run had, and return its id."""
    id_ = listed(server)[0]["id"]
    with server.store.transaction() as transaction:
        (job,) = transaction.jobs(ids=[id_])
        transaction.put_jobs(
            [msgspec.structs.replace(job, state=JobState.FAILED, reason=reason, ended_at=server.now)]
        )
    return id_


def test_all_jobs_are_listed_newest_first(waiting: Served):
    assert [job["key"] for job in listed(waiting)] == list(reversed(DAYS))


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("?state=PENDING_CONSTRAINT", 3),
        ("?state=pending_constraint", 3),
        ("?state=FAILED", 0),
        ("?schedule=sales/each_day", 3),
        ("?schedule=each_day", 3),
        ("?schedule=daily", 0),
        ("?reason=W-WINDOW", 3),
        ("?reason=W-RATE", 0),
        ("?state=PENDING_CONSTRAINT&reason=W-WINDOW&schedule=each_day", 3),
    ],
)
def test_filters(waiting: Served, query: str, count: int):
    assert len(listed(waiting, query)) == count


@pytest.mark.parametrize(
    "query",
    ["state=NONE", "reason=W-NONE", "schedule=none", "schedule=a/none", "limit=0", "limit=1001", "cursor=x"],
)
def test_unknown_values_of_filters_are_400(waiting: Served, query: str):
    problem(waiting.client.get(f"{JOBS}?{query}"), 400)


def test_pages_repeat_and_skip_nothing_while_jobs_come(waiting: Served):
    first = waiting.client.get(f"{JOBS}?limit=2").json()
    event = Event(
        id="late",
        kind=EventKind.PARTITION,
        key=partition_event_key("sales", "raw"),
        time=waiting.now,
        arrived=waiting.now,
        partition="2026-03-06",
    )
    with waiting.store.transaction() as transaction:
        transaction.add_events([event])
    waiting.pass_time(timedelta(minutes=1))
    second = waiting.client.get(f"{JOBS}?limit=2&cursor={first['next']}").json()

    assert [job["key"] for job in (*first["items"], *second["items"])] == list(reversed(DAYS))
    assert second["next"] is None
    problem(waiting.client.get(f"{NS}/apps?cursor={first['next']}"), 400)


def test_one_job_is_shown_with_attempts_events_and_history(waiting: Served):
    id_ = listed(waiting)[0]["id"]

    shown = waiting.client.get(f"{JOBS}/{id_}").json()

    assert shown.keys() == {*ShownJob.__struct_fields__}
    assert shown["events"] == 1
    assert (shown["job"]["id"], shown["job"]["state"]) == (id_, "PENDING_CONSTRAINT")
    assert [each["event"]["partition"] for each in shown["collected"]] == [DAYS[-1]]
    assert len(waiting.client.get(f"{JOBS}/{id_}?newest=1").json()["history"]) == 1
    problem(waiting.client.get(f"{JOBS}/{id_}?newest=0"), 400)
    problem(waiting.client.get(f"{JOBS}/{id_[:-1]}"), 404)


def test_why_is_the_tree_of_the_job(waiting: Served):
    job = listed(waiting)[0]

    (tree,) = waiting.client.get(f"{JOBS}/{job['id']}/why").json()

    assert tree["job"]["id"] == job["id"]
    assert tree["constraints"][0]["reason"] == "W-WINDOW"
    problem(waiting.client.get(f"{JOBS}/none/why"), 404)


def act(server: Served, id_: str, action: str) -> Any:
    return server.client.post(f"{JOBS}/{id_}/{action}", json={"reason": "a test"})


def test_what_lists_show_of_an_id_names_the_job_everywhere(waiting: Served):
    id_ = listed(waiting)[0]["id"]
    short, client = id_.rpartition("-")[2][:8], waiting.client

    assert client.get(f"{JOBS}/{short}").json()["job"]["id"] == id_
    assert client.get(f"{JOBS}/{short}/why").json()[0]["job"]["id"] == id_
    events = client.get(f"{NS}/events", params={"job": short}).json()["items"]
    assert [each["partition"] for each in events] == [DAYS[-1]]
    assert id_ in client.get(f"/board/jobs/{short}", headers=HTML).text
    assert client.get(f"/board/events?job={short}", headers=HTML).text.count(DAYS[-1]) == 1
    problem(client.get(f"{JOBS}/{short[:7]}"), 404)
    assert act(waiting, short, "cancel").json()["job"]["id"] == id_
    problem(waiting.of(waiting.token(Role.READ, app="other")).get(f"{JOBS}/{short}"), 404)


def test_cancel_discards_once_and_journals_who_and_why(waiting: Served):
    id_ = listed(waiting)[0]["id"]

    answer = act(waiting, id_, "cancel")

    assert answer.status_code == 200
    assert (answer.json()["job"]["state"], answer.json()["job"]["reason"]) == ("DISCARDED", "D-CANCELLED")
    problem(act(waiting, id_, "cancel"), 409)
    with waiting.store.reading() as reader:
        (entry,) = [each for each in reader.journal(job=id_) if each.kind is EntryKind.DISCARDED]
    assert entry.data == {"by": "rest", "why": "a test"}


def test_force_overrides_the_window(waiting: Served):
    id_ = listed(waiting)[0]["id"]

    assert act(waiting, id_, "force").status_code == 200
    waiting.pass_time(timedelta(seconds=5))

    assert waiting.client.get(f"{JOBS}/{id_}").json()["job"]["state"] == "PENDING_LAUNCH"
    problem(act(waiting, id_, "force"), 409)


def test_retry_and_requeue_take_failed_jobs(waiting: Served):
    id_ = listed(waiting)[0]["id"]
    problem(act(waiting, id_, "retry"), 409)
    problem(act(waiting, id_, "requeue"), 409)

    failed(waiting, Reason.F_RUN)
    problem(act(waiting, id_, "requeue"), 409)
    answer = act(waiting, id_, "retry")
    assert (answer.status_code, answer.json()["job"]["attempt"]) == (200, 2)

    failed(waiting, Reason.F_LAUNCH)
    answer = act(waiting, id_, "requeue")
    assert (answer.status_code, answer.json()["job"]["attempt"]) == (200, 3)
    with waiting.store.reading() as reader:
        data = [each.data for each in reader.journal(job=id_) if each.kind is EntryKind.MANUAL]
    assert [(each["action"], each["by"], each["why"]) for each in data] == [
        ("retry", "rest", "a test"),
        ("requeue", "rest", "a test"),
    ]


@pytest.mark.parametrize("action", ["cancel", "requeue", "retry", "force"])
def test_an_action_on_an_unknown_job_is_404_and_malformed_bodies_are_400(waiting: Served, action: str):
    id_ = listed(waiting)[0]["id"]

    problem(act(waiting, "none", action), 404)
    problem(waiting.client.post(f"{JOBS}/{id_}/{action}", json={"reason": 1}), 400)
    problem(waiting.client.post(f"{JOBS}/{id_}/{action}", json={"reson": "x"}), 400)
    problem(waiting.client.post(f"{JOBS}/{id_}/explode"), 400)


def test_roles_and_apps_of_tokens(waiting: Served):
    id_ = listed(waiting)[0]["id"]
    reader, other = waiting.of(waiting.token(Role.READ)), waiting.of(waiting.token(Role.OPERATE, app="other"))

    assert len(reader.get(JOBS).json()["items"]) == 3
    problem(reader.post(f"{JOBS}/{id_}/cancel"), 403)
    assert other.get(JOBS).json()["items"] == []
    problem(other.get(f"{JOBS}/{id_}"), 403)
    problem(other.post(f"{JOBS}/{id_}/cancel"), 403)
    operator = waiting.of(waiting.token(Role.OPERATE, app="sales"))
    assert operator.post(f"{JOBS}/{id_}/cancel").status_code == 200


PLACES = "queued for one of 4 places (`max_concurrent_runs` of dagster.yaml)"


def launched(server: Served, status: RunStatus) -> str:
    """Launch the newest job, with a run of this status."""
    id_ = listed(server)[0]["id"]
    run = Run(run_id="r", program="sales/report", job=id_, attempt=1, status=status, seen_at=server.now)
    with server.store.transaction() as transaction:
        (job,) = transaction.jobs(ids=[id_])
        transaction.put_jobs([msgspec.structs.replace(job, state=JobState.LAUNCHED, reason=None, run_id="r")])
        transaction.put_runs([run])
    return id_


@pytest.mark.parametrize(
    ("status", "shown"),
    [
        (RunStatus.QUEUED, "queued"),
        (RunStatus.STARTING, "starting"),
        (RunStatus.STARTED, "running"),
        (RunStatus.SUCCEEDED, None),
    ],
)
def test_a_launched_job_has_the_state_of_its_run(waiting: Served, status: RunStatus, shown: str | None):
    id_ = launched(waiting, status)
    found = {job["id"]: job["run_state"] for job in listed(waiting)}
    assert found.pop(id_) == shown
    assert set(found.values()) == {None}
    for state in ("queued", "starting", "running"):
        ids = [job["id"] for job in listed(waiting, f"?run_state={state}&limit=1")]
        assert ids == [id_] * (state == shown)
    assert listed(waiting, "?run_state=queued,running&state=FAILED") == []
    assert waiting.client.get(f"{JOBS}/{id_}").json()["job"]["run_state"] == shown
    (why,) = waiting.client.get(f"{JOBS}/{id_}/why").json()
    assert why["job"]["run_state"] == shown
    problem(waiting.client.get(f"{JOBS}?run_state=done"), 400)


def test_a_queued_run_names_the_places_where_their_number_is_known(waiting: Served):
    id_ = launched(waiting, RunStatus.QUEUED)

    def detail() -> str:
        (job,) = listed(waiting, "?run_state=queued")
        return job["detail"]

    assert detail() == "queued for a place (`max_concurrent_runs` of dagster.yaml)"
    with waiting.store.transaction() as transaction:
        for app in transaction.app_headers():
            note_places(transaction, app.project, Noted(most=4))
    assert detail() == PLACES
    why = waiting.client.get(f"{JOBS}/{id_}/why").json()
    assert PLACES in json.dumps(why)
