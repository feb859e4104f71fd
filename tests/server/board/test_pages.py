"""The pages of the board: what each shows, as HTML and as JSON."""

import re
from collections.abc import Iterator
from datetime import date, timedelta
from html import unescape
from html.parser import HTMLParser
from typing import Any

import pytest

from tests.server.board.board import DAYS, HOSTILE, HTML, job_of, report, shown
from tests.server.serving import Served, problem
from tests.server.shop import shop
from tests.server.yard import yard
from tests.worlds.samples import job
from tidegate.scheduler.model.retention import LedgerSum
from tidegate.scheduler.store.wanted import Outcome
from tidegate.server.board.assets import asset
from tidegate.server.board.rendering import PAGES

pytestmark = [pytest.mark.store]


class Links(HTMLParser):
    """The addresses of a page, its scripts, and whether a style or a script is inside."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: set[str] = set()
        self.tags: list[str] = []
        self.scripts: set[str] = set()
        self.styled = False
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.scripts |= {value or "" for name, value in attrs if tag == "script" and name == "src"}
        self.styled |= tag == "style" or any(name == "style" or name.startswith("on") for name, _ in attrs)
        given = dict(attrs)
        if (given.get("class") or "").startswith("chip") and "&" in (given.get("href") or ""):
            return  # so many combinations of filters
        if tag != "form" or ("method", "get") in attrs:
            self.found |= {value or "" for name, value in attrs if name in ("href", "action", "src")}


def pages_of(server: Served) -> Iterator[str]:
    """All pages that are reached from the first one."""
    seen, open_ = set[str](), ["/"]
    while open_:
        path = open_.pop()
        if (
            path in seen
            or not path.startswith("/")
            or any(each in path for each in ("format=", "?day=", "&sign="))
        ):
            continue  # days have no end
        seen.add(path)
        answer = server.client.get(path, headers=HTML)
        assert answer.status_code == 200, (path, answer.text)
        if "html" in answer.headers["content-type"]:
            links = Links(answer.text)
            assert links.tags.count("script") == len(links.scripts), path  # our own, with a source
            assert asset("live.js") in links.scripts, path
            assert not links.styled, path
            open_ += sorted(each.partition("#")[0] for each in links.found)
    yield from sorted(seen)


def test_every_link_of_every_page_leads_to_a_page_without_scripts_in_it(board: Served):
    shop(board)
    yard(board)
    board.pass_time(timedelta(minutes=1))
    found = set(pages_of(board))
    assert {path for path, _ in PAGES} <= found
    assert "/board/schedules/sales/each_day" in found
    assert f"/board/jobs/{job_of(board, DAYS[0])}" in found
    assert "/board/datasets/sales/raw" in found


@pytest.mark.parametrize("path", [path for path, _ in PAGES])
def test_pages_of_an_empty_store_say_so(server: Served, path: str):
    assert server.client.get(path).status_code == 200
    shown(server, path)


def test_schedules_are_listed_by_program(board: Served):
    view = shown(board, "/board/schedules?app=sales&program=clean")
    assert "sales/each_day" in {line["ref"] for line in view["items"]}
    assert board.client.get("/board/schedules?app=sales&program=none").status_code == 400


def test_filters_are_chips_in_the_address_and_a_chip_removes_its_own(board: Served):
    text = unescape(board.client.get("/board/jobs?state=failed&app=sales").text)
    assert 'class="chip s-failed" href="/board/jobs?app=sales" aria-current="true"' in text
    assert 'class="chip s-running" href="/board/jobs?app=sales&state=failed&state=LAUNCHED"' in text
    waiting = "state=failed&state=PENDING_TRIGGER&state=PENDING_CONSTRAINT"
    assert f'class="chip s-waiting" href="/board/jobs?app=sales&{waiting}"' in text
    assert 'class="chip" href="/board/jobs?state=failed" aria-current="true">app: sales' in text
    assert '<input type="hidden" name="state" value="failed">' in text
    text = unescape(board.client.get("/board/jobs?run_state=queued").text)
    assert 'href="/board/jobs?" aria-current="true">run state: queued' in text


def test_a_list_without_items_says_so_and_offers_a_way_out(board: Served):
    text = board.client.get("/board/jobs?state=paused").text
    assert 'Nothing fits these filters. <a href="/board/jobs">Show all</a>' in text
    assert "There is nothing here: no gauges." in board.client.get("/board/gauges").text


def test_jobs_that_have_failed_come_first_on_the_board_only(board: Served):
    report(board, ("2026-03-05",))
    text = board.client.get("/board/jobs").text
    states = [each.partition('"')[0] for each in text.split('<span class="pill s-')[1:]]
    assert states[0] == "failed" and set(states) == {"failed", "waiting"}
    opened = [each["opened_at"] for each in shown(board, "/board/jobs")["items"]]
    assert opened == sorted(opened, reverse=True)


def test_failures_come_first_on_each_page_of_jobs_and_the_pages_are_by_time(board: Served):
    with board.store.transaction() as transaction:
        transaction.put_jobs(
            [
                job(f"w{n}", "sales/each_day", key=f"k{n:02}", opened_at=board.now + timedelta(seconds=n))
                for n in range(5)
            ]
        )

    def keys(path: str) -> list[str]:
        html = board.client.get(path, headers=HTML).text
        assert ("what has failed comes first" in html) is ('rel="next"' in html)
        return re.findall(r"<td data-l=\"key\">(.*?)</td>", html)

    newest, rest = "/board/jobs?limit=5", None
    assert keys(newest) == [f"k{n:02}" for n in reversed(range(5))], "the failed one is older"
    cursor = board.client.get(f"{newest}&format=json").json()["next"]
    rest = f"{newest}&cursor={cursor}"
    assert keys(rest)[0] == DAYS[0], "first on its page"
    assert keys("/board/jobs?state=FAILED&limit=5") == [DAYS[0]]


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
    assert "  for_each: day" in [line["text"] for line in view["yaml"]]
    html = board.client.get("/board/schedules/sales/each_day").text
    assert "not met" in html
    assert '<span class="y">for_each</span>: day' in html


def test_a_job_shows_its_failure_as_text(board: Served):
    html = board.client.get(f"/board/jobs/{job_of(board, DAYS[0])}").text
    assert "&lt;script&gt;" in html
    assert HOSTILE not in html


def test_the_graph_has_flows_and_triggers(board: Served):
    view = shown(board, "/board/datasets")
    edges = {(each["source"], each["target"], each["kind"]) for each in view["edges"]}
    assert edges == {
        ("dataset:sales/raw", "program:sales/clean", "flow"),
        ("dataset:sales/raw", "program:sales/clean", "trigger"),
        ("program:sales/clean", "dataset:sales/cleaned", "flow"),
    }
    (trigger,) = (each for each in view["edges"] if each["kind"] == "trigger")
    assert trigger["schedules"] == ["sales/each_day"]
    assert "each_day: 1 partition of raw" in trigger["label"]


def test_the_ledger_adds_up(board: Served):
    (line,) = shown(board, "/board/ledger")["items"]
    assert line["landed"] == sum(line[str(name)] for name in Outcome) == 2
    text = board.client.get("/board/ledger").text
    assert '<a href="#lines">2</a> deliveries' in text
    assert '<a href="/board/events?outcome=pending">1</a>' in text
    assert 'aria-label="succeeded 0 running 0 failed 1 pending 1 discarded 0 "' in text


def test_the_next_page_of_the_ledger_is_of_the_same_app(board: Served):
    given: dict[str, Any] = {"day": date(2026, 3, 1), "outcome": "failed", "reason": "", "events": 1}
    with board.store.transaction() as transaction:
        transaction.add_sums([LedgerSum(schedule=f"sales/{name}", **given) for name in ("one", "two")])
    for query in ("", "app=sales"):
        more = f"{query}&amp;" if query else ""
        text = board.client.get(f"/board/ledger?limit=1&{query}").text
        assert f'href="/board/ledger?{more}cursor=' in text


def test_every_number_of_the_ledger_leads_to_its_events(board: Served):
    assert (
        'href="/board/events?schedule=sales/each_day&amp;outcome=pending"'
        in board.client.get("/board/ledger").text
    )
    for outcome, days in (("pending", [DAYS[1]]), ("failed", [DAYS[0]]), ("succeeded", [])):
        view = shown(board, f"/board/events?schedule=sales/each_day&outcome={outcome}")
        assert [each["partition"] for each in view["items"]] == days
    assert len(shown(board, "/board/events?reason=f-run")["items"]) == 1
    (event,) = shown(board, f"/board/events?dataset=sales/raw&partition={DAYS[1]}")["items"]
    (received,) = event["deliveries"]
    assert (received["schedule"], received["job"]) == ("sales/each_day", job_of(board, DAYS[1]))
    assert received["reason"] == "W-WINDOW"
    assert board.client.get("/board/events?dataset=sales/ra").status_code == 400


def test_the_flow_of_the_ledger_leads_from_schedules_to_outcomes(board: Served):
    text = board.client.get("/board/ledger").text
    assert "sales/each_day 2</text>" in text
    assert [name for name in Outcome if f"<title>sales/each_day {name}: 1</title>" in text] == [
        Outcome.FAILED,
        Outcome.PENDING,
    ]


def test_the_counts_of_a_day_list_their_instances(server: Served):
    shop(server)
    view = shown(server, "/board/day?sign=N")
    (count,) = [each for each in view["counts"] if each["sign"] == "N"]
    assert len(view["listed"]) == count["instances"]
    assert "sign=N#listed" in server.client.get("/board/day").text


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/board/schedules/sales/none", 404),
        ("/board/schedules?app=none", 400),
        ("/board/schedules?schedule-status=odd", 400),
        ("/board/jobs?state=odd", 400),
        ("/board/jobs?limit=0", 400),
        ("/board/jobs?since=odd", 400),
        ("/board/jobs?ended=odd", 400),
        ("/board/jobs/none", 404),
        ("/board/datasets/sales/none", 404),
        ("/board/datasets?app=none", 404),
        ("/board/day?day=odd", 400),
        ("/board/day?sign=odd", 400),
        ("/board/events?outcome=odd", 400),
        ("/board/ledger?cursor=odd", 400),
        ("/board/maintenance/table?name=none", 404),
        ("/board/deployments/99", 404),
        ("/board/deployments/odd", 400),
        ("/board/deployments/99/rollback", 404),
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
    if "format=" not in path:
        problem(board.client.get(f"{path}{'&' if '?' in path else '?'}format=json", headers=HTML), status)
