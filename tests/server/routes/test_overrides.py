"""Overrides over REST: until when a change holds, the list of them, and the way back."""

from datetime import timedelta

import pytest

from tests.server.sales import SCHEDULES, deployed
from tests.server.serving import NS, Served, problem

pytestmark = [pytest.mark.store]

EACH = f"{SCHEDULES}/each_day"


@pytest.fixture(autouse=True)
def sales(server: Served) -> None:
    deployed(server)


def test_a_disabled_schedule_is_enabled_when_that_expires(server: Served):
    answer = server.client.post(f"{EACH}/disable", json={"reason": "late feed", "expires": "2h"})
    assert (answer.status_code, answer.json()["status"]) == (200, "suspended")
    (found,) = server.client.get(f"{NS}/overrides").json()["items"]
    assert (found["schedule"], found["kind"], found["override"]) == ("each_day", "status", "suspended")
    assert (found["owner"], found["reason"], found["reverts_to"]["status"]) == ("rest", "late feed", "active")
    server.pass_time(timedelta(hours=2))
    assert server.client.get(f"{EACH}/status").json() == {"status": "active"}
    assert server.client.get(f"{NS}/overrides").json()["items"] == []


def test_another_expiry_is_no_conflict_and_changes_the_etag(server: Served):
    first = server.client.post(f"{EACH}/suspend", json={"expires": "2h"})
    second = server.client.post(f"{EACH}/suspend", json={"expires": "never"})
    third = server.client.post(f"{EACH}/suspend", json={})
    assert (first.status_code, second.status_code, third.status_code) == (200, 200, 409)
    assert first.headers["ETag"] != second.headers["ETag"]
    (found,) = server.client.get(f"{EACH}/overrides").json()["overrides"]
    assert found["expires_at"] is None


def test_an_update_and_a_new_schedule_expire(server: Served):
    before = server.client.get(EACH).json()
    query = {"reason": "slow", "expires": "1h"}
    server.client.post(f"{EACH}/update", json={"timeout": "5h"}, params=query).raise_for_status()
    new = {"program": "report", "trigger": {"cron": "0 7 * * *"}}
    server.client.put(f"{SCHEDULES}/extra", json=new, params=query).raise_for_status()
    kinds = {each["schedule"]: each for each in server.client.get(f"{NS}/overrides").json()["items"]}
    assert {name: each["kind"] for name, each in kinds.items()} == {
        "each_day": "specification",
        "extra": "created",
    }
    assert [each["path"] for each in kinds["each_day"]["fields"]] == ["timeout.after"]
    server.pass_time(timedelta(hours=1))
    assert server.client.get(f"{SCHEDULES}/extra").status_code == 404
    after = server.client.get(EACH).json()
    assert {**after, "revision": 0} == {**before, "revision": 0}


def test_a_person_reverts(server: Served):
    server.client.post(f"{EACH}/update", json={"timeout": "5h"}).raise_for_status()
    server.client.post(f"{EACH}/disable", json={}).raise_for_status()
    status = server.client.post(f"{EACH}/revert", json={"only": "status", "reason": "back"})
    assert [each["kind"] for each in status.json()["reverted"]] == ["status"]
    text = server.client.post(f"{EACH}/revert", json={})
    assert [each["kind"] for each in text.json()["reverted"]] == ["specification"]
    assert "changed by hand" in problem(server.client.post(f"{EACH}/revert", json={}), 404)["detail"]
    assert server.client.get(f"{EACH}/overrides").json() == {"overrides": []}
    assert "no schedule" in problem(server.client.get(f"{SCHEDULES}/none/overrides"), 404)["detail"]


@pytest.mark.parametrize(
    "expires", ["soon", "0s", "-1h", "2026-03-10T11:00:00Z", "2026-03-10T13:00:00", "400d"]
)
def test_an_expiry_that_means_nothing_or_is_over_is_refused(server: Served, expires: str):
    assert (
        "expiry" in problem(server.client.post(f"{EACH}/disable", json={"expires": expires}), 400)["detail"]
    )
    wrong = server.client.post(f"{EACH}/update", json={"timeout": "5h"}, params={"expires": expires})
    assert "expiry" in problem(wrong, 400)["detail"]
    assert server.client.get(f"{EACH}/status").json() == {"status": "active"}


def test_what_has_nothing_to_revert_to_is_a_conflict(server: Served):
    assert (
        "nothing to revert to"
        in problem(server.client.post(f"{EACH}/enable", json={"expires": "1h"}), 409)["detail"]
    )
