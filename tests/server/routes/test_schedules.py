"""Single schedules: created, read, changed, switched, triggered and deleted, row by row of the contract."""

from datetime import timedelta
from typing import Any

import msgspec
import pytest

from tests.server.sales import APP, DAILY, EACH_DAY, SCHEDULES, SPEC, deployed, shown
from tests.server.serving import NS, Served, problem
from tidegate.scheduler.model.journal import EntryKind

pytestmark = [pytest.mark.store]

NEW = {"program": "report", "trigger": {"cron": "0 7 * * *"}, "args": {"a": {"b": 1}}}


@pytest.fixture(autouse=True)
def sales(server: Served) -> None:
    deployed(server)


def test_a_new_schedule_is_suspended_unless_it_says_active(server: Served):
    quiet = server.client.put(f"{SCHEDULES}/quiet", json=NEW)
    busy = server.client.put(f"{SCHEDULES}/busy", json={**NEW, "status": "active"})

    assert quiet.json() == {
        "namespace": "default",
        "app": "sales",
        "name": "quiet",
        **NEW,
        "status": "suspended",
        "revision": 1,
        "source": "api",
        "suspended_at": None,
    }
    assert (busy.status_code, busy.json()["status"]) == (200, "active")
    assert shown(server, "busy") == busy.json()


def test_values_come_back_as_they_were_written(server: Served):
    assert shown(server, "each_day") == {
        "namespace": "default",
        "app": "sales",
        "name": "each_day",
        **EACH_DAY,
        "revision": 1,
        "source": "deploy",
    }
    assert shown(server, "daily")["timeout"] == "90m"


@pytest.mark.parametrize(
    ("name", "body", "status", "said"),
    [
        ("each_day", NEW, 409, "already"),
        ("x", {**NEW, "name": "y"}, 400, "name"),
        ("X y", NEW, 400, "name"),
        ("Upper", NEW, 400, "name"),
        ("x", {"trigger": NEW["trigger"]}, 400, "program"),
        ("x", {"program": "report"}, 400, "trigger"),
        ("x", {**NEW, "trigger": {"cron": "61 * * * *"}}, 400, "61"),
        ("x", {**NEW, "trigger": {"moon": "full"}}, 400, "moon"),
        ("x", {**NEW, "colour": "red"}, 400, "colour"),
        ("x", {**NEW, "program": "none"}, 404, "none"),
        ("x", {**NEW, "program": 5}, 400, "program"),
        ("x", {**NEW, "args": {"n": 10**18}}, 400, "digits"),
    ],
)
def test_a_wrong_schedule_is_refused(server: Served, name: str, body: Any, status: int, said: str):
    found = problem(server.client.put(f"{SCHEDULES}/{name}", json=body), status)

    assert said in found["detail"]
    assert len(server.client.get(SCHEDULES).json()["items"]) == 2


def test_a_refusal_of_the_compiler_has_code_path_and_hint(server: Served):
    body = {**NEW, "constraints": [{"rate": {"max": 1, "per": "1h"}}, {"delay": "soon"}]}

    found = problem(server.client.put(f"{SCHEDULES}/x", json=body), 400)

    (diagnostic,) = found["diagnostics"]
    assert diagnostic["path"] == "constraints[1].delay"
    assert diagnostic["code"]
    assert diagnostic["hint"]


@pytest.mark.parametrize("body", [b"", b"[]", b"5", b"{", b'{"a": NaN}', b'"\xff"', b"[" * 100_000])
def test_a_body_that_is_no_object_is_400(server: Served, body: bytes):
    for method, path in (("PUT", f"{SCHEDULES}/x"), ("POST", f"{SCHEDULES}/daily/update")):
        headers = {"Content-Type": "application/json"}
        problem(server.client.request(method, path, content=body, headers=headers), 400)


