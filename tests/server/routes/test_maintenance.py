"""Maintenance of tables over REST."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from tests.server.sales import SPEC, deployed
from tests.server.serving import Served, problem
from tests.server.shop import fetched
from tests.server.yard import (
    API,
    EVENTS,
    HISTORY,
    ORDERS,
    PLAN,
    REPORT,
    TRIGGER,
    found,
    gone,
    measured,
    run_ends,
    yard,
)
from tidegate.scheduler.model.maintenance import Ending
from tidegate.scheduler.model.records.token import Role
from tidegate.scheduler.tick.maintenance.tables import forgotten
from tidegate.server.routes import maintenance

pytestmark = [pytest.mark.store]

WANTED = {"catalog": "warehouse", "namespace": "analytics", "table": "orders"}
REWRITE = {**WANTED, "operation": "rewrite_data_files"}
STATUS = f"{API}/tables/analytics/orders/trigger-status"


@pytest.fixture
def served(server: Served) -> Served:
    """A server of an app with policies, and of one without."""
    yard(server)
    deployed(server, SPEC)
    server.pass_time(timedelta(seconds=1))
    return server


@pytest.fixture
def ending(served: Served, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Ending]]:
    """The ends of the runs that come, one each time that the server looks whether they have ended."""
    ends: list[Ending] = []
    look = maintenance._look

    def looked(*arguments: Any) -> Any:
        if ends:
            run_ends(served, ends.pop(0))
            served.pass_time(timedelta(0))
        return look(*arguments)

    monkeypatch.setattr(maintenance, "LOOK_SECONDS", 0)
    monkeypatch.setattr(maintenance, "_look", looked)
    yield ends
    assert not ends


def asked(served: Served, status: int, **body: Any) -> Any:
    return fetched(served.client.post(TRIGGER, json=body), status)


def jobs_of_operations(served: Served) -> list[tuple[str, str]]:
    with served.store.reading() as reader:
        return [(job.work.operation, job.work.policy) for job in reader.jobs() if job.maintenance]


def test_an_operation_is_started_at_once_with_who_asked_and_why(served: Served):
    answer = asked(served, 200, **REWRITE, policyName="nightly", reason="before the audit")

    (job,) = answer["jobs"]
    assert (answer["table"], answer["progress"]) == (ORDERS, "running")
    assert job["maintenance"]["by_hand"] is True
    assert jobs_of_operations(served) == [("rewrite_data_files", "yard/nightly")]
    with served.store.reading() as reader:
        noted = [entry.data for entry in reader.journal(job=job["id"]) if entry.kind == "status"]
    assert noted == [{"action": "maintain", "by": "rest", "why": "before the audit"}]


def test_without_an_operation_all_of_them_follow_each_other(served: Served):
    asked(served, 200, **WANTED)
    run_ends(served, Ending.FAILED)

    assert sorted(jobs_of_operations(served), reverse=True) == [
        ("rewrite_data_files", "yard/nightly"),
        ("expire_snapshots", "yard/nightly"),
    ]


def test_a_run_that_waits_for_a_slot_is_accepted(served: Served):
    asked(served, 200, **REWRITE)

    answer = asked(served, 202, namespace="analytics", table="events", operation="expire_snapshots")

    assert (answer["progress"], answer["runs"]) == ("waiting", [])
    assert answer["jobs"][0]["reason"] == "W-CONCURRENCY"


def test_a_policy_without_operations_starts_nothing(served: Served):
    for body in ({"namespace": "yard", "table": "raw"}, {"table": "yard/raw", "policyName": "empty"}):
        assert asked(served, 200, **body) == {"table": "yard/raw", "progress": "none", "jobs": [], "runs": []}


def test_what_cannot_be_run_has_its_code(served: Served):
    def refused(status: int, **body: Any) -> Any:
        return problem(served.client.post(TRIGGER, json=body), status).get("code")

    assert refused(404, **WANTED | {"table": "none"}) == "E-TABLE"
    assert refused(404, **WANTED | {"catalog": "lake"}) == "E-TABLE"
    assert refused(404, table="none") == "E-TABLE"
    assert refused(404, namespace="sales", table="raw") == "E-POLICY"
    assert refused(404, **WANTED, policyName="weekly") == "E-POLICY"
    assert refused(404, **WANTED, policyName="idle") == "E-POLICY"
    assert refused(404, **WANTED, policyName="nightly", operation="rewrite_manifests") == "E-POLICY"
    asked(served, 200, **REWRITE)
    assert refused(409, **REWRITE) == "E-ACTIVE"
    found(served, "lake.analytics.orders")
    assert refused(409, namespace="analytics", table="orders") is None
    assert refused(409, table="orders") is None
    for body in (
        {**WANTED, "operation": "vacuum"},
        {**WANTED, "policy": "nightly"},
        {"catalog": "warehouse", "table": "orders"},
        {"namespace": "analytics"},
        {"table": 7},
        {"table": "a\x00b"},
    ):
        assert refused(400, **body) is None, body
    problem(served.client.post(TRIGGER, content=b"[]", headers={"Content-Type": "application/json"}), 400)
    for wait in ("-1", "301", "x"):
        problem(served.client.post(f"{TRIGGER}?wait={wait}", json=REWRITE), 400)


def test_who_waits_hears_that_all_operations_have_failed(served: Served, ending: list[Ending]):
    ending += [Ending.FAILED, Ending.FAILED]

    answer = problem(served.client.post(f"{TRIGGER}?wait=60", json=WANTED), 500)

    assert [run["operation"] for run in answer["runs"]] == ["rewrite_data_files", "expire_snapshots"]
    assert ORDERS in answer["detail"]


def test_who_waits_hears_of_the_end_of_all(served: Served, ending: list[Ending]):
    ending += [Ending.FAILED, Ending.STOPPED, Ending.SUCCEEDED]

    answer = fetched(served.client.post(f"{TRIGGER}?wait=60", json=WANTED))

    assert answer["progress"] == "ended"
    assert [run["ending"] for run in answer["runs"]] == ["failed", "stopped", "succeeded"]
    assert len(answer["jobs"]) == 3


def test_trigger_status_says_what_would_run_and_what_holds_back(served: Served):
    measured(served, ORDERS, small_files=150, small_file_percent=10)

    rewrite, expire = fetched(served.client.get(STATUS))["operations"]

    assert (rewrite["operation"], rewrite["should_trigger"]) == ("rewrite_data_files", False)
    assert (rewrite["reason"], rewrite["forced"]) == ("M-CONDITION", False)
    assert rewrite["met"] == [{"condition": "small_files", "at_least": 100, "value": 150}]
    assert rewrite["unmet"] == [{"condition": "small_file_percent", "at_least": 20, "value": 10}]
    assert (expire["reason"], expire["next_eligible"]) == ("M-WINDOW", "2026-03-10T20:00:00Z")
    measured(served, ORDERS, small_files=150, small_file_percent=20)
    rewrite, _ = fetched(served.client.get(STATUS))["operations"]
    assert (rewrite["should_trigger"], rewrite["reason"], rewrite["unmet"]) == (True, None, [])
    assert rewrite["next_eligible"] == "2026-03-10T12:01:00Z"


def test_trigger_status_after_a_run_and_when_it_is_forced(served: Served):
    asked(served, 200, **REWRITE)
    run_ends(served)
    measured(served, ORDERS)
    rewrite, _ = fetched(served.client.get(STATUS))["operations"]
    assert {"condition": "min_interval", "until": "2026-03-10T13:00:01Z"} in rewrite["unmet"]
    served.now += timedelta(days=2)
    measured(served, ORDERS)
    rewrite, _ = fetched(served.client.get(STATUS))["operations"]
    assert (rewrite["forced"], rewrite["should_trigger"]) == (True, True)
    assert {"condition": "at_latest", "since": "2026-03-12T12:00:01Z"} in rewrite["met"]


def test_trigger_status_of_tables_by_namespace(served: Served):
    get = served.client.get

    for path in ("yard/report", "yard/report/trigger-status?catalog=tidegate"):
        path = path if "?" in path else f"{path}/trigger-status"
        assert fetched(get(f"{API}/tables/{path}"))["table"] == REPORT
    assert fetched(get(f"{STATUS}?catalog=warehouse"))["health"] is None
    problem(get(f"{STATUS}?catalog=lake"), 404)
    problem(get(f"{API}/tables/analytics/none/trigger-status"), 404)
    found(served, "lake.analytics.orders")
    assert "lake.analytics.orders" in problem(get(STATUS), 409)["hint"]
    gone(served, "lake.analytics.orders")
    assert fetched(get(STATUS))["table"] == ORDERS


def test_the_plan_of_the_next_polls(served: Served):
    measured(served, ORDERS, small_files=150, small_file_percent=60)

    first, second = fetched(served.client.get(PLAN))["items"]

    (start,) = first["starts"]
    assert (first["at"], start["table"], start["operation"]) == (
        "2026-03-10T12:01:00Z",
        ORDERS,
        "rewrite_data_files",
    )
    assert first["held_back"] == {"M-HEALTH": 1, "M-WINDOW": 2}
    assert second["starts"] == []
    assert len(fetched(served.client.get(f"{PLAN}?polls=5"))["items"]) == 5
    for polls in ("0", "101", "x"):
        problem(served.client.get(f"{PLAN}?polls={polls}"), 400)


def test_the_history_in_pages_the_newest_first(served: Served):
    for table in ("orders", "events", "orders"):
        asked(served, 200, **REWRITE | {"table": table})
        run_ends(served)
        served.now += timedelta(minutes=1)
    get = served.client.get
    first = fetched(get(f"{HISTORY}?limit=2"))
    rest = fetched(get(f"{HISTORY}?limit=2&cursor={first['next']}"))

    assert [run["table"] for run in first["items"]] == [ORDERS, EVENTS]
    assert [run["table"] for run in rest["items"]] == [ORDERS]
    assert rest["next"] is None
    assert [run["ending"] for run in fetched(get(f"{HISTORY}?table=analytics.events"))["items"]] == [
        "succeeded"
    ]
    gone(served, ORDERS)
    assert len(fetched(get(f"{HISTORY}?table={ORDERS}"))["items"]) == 2
    problem(get(f"{HISTORY}?table=none"), 404)
    problem(get(f"{HISTORY}?cursor=bm8"), 400)


def test_tables_by_their_debt(served: Served):
    measured(served, ORDERS, snapshots=500)
    get = served.client.get

    first = fetched(get(f"{API}/maintenance/tables?limit=1"))
    rest = fetched(get(f"{API}/maintenance/tables?cursor={first['next']}"))

    assert (first["items"][0]["table"], first["items"][0]["debt"]["score"]) == (ORDERS, 100)
    names = [each["table"] for each in rest["items"]]
    assert names == ["sales/cleaned", "sales/raw", EVENTS, "yard/raw", REPORT]


def test_a_token_of_an_app_sees_the_tables_of_its_datasets_only(served: Served):
    asked(served, 200, **REWRITE)
    run_ends(served)
    asked(served, 200, namespace="yard", table="report", operation="rewrite_data_files")
    run_ends(served)
    with served.store.transaction() as transaction:
        # Its first publish: before, no poll would look at it.
        forgotten(transaction, {"yard/report": served.now, REPORT: served.now}, served.now)
    mine = served.of(served.token(Role.OPERATE, app="yard"))

    assert [each["table"] for each in fetched(mine.get(f"{API}/maintenance/tables"))["items"]] == [
        "yard/raw",
        REPORT,
    ]
    assert {run["table"] for run in fetched(mine.get(HISTORY))["items"]} == {REPORT}
    assert fetched(mine.get(PLAN))["items"][0]["held_back"] == {"M-WINDOW": 1, "M-HEALTH": 1}
    assert fetched(mine.get(f"{API}/tables/yard/report/trigger-status"))["table"] == REPORT
    problem(mine.get(STATUS), 403)
    problem(mine.get(f"{HISTORY}?table={ORDERS}"), 403)
    problem(mine.post(TRIGGER, json=REWRITE), 403)
    problem(mine.post(TRIGGER, json={"namespace": "sales", "table": "raw"}), 403)
    fetched(mine.post(TRIGGER, json={"namespace": "yard", "table": "report"}))


def test_a_run_by_hand_needs_the_role_operate(served: Served):
    reads = served.of(served.token(Role.READ))

    problem(reads.post(TRIGGER, json=REWRITE), 403)
    fetched(reads.get(STATUS))
    problem(served.client.get(PLAN), 401)
