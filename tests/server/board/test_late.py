"""*Late*: what *Now* counts as late, and its list."""

from datetime import timedelta
from typing import Any

import pytest

from tests.server.board.board import HTML, report, shown
from tests.server.sales import EACH_DAY, SPEC, deployed
from tests.server.serving import Served, problem
from tidegate.scheduler.explain.work import work_of
from tidegate.scheduler.model.records.token import Role
from tidegate.scheduler.tick.deadlines import sweep_deadlines

pytestmark = [pytest.mark.store]

DAY = "2026-03-07"


@pytest.fixture
def late(server: Served) -> Served:
    """A job that waits past its deadline, and the period of a dataset that has not landed by its own."""
    hours = {"partitions": {"cycle": "hour", "start": "2026-01-01-00:00"}, "deadline": "10m"}
    datasets = {**SPEC["datasets"], "prices": hours}
    schedules = {"each_day": {**EACH_DAY, "deadline": "10m"}}
    deployed(server, {**SPEC, "datasets": datasets, "schedules": schedules})
    server.pass_time(timedelta(minutes=1))
    report(server, (DAY,))
    for _ in range(6):
        server.pass_time(timedelta(minutes=12))
    sweep_deadlines(server.store, server.now)
    return server


def late_tile(view: dict[str, Any]) -> dict[str, Any]:
    """The number of *Now*."""
    found: dict[str, Any] = next(each for each in view["tiles"] if each["state"] == "late")
    return found


def test_now_counts_what_is_late_and_leads_to_the_list_of_it(late: Served):
    with late.store.reading() as reader:
        number = work_of(reader, frozenset({"sales"}), late.now).late
    tile = late_tile(shown(late, "/"))
    assert number == tile["number"] == len(shown(late, tile["href"])["items"]) == 2
    assert 'href="/board/late"><span class="l">' in late.client.get("/", headers=HTML).text


def test_the_list_names_the_job_and_the_period_with_links(late: Served):
    by_kind = {each["kind"]: each for each in shown(late, "/board/late")["items"]}

    job, period = by_kind["schedule"], by_kind["dataset"]

    assert (job["name"], job["key"], period["name"]) == ("sales/each_day", DAY, "sales/prices")
    html = late.client.get("/board/late", headers=HTML).text
    assert f'href="/board/jobs/{job["job"]}"' in html and 'href="/board/datasets/sales/prices"' in html
    assert len(shown(late, "/board/late?dataset=sales/prices")["items"]) == 1
    first = shown(late, "/board/late?limit=1")
    assert f"now=true&amp;cursor={first['next']}" in late.client.get("/board/late?limit=1&now=true").text


def test_what_has_landed_is_listed_on_request_only(late: Served):
    (period,) = shown(late, "/board/late?dataset=sales/prices")["items"]
    body = {"app": "sales", "dataset": "prices", "partitions": [{"key": period["key"]}]}
    late.client.post("/v3/namespaces/default/events/partitions", json=body)
    late.pass_time(timedelta(minutes=1))
    assert shown(late, "/board/late?dataset=sales/prices")["items"] == []
    (landed,) = shown(late, "/board/late?dataset=sales/prices&now=false")["items"]
    assert landed["over_at"] is not None


def test_a_token_for_an_app_sees_its_own(late: Served):
    other = late.of(late.token(Role.READ, app="other"))
    assert late_tile(other.get("/", params={"format": "json"}).json())["number"] == 0
    assert other.get("/board/late", params={"format": "json"}).json()["items"] == []
    problem(other.get("/board/late?app=sales"), 403)


def test_nothing_late_is_not_mentioned(server: Served):
    assert late_tile(shown(server, "/"))["number"] == 0
    problem(server.client.get("/board/late?app=none"), 400)
    problem(server.client.get("/board/late?now=odd"), 400)
