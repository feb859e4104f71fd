"""The page of an action says what it does: that is played, and compared with what has happened."""

import time
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from tests.server.board.board import DAYS, HOSTILE, HTML, job_of, report, shown
from tests.server.serving import Served, problem
from tests.server.shop import THIRTEEN, shop
from tests.server.yard import ORDERS, yard
from tidegate.scheduler.model.job import ByHand, Job, JobState
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.records.token import Role
from tidegate.scheduler.store.sql.connection.engine import BUSY_SECONDS

pytestmark = [pytest.mark.store]

EACH_DAY = "/board/schedules/sales/each_day"


def jobs_of(server: Served) -> dict[str, Job]:
    with server.store.reading() as reader:
        return {job.id: job for job in reader.jobs()}


def play(server: Served, path: str, **given: str) -> tuple[dict[str, Any], list[Job]]:
    """Look at the page of an action, do what it says, and return it with the jobs that have changed."""
    before = jobs_of(server)
    query = "&".join(f"{name}={value}" for name, value in given.items())
    view = shown(server, f"{path}?{query}" if query else path)
    assert view["refusal"] == "" and not view["asks"]
    assert jobs_of(server) == before, "a page changes nothing"
    form = {**view["hidden"], **given, "reason": "played", "agreed": view["agreed"]}
    answer = server.client.post(view["path"], data=form, follow_redirects=False)
    assert answer.status_code == 303, answer.text
    back = server.client.get(answer.headers["location"], headers=HTML).text
    for fate in view["fates"][:3]:
        assert fate["text"] in back
    after = jobs_of(server)
    return view, [job for id_, job in after.items() if before.get(id_) != job]


def texts(view: dict[str, Any]) -> list[str]:
    return [each["text"] for each in view["fates"]]


def test_a_suspension_names_the_jobs_that_it_discards(board: Served):
    report(board, ("2026-03-05", "2026-03-06"))
    board.pass_time(timedelta(minutes=1))

    view, changed = play(board, f"{EACH_DAY}/suspend")

    keys = sorted(job.key for job in changed)
    assert keys == ["2026-03-05", "2026-03-06", "2026-03-09"]
    assert {(job.state, job.reason) for job in changed} == {(JobState.DISCARDED, Reason.D_SUSPENDED)}
    assert texts(view) == [
        "sales/each_day is suspended",
        f"3 waiting jobs of sales/each_day are discarded: {', '.join(keys)}",
    ]
    assert (view["discarded"], view["button"]) == (3, "Suspend and discard 3 jobs")
    notes = [note["text"] for each in view["fates"] for note in each["notes"]]
    assert "Nothing that runs is touched: no job of it runs now." in notes
    assert "The schedule is suspended (D-SUSPENDED)." in notes

    view, changed = play(board, f"{EACH_DAY}/resume")
    assert (texts(view), changed) == (["sales/each_day is active again"], [])


def test_a_key_is_asked_for_before_it_is_said_what_a_trigger_does(board: Served):
    asked = shown(board, f"{EACH_DAY}/trigger")
    assert asked["asks"] and [each["name"] for each in asked["fields"]] == ["key"]
    assert 'method="get"' in board.client.get(f"{EACH_DAY}/trigger", headers=HTML).text

    view, (job,) = play(board, f"{EACH_DAY}/trigger", key="2026-03-04")

    assert (job.key, job.state) == ("2026-03-04", JobState.PENDING_TRIGGER)
    assert texts(view) == ["1 new job of sales/each_day is opened with its trigger met: 2026-03-04"]
    notes = [(note["text"], note["at"]) for note in view["fates"][0]["notes"]]
    assert ("Ready. It starts when the window opens", "2026-03-10T22:00:00Z") in notes
    assert view["title"] == "Trigger sales/each_day: 2026-03-04?"
    wrong = shown(board, f"{EACH_DAY}/trigger?key=2026-13-01")
    assert "no such key" in wrong["refusal"]


@pytest.mark.parametrize(
    ("key", "action", "text"),
    [
        (DAYS[1], "cancel", "1 waiting job of sales/each_day is discarded: 2026-03-09"),
        (DAYS[1], "force", "1 waiting job of sales/each_day is forced: 2026-03-09"),
        (DAYS[0], "retry", "1 failed job of sales/each_day runs again, as attempt 2: 2026-03-07"),
    ],
)
def test_a_job_becomes_what_the_page_says(board: Served, key: str, action: str, text: str):
    view, (job,) = play(board, f"/board/jobs/{job_of(board, key)}/{action}")
    assert texts(view) == [text]
    assert (job.state is JobState.DISCARDED) is (action == "cancel")
    assert (job.by_hand is ByHand.FORCE) is (action == "force")
    assert job.attempt == (2 if action == "retry" else 1)


def _instance(server: Served) -> str:
    return next(
        id_ for id_, job in jobs_of(server).items() if (job.schedule, job.key) == ("shop/clean", THIRTEEN)
    )


def test_instances_and_their_consumers_become_what_the_page_says(server: Served):
    shop(server)
    path = f"/board/jobs/{_instance(server)}"
    for action, text in (
        ("pause", "1 waiting instance of shop/clean is paused: 2026-03-10-13:00"),
        ("resume", "1 paused instance of shop/clean runs again, as attempt 2: 2026-03-10-13:00"),
        ("mark_successful", "1 waiting instance of shop/clean counts as successful: 2026-03-10-13:00"),
        (
            "rerun_downstream",
            "1 successful instance of shop/clean runs again, as attempt 3: 2026-03-10-13:00",
        ),
    ):
        view, changed = play(server, f"{path}/{action}")
        assert texts(view)[0].startswith(text.partition(",")[0]), action
        assert sum(each["jobs"] for each in view["fates"]) == len(changed)


