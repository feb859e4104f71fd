"""The pages of the board: what each shows, as HTML and as JSON, and what its buttons do."""

from collections.abc import Iterator
from datetime import timedelta
from html import unescape
from html.parser import HTMLParser
from typing import Any
from urllib.parse import quote

import msgspec
import pytest

from tests.server.sales import SPEC, deployed
from tests.server.serving import NS, Served, problem
from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.token import Role
from tidegate.server.board.page import PAGES

pytestmark = [pytest.mark.store]

DAYS = ("2026-03-07", "2026-03-09")
HTML = {"Accept": "text/html"}
HOSTILE = "<script>alert(1)</script>"


class Links(HTMLParser):
    """The addresses of a page, and its scripts."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: set[str] = set()
        self.tags: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.found |= {value or "" for name, value in attrs if name in ("href", "action", "src")}


@pytest.fixture
def board(server: Served) -> Served:
    """Two jobs that wait for their window, and one that has failed with a hostile message."""
    spec = {**SPEC, "description": HOSTILE}
    deployed(server, spec)
    server.client.post(f"{NS}/apps/sales/schedules/daily/enable", json={})
    server.pass_time(timedelta(minutes=1))
    report(server, DAYS)
    server.pass_time(timedelta(minutes=1))
    with server.store.transaction() as transaction:
        (job,) = [each for each in transaction.jobs() if each.key == DAYS[0]]
        transaction.put_jobs(
            [
                msgspec.structs.replace(
                    job, state=JobState.FAILED, reason=Reason.F_RUN, detail=HOSTILE, ended_at=server.now
                )
            ]
        )
    return server


def report(server: Served, days: tuple[str, ...]) -> None:
    body = {"app": "sales", "dataset": "raw", "partitions": [{"key": day, "rows": 7} for day in days]}
    assert server.client.post(f"{NS}/events/partitions", json=body).status_code == 202


def job_of(server: Served, key: str) -> str:
    with server.store.reading() as reader:
        return next(job.id for job in reader.jobs() if job.key == key)


def shown(server: Served, path: str) -> dict[str, Any]:
    answer = server.client.get(f"{path}{'&' if '?' in path else '?'}format=json")
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def pages_of(server: Served) -> Iterator[str]:
    """All pages that are reached from the first one."""
    seen, open_ = set[str](), ["/"]
    while open_:
        path = open_.pop()
        if path in seen or not path.startswith("/") or any(each in path for each in ("format=", "?day=")):
            continue  # days have no end
        seen.add(path)
        answer = server.client.get(path, headers=HTML)
        assert answer.status_code == 200, (path, answer.text)
        if "html" in answer.headers["content-type"]:
            links = Links(answer.text)
            assert links.tags.count("script") == 1, path  # our own, with a source
            assert "/board/live.js" in links.found, path
            open_ += sorted(each.partition("#")[0] for each in links.found if "sign-out" not in each)
            open_ = [each for each in open_ if each.rpartition("/")[2] not in BUTTONS]
    yield from sorted(seen)


BUTTONS = {"suspend", "resume", "trigger", "force", "cancel", "retry", "requeue"}


def test_every_link_of_every_page_leads_to_a_page_without_scripts_in_it(board: Served):
    found = set(pages_of(board))
    assert {path for path, _ in PAGES} <= found
    assert "/board/schedules/sales/each_day" in found
    assert f"/board/jobs/{job_of(board, DAYS[0])}" in found
    assert "/board/datasets/sales/raw" in found


@pytest.mark.parametrize("path", [path for path, _ in PAGES])
def test_pages_of_an_empty_store_say_so(server: Served, path: str):
    assert server.client.get(path).status_code == 200
    shown(server, path)


def test_now_groups_what_waits_by_reason_and_shows_what_fires(board: Served):
    view = shown(board, "/")
    (group,) = view["waiting"]
    assert (group["reason"], group["jobs"]) == ("W-WINDOW", 1)
    assert [each["key"] for each in group["examples"]] == [DAYS[1]]
    (failed,) = view["failed"]
    assert (failed["reason"], failed["jobs"]) == ("F-RUN", 1)
    (ahead,) = view["ahead"]
    assert (ahead["schedule"], ahead["times"]) == ("sales/daily", ["2026-03-11T06:00:00Z"])


def test_what_now_counts_is_what_its_links_list(board: Served):
    html = board.client.get("/").text
    view = shown(board, "/")
    (failed,) = view["failed"]
    since = f"state=FAILED&reason=F-RUN&since={quote(view['failed_since'].replace('Z', '+00:00'))}"
    assert f"/board/jobs?{since}" in unescape(html)
    assert len(shown(board, f"/board/jobs?{since}")["items"]) == failed["jobs"]
    later = quote((board.now + timedelta(hours=1)).isoformat())
    assert shown(board, f"/board/jobs?state=FAILED&since={later}")["items"] == []


def test_schedules_are_listed_by_program(board: Served):
    view = shown(board, "/board/schedules?app=sales&program=clean")
    assert "sales/each_day" in {line["ref"] for line in view["items"]}
    assert shown(board, "/board/schedules?app=sales&program=none")["items"] == []


def test_a_cron_shows_its_next_fires(board: Served):
    fires = shown(board, "/board/schedules/sales/daily")["next_fires"]
    assert fires[:2] == ["2026-03-11T06:00:00Z", "2026-03-12T06:00:00Z"]
    assert shown(board, "/board/schedules/sales/each_day")["next_fires"] == []


def test_a_schedule_shows_its_conditions_jobs_and_history(board: Served):
    view = shown(board, "/board/schedules/sales/each_day")
    (why,) = view["explanations"]
    assert why["constraints"][0]["kind"] == "window"
    assert not why["constraints"][0]["met"]
    assert {job["key"] for job in view["jobs"]} == set(DAYS)
    assert "for_each: day" in view["yaml"]
    html = board.client.get("/board/schedules/sales/each_day").text
    assert "not met" in html
    assert "for_each: day" in html


def test_a_job_shows_its_failure_as_text(board: Served):
    html = board.client.get(f"/board/jobs/{job_of(board, DAYS[0])}").text
    assert "&lt;script&gt;" in html
    assert HOSTILE not in html


def test_a_dataset_shows_its_days_and_those_without_a_partition(board: Served):
    view = shown(board, "/board/datasets/sales/raw")
    assert {part["key"]: part["status"] for part in view["parts"]} == {DAYS[0]: "failed", DAYS[1]: "landed"}
    days = [day for month in view["months"] for week in month["weeks"] for day in week if day is not None]
    assert [day["date"] for day in days if day["late"]] == ["2026-03-08"]
    assert view["parts"][0]["rows"] == 7


def test_the_graph_has_flows_and_triggers(board: Served):
    view = shown(board, "/board/datasets")
    edges = {
        (each["edge"]["source"], each["edge"]["target"], each["edge"]["kind"])
        for each in view["graph"]["lines"]
    }
    assert ("dataset:sales/raw", "program:sales/clean", "flow") in edges
    assert ("dataset:sales/raw", "program:sales/clean", "trigger") in edges
    (trigger,) = view["triggers"]
    assert "sales/each_day" in trigger["schedules"]
    assert "each_day: 1 partition of raw" in trigger["label"]
    assert '<text class="label"' in board.client.get("/board/datasets").text
    assert ("program:sales/clean", "dataset:sales/cleaned", "flow") in edges
    x = {each["name"]: each["x"] for each in view["graph"]["nodes"]}
    assert x["sales/raw"] < x["sales/clean"] < x["sales/cleaned"]


def test_the_ledger_adds_up(board: Served):
    view = shown(board, "/board/ledger")
    (line,) = view["items"]
    assert line["landed"] == sum(line["events"].values()) == 2
    assert view["total"]["pending"] == 1


def test_deployments_name_who_changed_what(board: Served):
    assert shown(board, "/board/deployments")["items"][-1]["by"] == "rest"


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


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/board/schedules/sales/none", 404),
        ("/board/schedules?app=none", 404),
        ("/board/schedules?status=odd", 400),
        ("/board/jobs?state=odd", 400),
        ("/board/jobs?limit=0", 400),
        ("/board/jobs?since=odd", 400),
        ("/board/jobs/none", 404),
        ("/board/datasets/sales/none", 404),
        ("/board/datasets?app=none", 404),
        ("/board/day?day=odd", 400),
        ("/board/ledger?cursor=odd", 400),
        ("/board/maintenance/table?name=none", 404),
        ("/board/maintenance/table", 400),
        ("/?format=odd", 400),
    ],
)
def test_what_is_not_there_is_a_problem_for_tools_and_a_page_for_people(
    board: Served, path: str, status: int
):
    problem(board.client.get(path), status)
    answer = board.client.get(path, headers=HTML)
    assert answer.status_code == status
    assert "<main" in answer.text


# --- who sees what ----------------------------------------------------------------------


def test_a_browser_signs_in_with_a_token_and_out(board: Served):
    secret = board.token(Role.OPERATE)
    client = board.of()
    assert client.get("/").status_code == 401
    form = client.get("/", headers=HTML)
    assert (form.status_code, "password" in form.text) == (401, True)
    own = {"Origin": "http://127.0.0.1:8080"}
    wrong = client.post("/board/sign-in", data={"token": "wrong"}, headers={**own, **HTML})
    assert wrong.status_code == 401
    answer = client.post(
        "/board/sign-in", data={"token": secret, "next": "/board/jobs"}, headers=own, follow_redirects=False
    )
    assert (answer.status_code, answer.headers["location"]) == (303, "/board/jobs")
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=strict" in cookie
    assert client.get("/").status_code == 200
    path = "/board/schedules/sales/each_day/suspend"
    assert client.post(path, data={}, headers=own, follow_redirects=False).status_code == 303
    assert client.post("/board/sign-out", headers=own, follow_redirects=False).status_code == 303
    assert client.get("/").status_code == 401


@pytest.mark.parametrize("headers", [{}, {"Origin": "http://evil.example"}])
def test_a_cookie_alone_changes_nothing(board: Served, headers: dict[str, str]):
    client = board.of()
    client.cookies.set("tidegate_token", board.token(Role.ADMIN))
    answer = client.post("/board/schedules/sales/each_day/suspend", data={}, headers=headers)
    assert answer.status_code in (401, 403)
    with board.store.reading() as reader:
        assert reader.schedules(refs=["sales/each_day"])[0].active


@pytest.mark.parametrize("to", ["//evil.example", "http://evil.example", "/\\evil.example"])
def test_signing_in_leads_to_no_other_site(board: Served, to: str):
    secret = board.token(Role.READ)
    answer = board.of().post("/board/sign-in", data={"token": secret, "next": to}, follow_redirects=False)
    assert answer.headers["location"] == "/"


def test_a_reader_presses_no_button_and_a_token_for_one_app_sees_only_that(board: Served):
    reader = board.of(board.token(Role.READ))
    assert reader.get("/").status_code == 200
    problem(reader.post("/board/schedules/sales/each_day/suspend", data={}), 403)
    other = board.of(board.token(Role.OPERATE, app="shop"))
    view = other.get("/", params={"format": "json"}).json()
    assert (view["waiting"], view["failed"], view["ahead"]) == ([], [], [])
    problem(other.get("/board/schedules/sales/each_day"), 403)
    problem(other.get(f"/board/jobs/{job_of(board, DAYS[0])}"), 403)
    assert other.get("/board/ledger", params={"format": "json"}).json()["items"] == []


def test_pages_are_kept_from_frames_caches_and_foreign_assets(board: Served):
    headers = board.client.get("/", headers=HTML).headers
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert headers["cache-control"] == "no-store"
