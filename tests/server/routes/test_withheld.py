"""What `checks: passed` does not count yet: the same in REST, on the board and in `why`."""

from datetime import timedelta
from typing import Any

import msgspec
import pytest

from tests.server.board.board import HOSTILE, HTML, shown
from tests.server.sales import deployed
from tests.server.serving import NOON, NS, Served
from tidegate.scheduler.decision.asset_checks import Evaluated, Materialised, RunEnded
from tidegate.scheduler.intake.asset_checks import fold_checks
from tidegate.scheduler.model.event import Event, EventKind, partition_event_key
from tidegate.scheduler.model.records.token import Role
from tidegate.scheduler.model.records.withheld import CheckResult
from tidegate.scheduler.tick.tick import tick

pytestmark = [pytest.mark.store]

DAY, NEXT = "2026-03-08", "2026-03-09"
SPEC: dict[str, Any] = {
    "app": "core",
    "datasets": {
        "demand": {"asset": "acme/core/demand", "partitions": {"cycle": "day", "start": "2026-01-01"}}
    },
    "programs": {"sum": {"run": "programs.sum"}},
    "schedules": {
        "each_day": {
            "program": "sum",
            "for_each": "day",
            "trigger": {"partitions": {"dataset": "demand", "checks": "passed"}},
            "status": "active",
        },
        "at_once": {"program": "sum", "trigger": {"partitions": {"dataset": "demand"}}, "status": "active"},
    },
}


def event(key: str, run: str) -> Event:
    return Event(
        id=f"made-{key}-{run}",
        kind=EventKind.PARTITION,
        key=partition_event_key("core", "demand"),
        time=NOON,
        arrived=NOON,
        partition=key,
        rows=7,
        run_id=run,
    )


def materialised(server: Served, key: str, run: str, *planned: str, ended: bool = True) -> None:
    """A run of others has materialised a partition."""
    made = event(key, run)
    with server.store.transaction() as transaction:
        transaction.add_events([made])
        fact = Materialised(dataset="core/demand", event=made, at=NOON, planned=planned, ended=ended)
        fold_checks(transaction, [fact], server.now)


def evaluated(server: Served, key: str, check: str, *, passed: bool, says: str = "") -> None:
    """A later run has evaluated a check of a partition."""
    result = CheckResult(passed=passed, description=says, run_id="check-run", at=server.now)
    fact = Evaluated(dataset="core/demand", check=check, partition=key, target=None, result=result)
    with server.store.transaction() as transaction:
        fold_checks(transaction, [fact], server.now)


@pytest.fixture
def core(server: Served) -> Served:
    """Two withheld days: of one a check has failed and one is missing, the run of the other goes on."""
    deployed(server, SPEC)
    materialised(server, DAY, "run-1", "complete", "positive")
    evaluated(server, DAY, "positive", passed=False, says=HOSTILE)
    materialised(server, NEXT, "run-2", "positive", ended=False)
    return server


FAILED = {"check": "positive", "state": "failed", "description": HOSTILE, "run_id": "check-run"}
MISSING = {"check": "complete", "state": "missing", "description": "", "run_id": "run-1"}


def listed(server: Served, query: str = "") -> list[dict[str, Any]]:
    answer = server.client.get(f"{NS}/events?withheld=true{query}")
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["items"]
    return found


def test_the_list_names_partition_check_description_and_run(core: Served) -> None:
    by_day = {each["partition"]: each for each in listed(core)}

    assert set(by_day) == {DAY, NEXT}
    first, second = by_day[DAY]["withheld"], by_day[NEXT]["withheld"]
    assert (by_day[DAY]["key"], by_day[DAY]["rows"]) == ("partition:core/demand", 7)
    assert first["checks"] == [MISSING, FAILED]
    assert (first["run_id"], first["running"], second["running"]) == ("run-1", False, True)
    assert first["text"] == (
        f"core/demand {DAY}: check complete was not evaluated (run run-1);"
        f" check positive failed: {HOSTILE} (run check-run)"
    )
    assert [each["partition"] for each in listed(core, f"&partition={NEXT}")] == [NEXT]
    assert listed(core, "&dataset=core/demand&schedule=core/each_day") == []