def test_a_backfill_says_which_instances_it_makes_and_discards(server: Served):
    shop(server)
    assert shown(server, "/board/backfills/start")["asks"]
    given = {"name": "shop.revenue", "from": "2026-03-01", "to": "2026-03-03", "lot": "2"}

    view, changed = play(server, "/board/backfills/start", **given)

    assert len(changed) == 3 and all(job.instance is not None for job in changed)
    assert texts(view)[0].startswith("3 new instances of shop/revenue are opened: ")
    view, changed = play(server, "/board/backfills/1/cancel")
    assert texts(view)[0].startswith("3 waiting instances of shop/revenue are discarded: ")
    assert {job.state for job in changed} == {JobState.DISCARDED}


def test_an_app_a_table_and_an_override_say_what_is_done_to_them(board: Served):
    yard(board)
    board.pass_time(timedelta(seconds=1))
    view, _ = play(board, "/board/apps/sales/hold")
    assert texts(view) == ["sales is on hold: nothing of it is launched"]
    assert any("1 job of it waits now" in note["text"] for note in view["fates"][0]["notes"])
    view, _ = play(board, "/board/apps/sales/release")
    assert texts(view) == ["sales is released: what was decided is launched first"]
    table = f"/board/maintenance/table/run?name={ORDERS}"
    assert [each["name"] for each in shown(board, table)["fields"]] == ["operation"]
    view, (job,) = play(board, "/board/maintenance/table/run", name=ORDERS, operation="rewrite_data_files")
    assert job.maintenance is not None and texts(view)[0].startswith("1 new operation of ")
    play(board, f"{EACH_DAY}/suspend")
    view, _ = play(board, f"{EACH_DAY}/revert")
    assert texts(view) == ["sales/each_day is active again"]


def test_nothing_is_done_if_it_would_be_something_else_than_was_shown(board: Served):
    path = f"{EACH_DAY}/suspend"
    agreed = shown(board, path)["agreed"]
    report(board, ("2026-03-05",))
    board.pass_time(timedelta(minutes=1))
    before = jobs_of(board)

    answer = board.client.post(path, data={"reason": "late", "agreed": agreed}, headers=HTML)

    assert answer.status_code == 409 and jobs_of(board) == before
    assert "Nothing was done" in answer.text
    # The page has the new state, what was typed, and the hash of what it shows now.
    now = shown(board, path)
    assert all(each["text"] in answer.text for each in now["fates"])
    assert f'value="{now["agreed"]}"' in answer.text and 'value="late"' in answer.text
    problem(board.client.post(path, data={"agreed": agreed}), 409)
    again = {"reason": "late", "agreed": now["agreed"]}
    assert board.client.post(path, data=again, follow_redirects=False).status_code == 303


def test_what_would_be_refused_says_why(board: Served):
    view = shown(board, f"/board/jobs/{job_of(board, DAYS[1])}/retry")
    assert "cannot be retried" in view["refusal"] and not view["fates"]
    html = board.client.get(f"/board/jobs/{job_of(board, DAYS[1])}/retry", headers=HTML).text
    assert 'method="post"' not in html.partition("<main")[2]
    problem(board.client.get(f"/board/jobs/{job_of(board, DAYS[1])}/odd"), 400)


def test_a_reader_sees_why_there_is_no_action_and_no_page_of_one(board: Served):
    reader = board.of(board.token(Role.READ))
    menu = reader.get(EACH_DAY, params={"format": "json"}).json()["menu"]
    assert {each["refusal"] for each in menu} == {
        "this needs a token of the role operate, and yours has read"
    }
    assert f'href="{EACH_DAY}/suspend"' not in reader.get(EACH_DAY, headers=HTML).text
    problem(reader.get(f"{EACH_DAY}/suspend"), 403)
    other = board.of(board.token(Role.OPERATE, app="shop"))
    problem(other.get(f"{EACH_DAY}/suspend"), 403)
    problem(other.get(f"/board/jobs/{job_of(board, DAYS[0])}/retry"), 403)


def test_the_page_of_an_action_does_not_wait_for_who_writes(board: Served, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("tidegate.scheduler.store.sql.store.REHEARSAL_WAITS_SECONDS", 0.2)
    with board.store.transaction():
        began = time.monotonic()
        page = board.client.get(f"{EACH_DAY}/suspend?a=b", headers=HTML)
        took = time.monotonic() - began
    assert page.status_code == 503 and "ETag" not in page.headers and took < BUSY_SECONDS / 2
    assert "The store is busy" in page.text and f'href="{EACH_DAY}/suspend?a=b" data-action' in page.text
    assert 'name="agreed"' not in page.text, "no person presses what is not known"
    assert shown(board, f"{EACH_DAY}/suspend")["busy"] is False


def test_hostile_names_are_text(board: Served):
    with board.store.transaction() as transaction:
        (job,) = transaction.jobs(ids=[job_of(board, DAYS[1])])
        transaction.put_jobs([replace(job, key=HOSTILE)])
    html = board.client.get(f"/board/jobs/{job.id}/cancel", headers=HTML).text
    assert "&lt;script&gt;" in html and HOSTILE not in html
    html = board.client.get(f"{EACH_DAY}/trigger?key={HOSTILE}", headers=HTML).text
    assert HOSTILE not in html


def _paths(board: Served) -> Iterator[str]:
    yield f"/board/jobs/{job_of(board, DAYS[1])}/cancel"
    yield f"{EACH_DAY}/suspend"
    yield "/board/apps/sales/hold"


def test_a_page_of_another_site_does_nothing(board: Served):
    before = jobs_of(board)
    for path in _paths(board):
        problem(board.client.post(path, data={}, headers={"Origin": "http://evil.example"}), 403)
    assert jobs_of(board) == before
