"""The time line over REST: lanes, bars, exact instants, scope, limits, and wrong spans."""

from datetime import timedelta
from typing import Any

import msgspec
import pytest

from tests.crashes.statements import listening
from tests.server.board.board import DAYS, HOSTILE, fill, job_of, report
from tests.server.sales import SPEC, deployed
from tests.server.serving import NOON, NS, Served, problem
from tests.server.shop import shop
from tests.worlds.samples import event, operation_job, run
from tidegate.listings.queries.time_line import MOST_BYTES
from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.model.records.token import Role
from tidegate.scheduler.model.run import RunStatus
from tidegate.scheduler.store.sql.store import SqlStore

pytestmark = [pytest.mark.store]

LINE = f"{NS}/timeline"


def line(client: Any, query: str = "") -> dict[str, Any]:
    answer = client.get(f"{LINE}{query}")
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def lanes(client: Any, query: str = "") -> dict[str, dict[str, Any]]:
    return {lane["ref"]: lane for app in line(client, query)["apps"] for lane in app["lanes"]}


@pytest.fixture
def board(server: Served) -> Served:
    """A server with a job that waits for its window, one that has failed, and a daily cron."""
    return fill(server)


def test_a_lane_has_its_jobs_windows_and_fires(board: Served) -> None:
    found = line(board.client)
    assert (found["start"], found["end"]) == ("2026-03-10T00:02:00Z", "2026-03-11T12:02:00Z")
    assert (found["lanes"], found["pages"], found["zone"]) == (2, 1, "UTC")
    (app,) = found["apps"]
    assert (app["app"], app["states"]) == ("sales", {"failed": 1, "ahead": 1})
    each_day, daily = app["lanes"]
    assert each_day["says"] == f"failed {DAYS[0]}: the run failed"
    assert {bar["key"]: bar["state"] for bar in each_day["bars"]} == dict(
        zip(DAYS, ("failed", "waiting"), strict=True)
    )
    assert each_day["windows"] == [
        {"start": "2026-03-10T00:02:00Z", "end": "2026-03-10T06:00:00Z"},
        {"start": "2026-03-10T22:00:00Z", "end": "2026-03-11T06:00:00Z"},
    ]
    (timeout,) = each_day["marks"]
    assert (timeout["kind"], timeout["key"]) == ("timeout", DAYS[1])
    assert (daily["state"], daily["times"]) == ("ahead", ["2026-03-11T06:00:00Z"])


def test_each_attempt_is_a_bar_and_a_run_at_work_has_its_usual_end(board: Served) -> None:
    waits = job_of(board, DAYS[1])
    began = board.now - timedelta(minutes=10)
    with board.store.transaction() as transaction:
        (job,) = transaction.jobs(ids=[waits])
        at_work = {"state": JobState.LAUNCHED, "reason": None, "launched_at": began, "run_id": "r2"}
        past = [
            msgspec.structs.replace(
                job, id=f"past-{n}", state=JobState.SUCCEEDED, run_id=f"past-{n}", ended_at=NOON
            )
            for n in range(5)
        ]
        transaction.put_jobs([msgspec.structs.replace(job, **at_work), *past])
        transaction.put_runs(
            [
                run(
                    "r1",
                    RunStatus.FAILED,
                    job=waits,
                    attempt=1,
                    started_at=began - timedelta(minutes=9),
                    ended_at=began,
                ),
                run("r2", job=waits, attempt=2, started_at=began),
                *(
                    run(
                        f"past-{n}",
                        RunStatus.SUCCEEDED,
                        job=f"past-{n}",
                        started_at=NOON - timedelta(minutes=15 + n),
                        ended_at=NOON,
                    )
                    for n in range(5)
                ),
            ]
        )
    bars = [bar for bar in lanes(board.client)["sales/each_day"]["bars"] if bar["job"] == waits]
    assert [(bar.get("attempt", 1), bar["state"]) for bar in bars] == [(1, "failed"), (2, "running")]
    assert bars[1]["start"] == "2026-03-10T11:52:00Z"
    assert bars[1]["usual_end"] == "2026-03-10T12:09:00Z"


def test_data_that_landed_on_five_days_usually_lands_so(board: Served) -> None:
    with board.store.transaction() as transaction:
        landed = [
            event(f"e{n}", -24 * 60 * n + 15 * (n % 2), key="partition:sales/raw", partition=f"2026-03-0{n}")
            for n in range(1, 6)
        ]
        transaction.add_events(landed)
        transaction.mark_routed([each.id for each in landed])
    (arrival,) = lanes(board.client)["sales/each_day"]["arrivals"]
    assert arrival == {
        "dataset": "sales/raw",
        "days": 5,
        "start": "2026-03-11T12:00:00Z",
        "end": "2026-03-11T12:15:00Z",
        "says": "sales/raw came between 12:00 and 12:15 on the last 5 days",
    }