def test_an_unknown_app_or_schedule_is_404(server: Served):
    problem(server.client.put(f"{NS}/apps/none/schedules/x", json=NEW), 404)
    for path in ("none", "none/status", "none/why"):
        problem(server.client.get(f"{SCHEDULES}/{path}"), 404)
    for action in ("enable", "resume", "disable", "suspend", "trigger", "update"):
        problem(server.client.post(f"{SCHEDULES}/none/{action}", json={}), 404)
    problem(server.client.get(f"{NS}/apps/none/schedules"), 404)


def test_a_deleted_schedule_is_404_also_the_second_time(server: Served):
    assert server.client.delete(f"{SCHEDULES}/daily").status_code == 200
    problem(server.client.delete(f"{SCHEDULES}/daily"), 404)
    problem(server.client.get(f"{SCHEDULES}/daily"), 404)


def test_an_update_replaces_given_keys_whole_and_keeps_the_others(server: Served):
    body = {"args": {"limits": {"low": 2}}, "timeout": None, "owner": "ops"}

    answer = server.client.post(f"{SCHEDULES}/each_day/update", json=body)

    assert answer.status_code == 200
    expected = {**EACH_DAY, "args": {"limits": {"low": 2}}, "owner": "ops"}
    assert {key: answer.json()[key] for key in expected} == expected
    assert (answer.json()["revision"], answer.json()["source"]) == (2, "deploy")
    assert shown(server, "each_day") == answer.json()


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"status": "active"}, 400),
        ({"status": None}, 200),
        ({"name": "other"}, 400),
        ({"name": None}, 200),
        ({"name": "each_day"}, 200),
        ({"trigger": {"cron": "* *"}}, 400),
        ({"program": "clean"}, 200),
        ({"program": "report"}, 400),
        ({"colour": "red"}, 400),
        ({}, 200),
    ],
)
def test_an_update_is_checked(server: Served, body: dict[str, Any], status: int):
    answer = server.client.post(f"{SCHEDULES}/each_day/update", json=body)

    assert answer.status_code == status, answer.text
    if status != 200:
        problem(answer, status)


def test_another_program_needs_a_word(server: Served):
    path = f"{SCHEDULES}/daily/update"

    problem(server.client.post(path, json={"program": "clean"}), 400)
    problem(server.client.post(f"{path}?replace_program=maybe", json={"program": "report"}), 400)
    problem(server.client.post(f"{path}?replace_program=true", json={"program": "none"}), 404)
    body = {"program": "clean", "output_partition": "business_date"}
    changed = server.client.post(f"{path}?replace_program=true", json=body)

    assert (changed.status_code, changed.json()["program"]) == (200, "clean"), changed.text


def test_an_update_does_to_events_what_on_update_says(server: Served):
    server.client.put(f"{SCHEDULES}/pooled", json={**NEW, "on_update": "carry", "status": "active"})
    server.client.put(f"{SCHEDULES}/reset", json={**NEW, "status": "active"})
    jobs = {
        name: server.client.post(f"{SCHEDULES}/{name}/trigger").json()["job"] for name in ("pooled", "reset")
    }
    server.now += timedelta(seconds=1)

    for name in jobs:
        assert server.client.post(f"{SCHEDULES}/{name}/update", json={"owner": "x"}).status_code == 200
        trigger = {"trigger": {"cron": "0 8 * * *"}}
        assert server.client.post(f"{SCHEDULES}/{name}/update", json=trigger).status_code == 200

    with server.store.reading() as reader:
        reasons = {name: reader.jobs(ids=[job])[0].reason for name, job in jobs.items()}
    assert reasons["reset"] == "D-UPDATED"
    assert shown(server, "pooled")["status"] == "active"


@pytest.mark.parametrize(("off", "on"), [("disable", "enable"), ("suspend", "resume")])
def test_schedules_are_switched_off_and_on(server: Served, off: str, on: str):
    path = f"{SCHEDULES}/each_day"

    stopped = server.client.post(f"{path}/{off}", json={"reason": "late feed"})
    assert (stopped.status_code, stopped.json()["status"]) == (200, "suspended")
    assert stopped.json()["suspended_at"] == "2026-03-10T12:00:00Z"
    assert server.client.get(f"{path}/status").json() == {"status": "suspended"}
    problem(server.client.post(f"{path}/{off}"), 409)

    started = server.client.post(f"{path}/{on}")
    assert (started.status_code, started.json()["status"]) == (200, "active")
    assert "suspended_at" not in started.json()
    problem(server.client.post(f"{path}/{on}", json={}), 409)

    with server.store.reading() as reader:
        entries = [each.data for each in reader.journal() if each.kind is EntryKind.STATUS]
    assert entries == [
        {"status": "suspended", "by": "rest", "why": "late feed"},
        {"status": "active", "by": "rest"},
    ]


