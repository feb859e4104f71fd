"""Every event is found in one call, also an old one among thousands: over REST and on the board."""

from datetime import timedelta
from typing import Any

import pytest

from tests.server.board.board import DAYS, HTML, fill, job_of, report, shown
from tests.server.sales import SCHEDULES, SPEC, deployed
from tests.server.serving import NS, Served, problem
from tidegate.scheduler.intake.report import RefusedReport, note_refused
from tidegate.scheduler.model.event import Delivery, Event, EventKind
from tidegate.scheduler.model.records.token import Role

pytestmark = pytest.mark.slow  # a server on a real store

EVENTS = f"{NS}/events"
MORE = 2_300
"""More events than are looked at one by one."""


@pytest.fixture
def served(server: Served) -> Served:
    """An event of a suspended schedule, then many that a job of it has collected."""
    fill(server)
    server.client.post(f"{SCHEDULES}/each_day/suspend", json={})
    report(server, ("2026-03-01",))
    server.client.post(f"{SCHEDULES}/each_day/resume", json={})
    server.pass_time(timedelta(minutes=1))
    report(server, ("2026-03-02",))
    with server.store.transaction() as transaction:
        (job,) = [each for each in transaction.jobs() if each.key == "2026-03-02"]
        events = [
            Event(
                id=f"e{number:05}",
                kind=EventKind.PARTITION,
                key="partition:sales/raw",
                partition="2026-03-02",
                time=server.now,
                arrived=server.now + timedelta(seconds=number),
            )
            for number in range(1, MORE + 1)
        ]
        transaction.add_events(events)
        transaction.mark_routed([each.id for each in events])
        transaction.add_deliveries(
            [
                Delivery(event=each, schedule=job.schedule, leaf="", job=job.id, at=server.now)
                for each in events
            ]
        )
    return server


def found(server: Served, query: str) -> list[Any]:
    """Return all events that match, page by page."""
    items: list[Any] = []
    path = f"{EVENTS}?{query}&limit=1000"
    answer = server.client.get(path).json()
    items += answer["items"]
    while answer["next"]:
        answer = server.client.get(f"{path}&cursor={answer['next']}").json()
        items += answer["items"]
    return items


def test_every_event_is_found_by_what_it_is_and_by_what_became_of_it(served: Served):
    job = job_of(served, "2026-03-02")
    every = found(served, "dataset=sales/raw")
    assert len(every) == MORE + 4
    assert [each["arrived"] for each in every] == sorted((each["arrived"] for each in every), reverse=True)
    assert len({each["id"] for each in every}) == len(every)

    (old,) = found(served, "dataset=raw&partition=2026-03-01")
    (delivery,) = old["deliveries"]
    assert (delivery["schedule"], delivery["job"]) == ("sales/each_day", None)
    assert (delivery["outcome"], delivery["reason"]) == ("discarded", "D-SUSPENDED")
    for query in ("schedule=each_day&outcome=discarded", "reason=d-suspended", "outcome=discarded&app=sales"):
        # The other one waited when the schedule was suspended.
        assert [each["partition"] for each in found(served, query)] == ["2026-03-01", DAYS[1]]

    assert len(found(served, f"job={job}")) == MORE + 1
    assert len(found(served, "schedule=sales/each_day&outcome=pending")) == MORE + 1
    assert [each["partition"] for each in found(served, "outcome=failed&reason=F-RUN")] == [DAYS[0]]
    between = f"from={every[2]['arrived']}&until={every[0]['arrived']}".replace("+", "%2B")
    assert found(served, between) == every[1:3]
    assert found(served, "schedule=sales/daily") == []


def test_every_number_of_the_board_leads_to_all_of_its_events(served: Served):
    job = job_of(served, "2026-03-02")
    (line,) = shown(served, "/board/ledger")["items"]
    assert (line["landed"], line["discarded"]) == (MORE + 4, 2)
    for query, number in (
        ("schedule=sales/each_day&outcome=discarded", 2),
        ("schedule=sales/each_day&outcome=pending", MORE + 1),
        ("dataset=sales/raw&partition=2026-03-01", 1),
        (f"job={job}", MORE + 1),
    ):
        path = f"/board/events?{query}&limit=1000"
        view, seen = shown(served, path), 0
        while True:
            seen += len(view["items"])
            if view["next"] is None:
                break
            view = shown(served, f"{path}&cursor={view['next']}")
        assert seen == number, query
    text = served.client.get(f"/board/jobs/{job}", headers=HTML).text
    assert f'<a href="/board/events?job={job}">{MORE + 1}</a>' in text
    text = served.client.get("/board/events?schedule=sales/each_day&outcome=pending", headers=HTML).text
    assert 'rel="next"' in text and "schedule=sales%2Feach_day&amp;outcome=pending" in text
    assert "job was pruned" in text


