"""What is provisional, and what repairs it: in the lists of REST and on the board (rule 30)."""

from datetime import timedelta
from typing import Any

import pytest

from tests.server.board.board import HTML, shown
from tests.server.sales import SPEC, deployed
from tests.server.serving import NS, Served
from tests.server.shop import fetched
from tidegate.scheduler.decision.fold.run_events import event_of_job
from tidegate.scheduler.model.event import Event, EventKind
from tidegate.scheduler.model.job import Job

pytestmark = [pytest.mark.store]

DAY = "2026-03-09"
MISSING = {"kind": "partitions", "member": "1", "of": "other", "name": "late", "keys": [DAY]}
JOIN = {
    "program": "clean",
    "for_each": "day",
    "trigger": {
        "all": [{"partitions": {"dataset": "raw"}}, {"partitions": {"dataset": "other"}, "as": "late"}],
        "wait_at_most": "1h",
    },
    "repair": True,
    "status": "active",
}


def arrives(server: Served, dataset: str) -> None:
    """A day of a dataset comes, and the engine decides about it a second later."""
    body = {"app": "sales", "dataset": dataset, "partitions": [{"key": DAY}]}
    assert server.client.post(f"{NS}/events/partitions", json=body).status_code == 202
    server.pass_time(timedelta(seconds=1))


def published(job: Job, server: Served) -> Event:
    """The event of what a job publishes."""
    event = Event(
        id=f"published by {job.id}", kind=EventKind.PARTITION, key="partition:sales/cleaned", partition=DAY,
        time=server.now, arrived=server.now,
    )  # fmt: skip
    return event_of_job(event, job)


@pytest.fixture
def served(server: Served) -> tuple[Served, str, str]:
    """A job that was launched without a member of its trigger, its repair, and what both have published."""
    datasets: Any = {**SPEC["datasets"], "other": SPEC["datasets"]["raw"]}
    program = {**SPEC["programs"]["clean"], "reads": ["raw", "other"]}
    programs: Any = {**SPEC["programs"], "clean": program}
    deployed(server, {**SPEC, "datasets": datasets, "programs": programs, "schedules": {"join": JOIN}})
    arrives(server, "raw")
    server.pass_time(timedelta(hours=1))
    arrives(server, "other")
    with server.store.transaction() as transaction:
        first, second = sorted(transaction.jobs(), key=lambda job: job.opened_at)
        transaction.add_events([published(job, server) for job in (first, second)])
    return server, first.id, second.id


def test_jobs_name_what_was_missing_and_what_they_repair(served: tuple[Served, str, str]) -> None:
    server, early, repair = served
    listed = {each["id"]: each for each in fetched(server.client.get(f"{NS}/jobs"))["items"]}
    marks = [(listed[job]["provisional"], listed[job]["repairs"]) for job in (early, repair)]
    assert marks == [(True, None), (False, early)]
    launch = fetched(server.client.get(f"{NS}/jobs/{early}"))["launch"]
    assert (launch["provisional"], launch["manifest"]) == ([MISSING], {"raw": [DAY]})
    launch = fetched(server.client.get(f"{NS}/jobs/{repair}"))["launch"]
    assert (launch["provisional"], launch["repairs"]) == ([], early)
    assert launch["manifest"] == {"other": [DAY], "raw": [DAY]}


def test_events_are_marked_as_provisional_and_as_repairs(served: tuple[Served, str, str]) -> None:
    server, early, _ = served
    found = fetched(server.client.get(f"{NS}/events?dataset=sales/cleaned"))["items"]
    assert {(each["provisional"], each["repairs"]) for each in found} == {(True, None), (False, early)}


def test_the_board_shows_both(served: tuple[Served, str, str]) -> None:
    server, early, repair = served

    def page(path: str) -> str:
        return server.client.get(path, headers=HTML).text

    assert f"provisional, without late {DAY}" in page(f"/board/jobs/{early}")
    assert f'<a href="/board/jobs/{early}">{early}</a>' in page(f"/board/jobs/{repair}")
    listed = page("/board/events?dataset=sales/cleaned")
    assert ">provisional<" in listed and ">repair<" in listed
    listed_jobs = shown(server, "/board/jobs")["items"]
    assert {(each["id"], each["repairs"]) for each in listed_jobs} == {(early, None), (repair, early)}
