"""Overrides on the board: who changed what until when, and the button that takes it back."""

import pytest

from tests.server.board.board import HTML, shown
from tests.server.serving import NS, Served, problem
from tidegate.scheduler.model.records.token import Role

pytestmark = [pytest.mark.store]

PATH = "/board/schedules/sales/each_day"


def suspended(board: Served, **form: str) -> None:
    data = {"reason": "late <b>feed</b>", "expires": "2h", **form}
    answer = board.client.post(f"{PATH}/suspend", data=data, follow_redirects=False)
    assert answer.status_code == 303, answer.text


def test_the_schedule_the_list_and_the_overrides_show_it(board: Served):
    suspended(board)
    for path in (PATH, "/board/schedules?app=sales", "/board/overrides", "/board/overrides?app=sales"):
        page = board.client.get(path, headers=HTML).text
        assert "suspended" in page and "late &lt;b&gt;feed" in page, path
    assert f'href="{PATH}/revert"' in board.client.get(PATH, headers=HTML).text
    found = {each["schedule"]: each for each in shown(board, "/board/overrides")["items"]}["each_day"]
    assert (found["override"], found["owner"], found["reverts"]) == ("suspended", "rest", "is active again")
    assert found["expires_at"] is not None


def test_the_button_reverts(board: Served):
    suspended(board)
    answer = board.client.post(f"{PATH}/revert", data={"reason": "back"}, follow_redirects=False)
    assert answer.status_code == 303
    assert "is+active+again" in answer.headers["location"]
    assert shown(board, PATH)["overrides"] == []
    assert shown(board, PATH)["state"]["status"] == "active"


def test_a_created_schedule_that_is_reverted_leads_to_the_list(board: Served):
    new = {"program": "report", "trigger": {"cron": "0 7 * * *"}}
    board.client.put(f"{NS}/apps/sales/schedules/extra", json=new).raise_for_status()
    answer = board.client.post("/board/schedules/sales/extra/revert", data={}, follow_redirects=False)
    assert answer.headers["location"].startswith("/board/schedules?app=sales&done=")


def test_a_wrong_expiry_is_a_page_with_the_problem(board: Served):
    answer = board.client.post(f"{PATH}/suspend", data={"expires": "soon"}, headers=HTML)
    assert answer.status_code == 400
    assert "an expiry is a duration" in answer.text


def test_a_text_is_reverted_by_an_admin_only(board: Served):
    board.client.post(f"{NS}/apps/sales/schedules/each_day/update", json={"timeout": "5h"}).raise_for_status()
    operator = board.of(board.token(Role.OPERATE))
    problem(operator.post(f"{PATH}/revert", data={}), 403)
    problem(operator.post(f"{NS}/apps/sales/schedules/each_day/revert", json={}), 403)
    admin = board.of(board.token(Role.ADMIN))
    assert admin.post(f"{NS}/apps/sales/schedules/each_day/revert", json={}).status_code == 200