@pytest.mark.parametrize("body", [{"reason": 5}, {"why": "x"}, []])
def test_a_malformed_reason_is_400(server: Served, body: Any):
    problem(server.client.post(f"{SCHEDULES}/each_day/disable", json=body), 400)


def test_any_other_action_is_400(server: Served):
    problem(server.client.post(f"{SCHEDULES}/each_day/explode"), 400)


def test_a_trigger_by_hand_makes_a_job_due(server: Served):
    daily = server.client.post(f"{SCHEDULES}/daily/trigger", json={"reason": "now", "force": True})
    keyed = server.client.post(f"{SCHEDULES}/each_day/trigger", json={"key": "2026-03-09"})

    assert (daily.status_code, keyed.status_code) == (202, 202)
    with server.store.reading() as reader:
        (job,) = reader.jobs(ids=[keyed.json()["job"]])
        entries = [each.data for each in reader.journal() if each.kind is EntryKind.MANUAL]
    assert job.key == "2026-03-09"
    assert entries[0] == {"action": "force", "key": "", "by": "rest", "why": "now"}


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("each_day", {}),
        ("each_day", {"key": "2026-13-40"}),
        ("daily", {"key": "2026-03-09"}),
        ("daily", {"key": 5}),
        ("daily", {"force": "yes"}),
    ],
    ids=["missing", "malformed", "needless", "not a text", "not a flag"],
)
def test_a_wrong_key_is_400(server: Served, name: str, body: dict[str, Any]):
    problem(server.client.post(f"{SCHEDULES}/{name}/trigger", json=body), 400)


def test_every_change_has_another_etag_and_if_match_catches_an_old_one(server: Served):
    path = f"{SCHEDULES}/daily"
    tags = [server.client.get(path).headers["etag"]]
    for action in ("enable", "disable", "resume", "suspend"):
        tags.append(server.client.post(f"{path}/{action}").headers["etag"])
    tags.append(server.client.post(f"{path}/update", json={"owner": "ops"}).headers["etag"])

    assert len({*tags}) == len(tags)
    assert server.client.get(path).headers["etag"] == tags[-1]
    old, new = {"If-Match": tags[0]}, {"If-Match": f'"other", {tags[-1]}'}
    problem(server.client.post(f"{path}/update", json={"owner": "x"}, headers=old), 412)
    problem(server.client.post(f"{path}/enable", headers=old), 412)
    problem(server.client.delete(path, headers=old), 412)
    problem(server.client.put(f"{SCHEDULES}/fresh", json=NEW, headers=old), 412)
    assert server.client.post(f"{path}/enable", headers=new).status_code == 200
    assert server.client.delete(path, headers={"If-Match": "*"}).status_code == 200


def test_a_schedule_created_again_has_another_etag(server: Served):
    first = server.client.put(f"{SCHEDULES}/x", json=NEW).headers["etag"]
    server.client.delete(f"{SCHEDULES}/x")
    server.now += timedelta(seconds=1)

    assert server.client.put(f"{SCHEDULES}/x", json=NEW).headers["etag"] != first


def test_schedules_are_listed_by_kind_status_and_program(server: Served):
    def names(query: str) -> list[str]:
        answer = server.client.get(f"{SCHEDULES}?{query}")
        assert answer.status_code == 200, answer.text
        return [each["name"] for each in answer.json()["items"]]

    assert names("") == ["daily", "each_day"]
    assert names("trigger-type=cron") == ["daily"]
    assert names("trigger-type=partitions&schedule-status=active") == ["each_day"]
    assert names("trigger-type=sequence") == []
    assert names("schedule-status=SCHEDULED") == names("schedule-status=active") == ["each_day"]
    assert names("schedule-status=SUSPENDED") == names("schedule-status=suspended") == ["daily"]
    assert names("program=report") == ["daily"]
    for query in ("trigger-type=moon", "schedule-status=asleep", "program=none"):
        problem(server.client.get(f"{SCHEDULES}?{query}"), 400)


