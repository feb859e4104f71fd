"""Why a schedule waits, over HTTP: the same tree as `tidegate why --format json`."""

from datetime import timedelta

import pytest

from tests.server.sales import SCHEDULES, deployed
from tests.server.serving import Served, problem

pytestmark = [pytest.mark.store]

WHY = f"{SCHEDULES}/each_day/why"


@pytest.fixture(autouse=True)
def sales(server: Served) -> None:
    deployed(server)


def test_the_tree_says_what_a_waiting_job_waits_for(server: Served):
    server.client.post(f"{SCHEDULES}/each_day/trigger", json={"key": "2026-03-09"})
    server.pass_time(timedelta(seconds=1))

    (tree,) = server.client.get(WHY).json()

    assert tree["schedule"] == "sales/each_day"
    assert tree["job"]["key"] == "2026-03-09"
    assert [(each["kind"], each["met"]) for each in tree["constraints"]] == [("window", False)]
    assert tree["next_check"] == "2026-03-10T22:00:00Z"
    assert (tree["run_address"], tree["scheduler"]) == (
        "",
        ["last tick of the scheduler: 2026-03-10 12:00:01Z"],
    )


def test_of_many_waiting_jobs_the_first_ones_are_explained_unless_all_are_asked_for(server: Served):
    for day in range(1, 24):
        server.client.post(f"{SCHEDULES}/each_day/trigger", json={"key": f"2026-02-{day:02d}"})
    server.pass_time(timedelta(seconds=1))

    first = server.client.get(WHY).json()

    assert len(first) == 20
    assert first[0]["open_jobs"] == {"W-WINDOW": 23}
    every = server.client.get(WHY, params={"all": "true"}).json()
    assert (len(every), every[0]["open_jobs"]) == (23, {})
    assert [each["job"]["id"] for each in every[:20]] == [each["job"]["id"] for each in first]


def test_a_past_moment_is_explained_from_the_journal(server: Served):
    server.client.post(f"{SCHEDULES}/each_day/trigger", json={"key": "2026-03-09"})
    server.pass_time(timedelta(seconds=1))
    server.now += timedelta(hours=1)
    server.client.delete(f"{SCHEDULES}/each_day")

    (tree,) = server.client.get(WHY, params={"at": "2026-03-10T12:30:00Z"}).json()

    assert tree["job"]["key"] == "2026-03-09"
    problem(server.client.get(WHY), 404)
    problem(server.client.get(WHY, params={"at": "2026-03-10T11:59:00Z"}), 404)


@pytest.mark.parametrize(
    "at", ["", "yesterday", "2026-03-10T12:00:00", "2026-03-10T13:00:00Z", "0001-01-01T00:00:00+14:00"]
)
def test_a_malformed_moment_is_400(server: Served, at: str):
    problem(server.client.get(WHY, params={"at": at}), 400)
