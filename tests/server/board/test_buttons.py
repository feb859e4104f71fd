"""What the buttons of the board do."""

from datetime import timedelta

import pytest

from tests.server.board.board import DAYS, HTML, job_of, shown
from tests.server.serving import Served, problem
from tests.server.shop import THIRTEEN, shop
from tests.server.yard import ORDERS, yard
from tidegate.scheduler.model.records.token import Role

pytestmark = [pytest.mark.store]


@pytest.mark.parametrize(("action", "status"), [("suspend", "suspended"), ("resume", "active")])
def test_buttons_switch_a_schedule_with_a_reason(board: Served, action: str, status: str):
    path = "/board/schedules/sales/each_day"
    answer = board.client.post(f"{path}/{action}", data={"reason": "late"}, follow_redirects=False)
    assert answer.status_code == 303
    back = board.client.get(answer.headers["location"], headers=HTML)
    assert status in back.text or "already" in back.text
    with board.store.reading() as reader:
        (state,) = reader.schedules(refs=["sales/each_day"])
        journal = reader.journal(schedule="sales/each_day")
    assert state.status == status
    if action == "suspend":
        assert any(each.data.get("why") == "late" for each in journal)


def test_a_button_triggers_a_key(board: Served):
    path = "/board/schedules/sales/each_day/force"
    answer = board.client.post(path, data={"key": "2026-03-05", "reason": "test"}, follow_redirects=False)
    assert answer.status_code == 303, answer.text
    assert job_of(board, "2026-03-05")


@pytest.mark.parametrize("data", [{"key": ""}, {"key": "2026-13-01"}])
def test_a_wrong_key_is_a_page_with_the_problem(board: Served, data: dict[str, str]):
    answer = board.client.post("/board/schedules/sales/each_day/trigger", data=data, headers=HTML)
    assert answer.status_code == 409
    assert "text/html" in answer.headers["content-type"]


@pytest.mark.parametrize(
    ("key", "action", "state"), [(DAYS[1], "cancel", "DISCARDED"), (DAYS[0], "retry", "PENDING_CONSTRAINT")]
)
def test_buttons_act_on_a_job(board: Served, key: str, action: str, state: str):
    id_ = job_of(board, key)
    answer = board.client.post(f"/board/jobs/{id_}/{action}", data={"reason": "r"}, follow_redirects=False)
    assert answer.status_code == 303, answer.text
    with board.store.reading() as reader:
        (job,) = reader.jobs(ids=[id_])
        entries = reader.journal(job=id_)
    assert job.state == state
    assert any(entry.data.get("why") == "r" and entry.data.get("by") == "rest" for entry in entries)


def test_what_the_state_does_not_allow_is_refused(board: Served):
    path = f"/board/jobs/{job_of(board, DAYS[1])}/retry"
    problem(board.client.post(path, data={}), 409)


def test_buttons_act_on_an_instance_as_its_status_allows(server: Served):
    shop(server)
    with server.store.reading() as reader:
        (job,) = [each for each in reader.jobs() if (each.schedule, each.key) == ("shop/clean", THIRTEEN)]
    path = f"/board/jobs/{job.id}"
    assert shown(server, path)["actions"] == ["mark_successful", "pause"]
    for action, state, then in (
        ("pause", "PAUSED", ["mark_successful", "resume"]),
        ("resume", "PENDING_TRIGGER", ["mark_successful", "pause"]),
        ("mark_successful", "SUCCEEDED", ["rerun", "rerun_downstream"]),
        ("rerun_downstream", "PENDING_TRIGGER", ["mark_successful", "pause"]),
    ):
        answer = server.client.post(f"{path}/{action}", data={"reason": action}, follow_redirects=False)
        assert answer.status_code == 303, answer.text
        view = shown(server, path)
        assert (view["shown"]["job"]["state"], view["actions"]) == (state, then)
        assert any(entry["data"].get("why") == action for entry in view["shown"]["history"])
    problem(server.client.post(f"{path}/resume", data={}), 409)
    problem(server.client.post(f"{path}/force", data={}), 409)


def test_what_is_of_instances_is_unknown_for_jobs_of_schedules(board: Served):
    problem(board.client.post(f"/board/jobs/{job_of(board, DAYS[0])}/rerun", data={}), 400)
    problem(board.client.post(f"/board/jobs/{job_of(board, DAYS[0])}/odd", data={}), 400)


def test_a_button_runs_an_operation_on_a_table(server: Served):
    yard(server)
    server.pass_time(timedelta(seconds=1))
    path, name = "/board/maintenance/table/run", {"name": ORDERS, "reason": "audit"}
    assert f"{path}?name=" in server.client.get(f"/board/maintenance/table?name={ORDERS}").text
    answer = server.client.post(
        path, data={**name, "operation": "rewrite_data_files"}, follow_redirects=False
    )
    assert answer.status_code == 303, answer.text
    back = server.client.get(answer.headers["location"], headers=HTML)
    assert (back.status_code, "1 new operation of " in back.text) == (200, True)
    with server.store.reading() as reader:
        (job,) = [each for each in reader.jobs() if each.maintenance is not None]
    assert shown(server, f"/board/jobs/{job.id}")["actions"] == []
    problem(server.client.post(path, data={**name, "operation": "odd"}), 400)
    problem(server.client.post(path, data={"name": "none"}), 404)
    reader = server.of(server.token(Role.READ))
    problem(reader.post(path, data=name), 403)