@pytest.mark.parametrize("kind", ["programs", "workflows"])
def test_schedules_of_a_program_are_listed(server: Served, kind: str):
    answer = server.client.get(f"{APP}/{kind}/report/schedules")

    assert [each["name"] for each in answer.json()["items"]] == ["daily"]
    problem(server.client.get(f"{APP}/{kind}/none/schedules"), 404)
    problem(server.client.get(f"{NS}/apps/none/{kind}/report/schedules"), 404)


def test_pages_repeat_and_skip_nothing_else_while_schedules_come_and_go(server: Served):
    for name in ("a", "b", "c"):
        server.client.put(f"{SCHEDULES}/{name}", json=NEW)

    first = server.client.get(f"{SCHEDULES}?limit=2").json()
    server.client.delete(f"{SCHEDULES}/b")
    server.client.put(f"{SCHEDULES}/aa", json=NEW)
    server.client.put(f"{SCHEDULES}/bb", json=NEW)
    second = server.client.get(f"{SCHEDULES}?limit=2&cursor={first['next']}").json()
    third = server.client.get(f"{SCHEDULES}?limit=2&cursor={second['next']}").json()

    assert [each["name"] for each in first["items"]] == ["a", "b"]
    assert [each["name"] for each in second["items"]] == ["bb", "c"]
    assert [each["name"] for each in third["items"]] == ["daily", "each_day"]
    assert third["next"] is None


@pytest.mark.parametrize("query", ["limit=0", "limit=1001", "limit=x", "limit=1_0", "limit=5.0", "limit="])
def test_a_limit_is_from_1_to_1000(server: Served, query: str):
    problem(server.client.get(f"{SCHEDULES}?{query}"), 400)


def test_a_foreign_cursor_is_400(server: Served):
    server.client.put(f"{NS}/apps/other", json={"spec": {**SPEC, "app": "other"}})
    cursor = server.client.get(f"{NS}/apps?limit=1").json()["next"]

    for given in (cursor, "", "x", "é", cursor[:-2], "bnVsbA"):
        problem(server.client.get(SCHEDULES, params={"cursor": given}), 400)


def test_schedules_of_a_store_without_texts_are_spelled_from_the_model(server: Served):
    with server.store.transaction() as transaction:
        states = transaction.schedules()
        transaction.put_schedules(
            [
                msgspec.structs.replace(state, spec=msgspec.structs.replace(state.spec, written={}))
                for state in states
            ]
        )

    daily = shown(server, "daily")
    assert daily["trigger"] == DAILY["trigger"]
    assert shown(server, "each_day")["constraints"] == EACH_DAY["constraints"]
    for name in ("daily", "each_day"):
        answer = server.client.post(f"{SCHEDULES}/{name}/update", json={"owner": "ops"})
        assert answer.status_code == 200, answer.text


def test_tasks_are_shown_and_switched_and_not_triggered(server: Served):
    task = {"cycle": "day", "at": {"time": "02:00"}, "program": "report"}
    deployed(server, {**SPEC, "tasks": {"nightly": task}})

    assert shown(server, "nightly")["cycle"] == "day"
    listed = server.client.get(f"{SCHEDULES}?trigger-type=task").json()["items"]
    assert [each["name"] for each in listed] == ["nightly"]
    assert server.client.post(f"{SCHEDULES}/nightly/enable").status_code == 200
    changed = server.client.post(f"{SCHEDULES}/nightly/update", json={"at": {"time": "03:00"}})
    assert (changed.status_code, changed.json()["at"]) == (200, {"time": "03:00"}), changed.text
    problem(server.client.post(f"{SCHEDULES}/nightly/trigger"), 409)
