"""The next fire of a task is the start of its next instance everywhere, not when instances are made."""

import pytest

from tests.server.board.board import shown
from tests.server.sales import SPEC, deployed
from tests.server.serving import NS, Served

pytestmark = [pytest.mark.store]

START = "2026-03-11T03:00:00Z"


@pytest.fixture
def nightly(server: Served) -> Served:
    """A server with a task of the night, at noon: its instance of the next day is made at 22:00."""
    task = {"cycle": "day", "at": {"time": "03:00"}, "program": "report"}
    deployed(server, {**SPEC, "tasks": {"nightly": task}})
    assert server.client.post(f"{NS}/apps/sales/schedules/nightly/enable").status_code == 200
    with server.store.reading() as reader:
        (state,) = reader.schedules(refs=["sales/nightly"])
    assert state.next_fire_at is not None and f"{state.next_fire_at:%H:%M}" == "22:00"
    return server


def starts(server: Served) -> list[str]:
    """The start times in the lane of the task."""
    apps = shown(server, "/")["time_line"]["apps"]
    lanes = [lane for app in apps for lane in app["lanes"] if lane["ref"] == "sales/nightly"]
    return [time for lane in lanes for time in lane.get("times", ())]


def test_the_time_line_has_the_start(nightly: Served):
    assert starts(nightly) == [START]


def test_a_suspended_task_has_no_start_on_the_time_line(nightly: Served):
    assert nightly.client.post(f"{NS}/apps/sales/schedules/nightly/disable").status_code == 200
    assert starts(nightly) == []


def test_the_page_of_the_task_has_the_next_starts(nightly: Served):
    view = shown(nightly, "/board/schedules/sales/nightly")
    assert view["state"]["next_fire_at"] == START
    fires = view["next_fires"]
    assert fires[:2] == [START, "2026-03-12T03:00:00Z"]
    html = nightly.client.get("/board/schedules/sales/nightly", headers={"Accept": "text/html"}).text
    assert "Next start" in html and "22:00" not in html.partition("<h2>")[0]


def test_the_list_of_tasks_has_it_over_rest_and_on_the_board(nightly: Served):
    (task,) = nightly.client.get(f"{NS}/tasks?app=sales").json()["items"]
    assert task["next"] == {"scheduled": "2026-03-11", "start": START}
    assert shown(nightly, "/board/tasks?app=sales")["items"] == [task]