def test_the_ledger_counts_deliveries_and_links_to_those_of_its_app(served: Served):
    text = served.client.get("/board/ledger?app=sales", headers=HTML).text
    assert f'<a href="#lines">{MORE + 4}</a> deliveries to schedules' in text
    assert '<a href="/board/events?outcome=discarded&amp;app=sales">2</a>' in text
    assert '<a href="/board/events?schedule=sales/each_day"><text' in text


@pytest.mark.parametrize(
    "query",
    [
        *("outcome=odd", "reason=D-ODD", "schedule=none", "schedule=sales/none", "dataset=sales/none"),
        *("from=now", "until=2026-03-10", "cursor=x", "limit=0", "app=none"),
    ],
)
def test_unknown_values_of_filters_are_400(server: Served, query: str):
    deployed(server)
    problem(server.client.get(f"{EVENTS}?{query}"), 400)


def test_a_token_of_an_app_finds_what_reached_its_schedules(server: Served):
    deployed(server)
    reads = {
        "program": "report",
        "trigger": {"partitions": {"dataset": "sales/raw"}},
        "status": "active",
    }
    other = {
        "app": "other",
        "programs": {"report": {"run": "programs.report"}},
        "schedules": {"reads": reads},
    }
    deployed(server, {**other, "datasets": {}})
    report(server, DAYS[:1])
    mine, theirs = (server.of(server.token(Role.READ, app=app)) for app in ("sales", "other"))

    (event,) = mine.get(EVENTS).json()["items"]
    assert [each["schedule"] for each in event["deliveries"]] == ["sales/each_day"]
    assert theirs.get(EVENTS).json()["items"] == []
    (event,) = theirs.get(f"{EVENTS}?schedule=reads").json()["items"]
    assert [each["schedule"] for each in event["deliveries"]] == ["other/reads"]
    problem(theirs.get(f"{EVENTS}?schedule=sales/each_day"), 403)
    problem(theirs.get(f"{EVENTS}?dataset=sales/raw"), 403)
    problem(theirs.get(f"{EVENTS}?app=sales"), 403)
    assert theirs.get(f"{EVENTS}?job={job_of(server, DAYS[0])}").json()["items"] == []


def test_events_of_a_deleted_schedule_are_found(server: Served):
    deployed(server)
    report(server, DAYS[:1])
    left = {name: value for name, value in SPEC["schedules"].items() if name != "each_day"}
    deployed(server, {**SPEC, "schedules": left})
    (event,) = server.client.get(f"{EVENTS}?schedule=sales/each_day&outcome=discarded").json()["items"]
    assert [each["reason"] for each in event["deliveries"]] == ["D-DELETED"]


def test_refused_reports_are_listed_among_events_to_who_sees_their_app(server: Served):
    deployed(server)
    report(server, DAYS[:1])
    server.pass_time(timedelta(minutes=1))
    key = "partition:sales/rwa"
    refused = RefusedReport(id="r", at=server.now, key=key, partition="x", reason="there is no dataset rwa")
    with server.store.transaction() as transaction:
        note_refused(transaction, [refused])

    first, second = found(server, "")

    assert (first["key"], first["refused"], first["deliveries"]) == (key, refused.reason, [])
    assert second["refused"] is None
    assert found(server, "key=partition:sales/rw") == [first]
    assert found(server, "schedule=each_day") == [second]
    page = server.client.get(f"{EVENTS}?limit=1").json()
    assert server.client.get(f"{EVENTS}?limit=1&cursor={page['next']}").json()["items"] == [second]
    assert "refused: there is no dataset rwa" in server.client.get("/board/events", headers=HTML).text
    theirs = server.of(server.token(Role.READ, app="other"))
    assert theirs.get(EVENTS).json()["items"] == []


def test_several_outcomes_go_together_and_a_part_of_the_id_names_a_job(server: Served):
    fill(server)
    pending, failed = found(server, "outcome=pending"), found(server, "outcome=failed")
    assert found(server, "outcome=pending&outcome=failed") == [*pending, *failed]
    (job,) = {each["job"] for each in pending[0]["deliveries"]}
    assert found(server, f"job={job[:-1]}") == found(server, f"job={job}") == pending
    problem(server.client.get(f"{EVENTS}?job=none"), 400)