def test_the_other_events_are_listed_as_ever(core: Served) -> None:
    found = core.client.get(f"{NS}/events").json()["items"]
    assert {(each["partition"], each["withheld"]) for each in found} == {(DAY, None), (NEXT, None)}


def test_the_page_of_the_dataset_shows_them_and_the_asset(core: Served) -> None:
    page = core.client.get("/board/datasets/core/demand", headers=HTML)

    assert page.status_code == 200
    assert HOSTILE not in page.text
    for text in ("acme / core / demand", "positive", "complete", "not evaluated", "check-run", "run-1"):
        assert text in page.text
    view = shown(core, "/board/datasets/core/demand")
    assert [each["partition"] for each in view["withheld"]] == [DAY, NEXT]
    assert sorted(view["card"]["starts"]) == ["core/at_once", "core/each_day"]
    assert core.client.get("/board/events?withheld=true", headers=HTML).status_code == 200


def test_why_names_them_for_the_schedule_that_waits_and_for_no_other(core: Served) -> None:
    (waits,) = core.client.get(f"{NS}/apps/core/schedules/each_day/why").json()
    (other,) = core.client.get(f"{NS}/apps/core/schedules/at_once/why").json()

    assert [each["partition"] for each in waits["withheld"]] == [DAY, NEXT]
    assert other["withheld"] == []


def test_a_schedule_that_waits_for_checks_has_a_lane_with_the_deadline_of_its_dataset(server: Served) -> None:
    demand = {**SPEC["datasets"]["demand"], "deadline": "08:00"}
    deployed(server, {**SPEC, "datasets": {"demand": demand}})
    server.pass_time(timedelta(minutes=1))

    apps = server.client.get(f"{NS}/timeline?from=now&to=+24h").json()["apps"]

    due = {lane["ref"]: [each["at"] for each in lane["marks"]] for app in apps for lane in app["lanes"]}
    assert due == {"core/at_once": ["2026-03-11T08:00:00Z"], "core/each_day": ["2026-03-11T08:00:00Z"]}


def test_who_sees_another_app_sees_none(core: Served) -> None:
    deployed(core, {**SPEC, "app": "other", "datasets": {"demand": {}}, "schedules": {}, "programs": {}})
    caller = core.of(core.token(Role.READ, "other"))
    assert caller.get(f"{NS}/events?withheld=true").json()["items"] == []


def test_what_is_released_goes_from_all_of_them_and_starts_a_job_once(core: Served) -> None:
    for check in ("positive", "complete"):
        evaluated(core, DAY, check, passed=True)
    with core.store.transaction() as transaction:
        fold_checks(transaction, [RunEnded(run_id="run-2")], core.now)
    assert [each["partition"] for each in listed(core)] == [NEXT], "its check was not evaluated"
    tick(core.store, core.now)

    with core.store.reading() as reader:
        (job,) = (each for each in reader.jobs() if each.schedule == "core/each_day")
        (released,) = reader.events(key_prefix="checked:")
    assert job.key == DAY
    assert (released.time, released.arrived, released.rows) == (NOON, core.now, 7)
    found = shown(core, "/board/datasets/core/demand")["withheld"]
    assert [(each["partition"], each["checks"][0]["state"]) for each in found] == [(NEXT, "missing")]


def test_a_rename_takes_the_records_along(core: Served) -> None:
    datasets = {"needed": {**SPEC["datasets"]["demand"], "renamed_from": "demand"}}
    schedules = msgspec.json.decode(msgspec.json.encode(SPEC["schedules"]).replace(b'"demand"', b'"needed"'))
    deployed(core, {**SPEC, "datasets": datasets, "schedules": schedules})

    assert {each["key"] for each in listed(core)} == {"partition:core/needed"}
