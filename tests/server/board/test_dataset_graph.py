"""The graph of datasets: the state of each in words, what leads to what, and what a page has of many."""

import re
from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace
from sqlalchemy import event

from tests.server.board.board import DAYS, shown
from tests.server.sales import deployed
from tests.server.serving import NOON, Served, problem
from tests.worlds.samples import job as opened_job
from tidegate.domain.model import (
    App,
    Dataset,
    DeclaredColumn,
    PartitionScheme,
    Program,
    SqlQuery,
    TimeDimension,
)
from tidegate.scheduler.model.deployed import APPS, DeployedApp
from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.model.records.token import Role
from tidegate.scheduler.store.answers import Landing, NewestJob
from tidegate.scheduler.store.sql.store import SqlStore
from tidegate.server.board.datasets import graph
from tidegate.server.board.datasets.states import Condition, State, condition_of

pytestmark = [pytest.mark.store]

LANDED = Landing(dataset="a/d", partition="2026-03-09", at=NOON)
LONG_AGO = NOON - timedelta(days=30)


def job(state: JobState, key: str = "2026-03-08", opened: int = 0, **fields: Any) -> NewestJob:
    """A job that was opened so many minutes after noon a month ago."""
    given = {"schedule": "a/s", "ended_at": LONG_AGO} | fields
    return NewestJob(state=state, key=key, opened_at=LONG_AGO + timedelta(minutes=opened), **given)


WAITS, RUNS = job(JobState.PENDING_CONSTRAINT, "2026-03-10"), job(JobState.LAUNCHED, "2026-03-09")
FAILED, GOOD = job(JobState.FAILED, opened=2), job(JobState.SUCCEEDED, opened=3)


@pytest.mark.parametrize(
    ("jobs", "late", "late_jobs", "landing", "state", "says"),
    [
        ([], [], 0, None, State.NEVER, "nothing has landed"),
        ([], [], 0, LANDED, State.FRESH, "2026-03-09 landed"),
        ([], [], 0, replace(LANDED, partition=""), State.FRESH, "has landed"),
        ([WAITS], [], 0, LANDED, State.WAITING, "2026-03-10 waits"),
        ([job(JobState.PAUSED, "")], [], 0, LANDED, State.WAITING, "a job waits"),
        ([WAITS, RUNS], [], 0, None, State.RUNNING, "2026-03-09 runs"),
        ([RUNS], [], 1, LANDED, State.LATE, "a job is late"),
        ([RUNS], [], 2, LANDED, State.LATE, "2 jobs are late"),
        ([RUNS], ["2026-03-09"], 2, LANDED, State.LATE, "2026-03-09 is late"),
        ([], ["2026-03-09", "2026-03-08"], 0, None, State.LATE, "2026-03-09 is late, and 1 more"),
        ([FAILED], ["2026-03-09"], 1, LANDED, State.FAILED, "2026-03-08 failed"),
        ([FAILED, GOOD], [], 0, LANDED, State.FRESH, "2026-03-09 landed"),
        ([FAILED, job(JobState.SUCCEEDED, opened=1)], [], 0, LANDED, State.FAILED, "2026-03-08 failed"),
        ([FAILED, replace(GOOD, schedule="a/other")], [], 0, LANDED, State.FAILED, "2026-03-08 failed"),
        ([replace(FAILED, ended_at=NOON), GOOD], [], 0, LANDED, State.FAILED, "2026-03-08 failed"),
        ([replace(FAILED, key="")], [], 0, LANDED, State.FAILED, "its last job failed"),
    ],
)
def test_a_dataset_has_the_worst_state_in_words(
    jobs: list[NewestJob], late: list[str], late_jobs: int, landing: Landing | None, state: State, says: str
):
    found = condition_of(jobs, late, late_jobs, landing, NOON + timedelta(hours=1))
    assert found == Condition(state=state, says=says)