def test_deadlines_of_datasets_are_on_the_lanes_that_wait_for_them_and_write_them(server: Served) -> None:
    days = {"partitions": {"cycle": "day", "start": "2026-01-01"}}
    raw, cleaned = {**days, "deadline": "08:00"}, {**days, "deadline": "10m"}
    server.now = NOON.replace(hour=23, minute=30)
    deployed(server, {**SPEC, "datasets": {**SPEC["datasets"], "raw": raw, "cleaned": cleaned}})
    server.pass_time(timedelta(minutes=1))
    span = "?from=-1h&to=+10h"
    found = lanes(server.client, span)["sales/each_day"]
    marks = [each for each in found["marks"] if each["dataset"] == "sales/raw"]
    assert marks == [
        {"kind": "deadline", "at": "2026-03-11T08:00:00Z", "key": "2026-03-10", "dataset": "sales/raw"}
    ]
    assert [each for each in found["marks"] if each["dataset"] == "sales/cleaned"] != [], "it writes it"
    for _ in range(5):
        server.pass_time(timedelta(minutes=14))
    missed = [
        (each["dataset"], each["key"], each["at"])
        for each in lanes(server.client, span)["sales/each_day"]["marks"]
        if each.get("state") == "missed"
    ]
    assert missed == [("sales/cleaned", "2026-03-10", "2026-03-11T00:10:00Z")]
    page = server.client.get(f"/{span}", headers={"Accept": "text/html"}).text
    assert "deadline of sales/raw 2026-03-10" in page


def test_tasks_start_and_policies_have_their_jobs(server: Served) -> None:
    shop(server)
    with server.store.transaction() as transaction:
        transaction.put_jobs([operation_job("o1", "shop/raw", "shop/nightly", opened_at=NOON)])
    found = lanes(server.client, "?from=-1h")
    assert found["shop/clean"]["kind"] == "task"
    assert found["shop/clean"]["times"] == [f"2026-03-10T{hour}:10:00Z" for hour in (13, 14, 15)]
    assert found["shop/policy:nightly"]["kind"] == "policy"
    assert "shop/off" not in found


def test_lanes_are_narrowed_by_text_state_and_name(board: Served) -> None:
    assert list(lanes(board.client, "?q=DAILY")) == ["sales/daily"]
    assert list(lanes(board.client, "?state=failed&state=late")) == ["sales/each_day"]
    assert lanes(board.client, "?state=running") == {}
    assert list(lanes(board.client, "?lanes=sales/daily,&from=-2h&to=-1h")) == ["sales/daily"]
    assert line(board.client, "?page=2")["apps"] == []
    assert line(board.client, "?from=-1h&to=%2B1h") == line(board.client, "?from=-1h&to=+1h")


@pytest.mark.parametrize(
    "query",
    [
        "?from=odd",
        "?from=-12",
        "?from=2026-03-10T12:00:00",
        "?from=+2h&to=+1h",
        "?from=now&to=now",
        "?from=-8d",
        "?to=-99999999d",
        "?from=-12h&to=9999-12-31T23:59:59Z",
        "?state=odd",
        "?lanes=sales/none",
        "?lanes=none",
        "?page=0",
        "?page=1_0",
        f"?q={'x' * 201}",
    ],
)
def test_a_wrong_span_lane_or_state_is_refused(board: Served, query: str) -> None:
    found = problem(board.client.get(f"{LINE}{query}"), 400)
    if "from" in query or "to=" in query:
        assert "from=-12h&to=+24h" in found["hint"]


def test_a_token_of_an_app_sees_its_lanes_only(board: Served) -> None:
    deployed(board, {**SPEC, "app": "other"})
    assert board.client.post(f"{NS}/apps/other/schedules/daily/enable").status_code == 200
    assert "other/daily" in lanes(board.client)
    with_token = board.of(board.token(Role.READ, "sales"))
    assert list(lanes(with_token)) == ["sales/each_day", "sales/daily"]
    problem(with_token.get(f"{LINE}?lanes=other/daily"), 403)
    assert "other" not in with_token.get(LINE).text


def test_keys_are_data_and_long_ones_leave_it_small(board: Served) -> None:
    key = HOSTILE * 30
    with board.store.transaction() as transaction:
        (job,) = transaction.jobs(ids=[job_of(board, DAYS[1])])
        transaction.put_jobs(
            [
                msgspec.structs.replace(job, id=f"{n}-{key}", schedule=f"sales/{n % 60}", key=f"{n}{key}")
                for n in range(60 * 20)
            ]
        )
    answer = board.client.get(LINE)
    assert len(answer.content) <= MOST_BYTES
    assert answer.headers["content-type"] == "application/json"
    (lane,) = [lane for ref, lane in lanes(board.client).items() if ref == "sales/1"]
    assert lane["jobs"] == 20 == lane["undrawn"] + len(lane["bars"])


def test_a_page_asks_the_same_number_of_questions_for_one_lane_and_for_many(board: Served) -> None:
    def asked() -> int:
        statements: list[object] = []
        assert isinstance(board.store, SqlStore)
        with listening(board.store.engine, lambda *given: statements.append(given[2])):
            line(board.client)
        return len(statements)

    few = asked()
    many = {f"s{n}": {**SPEC["schedules"]["each_day"]} for n in range(80)}
    deployed(board, {**SPEC, "schedules": {**SPEC["schedules"], **many}})
    board.pass_time(timedelta(minutes=1))
    report(board, ("2026-03-08",))
    board.pass_time(timedelta(minutes=1))
    assert line(board.client)["pages"] == 2
    assert asked() <= few + 2