def cards(view: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {each["name"]: each for each in view["datasets"]}


def test_a_page_has_the_state_of_each_dataset_and_what_leads_to_it(board: Served):
    view = shown(board, "/board/datasets")
    raw, cleaned = cards(view)["sales/raw"], cards(view)["sales/cleaned"]
    assert (raw["state"], raw["last"], raw["written_by"]) == ("fresh", DAYS[1], [])
    assert (raw["read_by"], raw["starts"]) == (["sales/clean"], ["sales/each_day"])
    assert (cleaned["state"], cleaned["says"]) == ("failed", f"{DAYS[0]} failed")
    assert (cleaned["written_by"], cleaned["landed_at"]) == (["sales/clean"], None)
    assert view["says"] == "2 datasets: 1 failed, none late, the rest is fresh or on its way."
    html = board.client.get("/board/datasets").text
    assert view["says"] in html and f"{DAYS[0]} failed" in html


def chain(server: Served, count: int) -> None:
    """Deploy apps of two datasets; each reads the last dataset of the app before."""
    for n in range(count):
        reads = ["first", *([f"app_{n - 1}/last"] if n else [])]
        trigger = {"partitions": {"dataset": reads[-1], "count": 1}}
        deployed(
            server,
            {
                "app": f"app_{n}",
                "datasets": {"first": {}, "last": {}},
                "programs": {"work": {"run": "programs.work", "reads": reads, "writes": ["last"]}},
                "schedules": {"go": {"program": "work", "trigger": trigger, "status": "active"}},
            },
        )


def opened(view: dict[str, Any]) -> list[str]:
    return [app["name"] for app in view["apps"] if app["open"]]


def test_apps_that_a_page_has_no_room_for_are_folded(server: Served, monkeypatch: pytest.MonkeyPatch):
    chain(server, 3)
    assert opened(shown(server, "/board/datasets")) == ["app_0", "app_1", "app_2"]
    monkeypatch.setattr(graph, "DATASETS_SHOWN", 4)
    monkeypatch.setattr(graph, "OPENED", 4)
    view = shown(server, "/board/datasets")
    assert (opened(view), view["matching"], len(view["datasets"])) == (["app_0", "app_1"], 6, 4)
    assert view["says"] == "4 of 6 datasets: none failed, none late, 4 without anything yet."
    assert view["apps"][2] == {
        "name": "app_2",
        "datasets": 2,
        "open": False,
        "state": None,
        "says": "2 datasets",
    }
    # What leads into the folded app is there, and what only that has is not.
    edges = {(each["source"], each["target"]) for each in view["edges"]}
    assert ("dataset:app_1/last", "program:app_2/work") in edges
    assert ("dataset:app_2/first", "program:app_2/work") not in edges
    assert cards(view)["app_1/last"]["starts"] == ["app_2/go"]
    assert "/board/datasets?app=app_2" in server.client.get("/board/datasets").text


def test_an_app_in_a_worse_state_is_open_before_others(server: Served, monkeypatch: pytest.MonkeyPatch):
    chain(server, 3)
    monkeypatch.setattr(graph, "DATASETS_SHOWN", 5)
    monkeypatch.setattr(graph, "OPENED", 2)
    assert opened(shown(server, "/board/datasets")) == ["app_0"]
    with server.store.transaction() as transaction:
        state = transaction.schedules(refs=["app_2/go"])[0]
        waits = JobState.PENDING_TRIGGER
        transaction.put_jobs([opened_job("j", state.ref, state=waits, opened_at=server.now)])
    assert opened(shown(server, "/board/datasets")) == ["app_2"]
    assert opened(shown(server, "/board/datasets?at=app_1/last")) == ["app_1"]
    assert opened(shown(server, "/board/datasets?app=app_0&app=app_1")) == ["app_0", "app_1"]


def test_datasets_are_found_by_name_and_more_are_on_the_next_page(
    server: Served, monkeypatch: pytest.MonkeyPatch
):
    chain(server, 3)
    found = shown(server, "/board/datasets?q=LAST")
    assert [each["name"] for each in found["datasets"]] == ["app_0/last", "app_1/last", "app_2/last"]
    monkeypatch.setattr(graph, "DATASETS_SHOWN", 1)
    first = shown(server, "/board/datasets?app=app_0")
    assert ([*cards(first)], first["next"]) == (["app_0/first"], "app_0/first")
    html = server.client.get("/board/datasets?app=app_0").text
    assert 'href="/board/datasets?app=app_0&amp;after=app_0/first"' in html
    second = shown(server, "/board/datasets?app=app_0&after=app_0/first")
    assert ([*cards(second)], second["next"]) == (["app_0/last"], "")
    none = shown(server, "/board/datasets?q=nothing")
    assert none["says"] == 'No name of a dataset has "nothing" in it.'


def test_a_page_asks_as_often_for_many_datasets_as_for_few(server: Served):
    assert isinstance(server.store, SqlStore)
    asked: list[str] = []
    event.listen(
        server.store.engine, "before_cursor_execute", lambda _c, _k, statement, *_: asked.append(statement)
    )
    numbers: list[int] = []
    for count in (2, 40):
        names = [f"d{n}" for n in range(count)]
        program = {"run": "programs.work", "reads": names[:1], "writes": names[1:]}
        trigger = {"partitions": {"dataset": "d0", "count": 1}}
        schedules = {"go": {"program": "work", "trigger": trigger}}
        deployed(
            server,
            {
                "app": "many",
                "datasets": {name: {} for name in names},
                "programs": {"work": program},
                "schedules": schedules,
            },
        )
        asked.clear()
        assert len(shown(server, "/board/datasets")["datasets"]) == count
        numbers.append(len(asked))
    assert numbers[0] == numbers[1]


def test_a_token_of_one_app_sees_nothing_of_the_others(server: Served):
    chain(server, 3)
    client = server.of(server.token(Role.READ, "app_1"))
    view = client.get("/board/datasets?format=json").json()
    assert [app["name"] for app in view["apps"]] == ["app_1"]
    assert {each["name"]: each["starts"] for each in view["datasets"]} == {
        "app_1/first": [],
        "app_1/last": [],
    }
    assert {each["source"] for each in view["edges"]} == {
        "dataset:app_0/last",
        "dataset:app_1/first",
        "program:app_1/work",
    }
    problem(client.get("/board/datasets?app=app_0"), 403)
    problem(client.get("/board/datasets?at=app_0/last"), 403)


def test_a_dataset_of_an_sql_program_shows_where_its_columns_come_from(server: Served):
    query = (
        "SELECT r.day, r.*, upper(s.town) AS `<b>` , 1 AS one, x FROM raw r JOIN `feeds/shops` s USING (shop)"
    )
    deploy_sql(server, "feeds", "SELECT shop, town FROM landed", "shops", "landed")
    deploy_sql(server, "shop", query, "totals", "raw", "feeds/shops")
    view = shown(server, "/board/datasets/shop/totals")
    (writer,) = view["columns"]
    assert (writer["program"], writer["file"]) == ("shop/totals", "totals.sql")
    assert [(each["name"], each["sources"]) for each in writer["columns"]] == [
        ("day", [{"dataset": "shop/raw", "column": "day"}]),
        ("*", [{"dataset": "shop/raw", "column": "*"}]),
        ("<b>", [{"dataset": "feeds/shops", "column": "town"}]),
        ("one", []),
        ("x", [{"dataset": "shop/raw", "column": "x"}]),
    ]
    assert view["linked"] == ["feeds/shops", "shop/raw"]
    html = server.client.get("/board/datasets/shop/totals").text
    assert '<a href="/board/datasets/feeds/shops">feeds/shops</a>.town' in html
    assert '<a href="/board/datasets/shop/raw">shop/raw</a>, all columns' in html
    assert "&lt;b&gt;" in html and "<b></td>" not in html
    assert shown(server, "/board/datasets/shop/raw")["columns"] == []
    assert 'id="columns"' not in server.client.get("/board/datasets/shop/raw").text


def test_the_page_of_a_dataset_shows_its_declared_columns(server: Served):
    columns = (
        DeclaredColumn(name="id", type="bigint"),
        DeclaredColumn(name="delay", type="int", nullable=False, unit="min", description="<i>late</i>"),
    )
    day = PartitionScheme(time=TimeDimension(name="day", cycle="day", start="2026-01-01"))
    sales = Dataset(name="sales", columns=columns, partitions=day)
    app = App(name="shop", timezone="UTC", datasets={"sales": sales})
    with server.store.transaction() as transaction:
        transaction.put_records(APPS, [DeployedApp(app=app, revision=1, deployed_at=NOON)])
    assert [each["name"] for each in shown(server, "/board/datasets/shop/sales")["dataset"]["columns"]] == [
        "id",
        "delay",
    ]
    html = server.client.get("/board/datasets/shop/sales").text
    rows = re.findall(
        r"<tr>(.*?)</tr>", html.partition('id="declared"')[2].partition("</table>")[0], re.DOTALL
    )
    cells = [re.sub("<[^>]+>", "|", row).replace("\n", "") for row in rows[1:]]
    assert [[part for part in row.split("|") if part] for row in cells] == [
        ["id", "bigint", "yes", "–", "–"],
        ["delay", "int", "no", "min", "&lt;i&gt;late&lt;/i&gt;"],
        ["day", "string", "yes", "–", "–"],
    ]


def test_a_token_of_one_app_hears_nothing_of_the_columns_of_others(server: Served):
    deploy_sql(server, "feeds", "SELECT shop, secret FROM landed", "shops", "landed")
    deploy_sql(server, "shop", "SELECT * FROM `feeds/shops`", "totals", "feeds/shops")
    (writer,) = shown(server, "/board/datasets/shop/totals")["columns"]
    assert [each["name"] for each in writer["columns"]] == ["shop", "secret"]
    client = server.of(server.token(Role.READ, "shop"))
    answer = client.get("/board/datasets/shop/totals?format=json")
    (writer,) = answer.json()["columns"]
    assert [each["name"] for each in writer["columns"]] == ["*"]
    assert "secret" not in answer.text and answer.json()["linked"] == []
    assert 'href="/board/datasets/feeds/shops"' not in client.get("/board/datasets/shop/totals").text
    problem(client.get("/board/datasets/feeds/shops"), 403)


def deploy_sql(server: Served, app: str, query: str, output: str, *reads: str) -> None:
    """Put an app with one SQL program into the store."""
    names = {output, *(name for name in reads if "/" not in name)}
    sql = (SqlQuery(output=output, file=f"{output}.sql", text=query),)
    program = Program(name=output, sql=sql, reads=reads, writes=(output,))
    datasets = {name: Dataset(name=name) for name in names}
    with server.store.transaction() as transaction:
        deployed = DeployedApp(
            app=App(name=app, datasets=datasets, programs={output: program}), revision=1, deployed_at=NOON
        )
        transaction.put_records(APPS, [deployed])
