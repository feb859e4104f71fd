"""Unfinished commits and watermarks over REST."""

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.server.board.board import HTML
from tests.server.sales import SPEC, deployed
from tests.server.serving import NS, Served, problem
from tests.server.shop import fetched
from tidegate.cli.commits import inspect, watermarks
from tidegate.project.environment import PROJECT_VARIABLE
from tidegate.scheduler.model.records.token import Role
from tidegate.spark_jobs.commit.recovery import BLOCKED_AFTER
from tidegate.spark_jobs.commit.sequence import CommitSequence, encode_sequence, watermark_resource

pytestmark = [pytest.mark.store]

COMMITS, WATERMARKS = f"{NS}/commits", f"{NS}/watermarks"
READ_OF_SALES = ("sales/clean", "sales/raw")
READ_OF_OTHER = ("other/clean", "sales/raw")

Command = Callable[..., Any]


@pytest.fixture
def served(server: Served) -> Served:
    """A server of two apps, with an unfinished commit of each."""
    for app in ("sales", "other"):
        deployed(server, {**SPEC, "app": app})
    promise(server, "c1", "sales/cleaned")
    promise(server, "c2", "other/cleaned")
    return server


@pytest.fixture
def command(server: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """Calls a command of the project, and returns its JSON."""
    monkeypatch.setenv(PROJECT_VARIABLE, str(tmp_path))

    def called(app: Any, *arguments: str) -> Any:
        return json.loads(CliRunner().invoke(app, [*arguments, "--format", "json"]).output)

    return called


def promise(server: Served, commit: str, *datasets: str) -> None:
    """An attempt has put a sequence and died."""
    commits = server.service.commits
    token = commits.begin(commit, datasets, until=server.now + timedelta(minutes=2))
    sequence = CommitSequence(id=commit, datasets=datasets, token=token, steps=(), result=())
    assert commits.put(commit, datasets, token, encode_sequence(sequence)) == "stored"


def ids(answer: Any) -> list[str]:
    return [row["commit"] for row in fetched(answer)["items"]]


def read_parts(server: Served, read: tuple[str, str], **positions: str) -> None:
    """A program has read parts of a dataset incrementally."""
    for part, position in positions.items():
        server.service.commits.set_watermark((*read, part, 1), position, "c0")


def test_unfinished_commits_are_those_of_the_command(served: Served, command: Command):
    commits = served.service.commits
    for _ in range(BLOCKED_AFTER):
        commits.take("c1", "me", now=served.now, until=served.now + timedelta(minutes=2))
        commits.fail("c1", "me", "CommitFailed: no space", served.now)

    first, second = fetched(served.client.get(COMMITS))["items"]

    assert [first, second] == command(inspect.app, "list")
    assert (first["commit"], first["datasets"], first["state"]) == (
        "c1",
        ["sales/cleaned"],
        f"BLOCKED after {BLOCKED_AFTER} failed tries",
    )
    assert (first["blocked"], first["error"]) == (True, "CommitFailed: no space")
    assert (second["commit"], second["state"]) == ("c2", "waiting for recovery")


def test_commits_by_app_dataset_and_page(served: Served):
    get = served.client.get

    assert ids(get(f"{COMMITS}?app=other")) == ["c2"]
    assert ids(get(f"{COMMITS}?dataset=sales/cleaned")) == ["c1"]
    first = fetched(get(f"{COMMITS}?limit=1"))
    assert [row["commit"] for row in first["items"]] == ["c1"]
    served.service.commits.remove("c1", "[]")
    rest = fetched(get(f"{COMMITS}?limit=1&cursor={first['next']}"))
    assert ([row["commit"] for row in rest["items"]], rest["next"]) == (["c2"], None)
    for query in ("app=none", "dataset=sales/none", "limit=0", "cursor=x"):
        problem(get(f"{COMMITS}?{query}"), 400)


def test_a_commit_of_another_version_is_listed_last(served: Served):
    commits = served.service.commits
    token = commits.begin("c0", ("sales/cleaned",), until=served.now + timedelta(minutes=2))
    commits.put("c0", ("sales/cleaned",), token, '{"steps": 7}')
    promise(served, "c3", "sales/raw")

    rows = fetched(served.client.get(COMMITS))["items"]

    assert [row["commit"] for row in rows] == ["c1", "c2", "c3", "c0"]
    assert rows[-1]["state"] == "CANNOT BE READ"


def test_watermarks_are_those_of_the_commands(served: Served, command: Command):
    read_parts(served, READ_OF_SALES, **{"2026-03-08": "7", "2026-03-09": '{"files":{}}'})
    read_parts(served, READ_OF_OTHER, **{"2026-03-08": "1"})
    promise(served, "c9", watermark_resource(*READ_OF_SALES))

    rows = fetched(served.client.get(WATERMARKS))["items"]
    parts = fetched(served.client.get(f"{WATERMARKS}/sales/clean/sales/raw"))["items"]

    assert rows == command(watermarks.app, "list")
    assert rows[1] == {"consumer": "sales/clean", "source": "sales/raw", "parts": 2, "moving": ["c9"]}
    assert parts == command(watermarks.app, "show", *READ_OF_SALES)
    assert parts[0] == {"part": "2026-03-08", "moves": 1, "position": "7", "commit": "c0"}


def test_watermarks_by_app_and_page(served: Served):
    get = served.client.get
    read_parts(served, READ_OF_SALES, one="1", two="2", three="3")
    read_parts(served, READ_OF_OTHER, one="1")

    assert [row["consumer"] for row in fetched(get(f"{WATERMARKS}?app=sales"))["items"]] == ["sales/clean"]
    first = fetched(get(f"{WATERMARKS}?limit=1"))
    rest = fetched(get(f"{WATERMARKS}?limit=1&cursor={first['next']}"))
    assert [page["items"][0]["consumer"] for page in (first, rest)] == ["other/clean", "sales/clean"]
    assert rest["next"] is None
    parts = f"{WATERMARKS}/sales/clean/sales/raw"
    found = fetched(get(f"{parts}?limit=2"))
    rest = fetched(get(f"{parts}?limit=2&cursor={found['next']}"))
    assert [row["part"] for row in (*found["items"], *rest["items"])] == ["one", "three", "two"]
    problem(get(f"{WATERMARKS}/sales/report/sales/raw"), 404)
    problem(get(f"{WATERMARKS}/sales/cl~an/sales/raw"), 400)
    problem(get(f"{WATERMARKS}?app=none"), 400)


def test_a_token_of_an_app_sees_that_app_only(served: Served):
    read_parts(served, READ_OF_SALES, one="1")
    read_parts(served, READ_OF_OTHER, one="1")
    promise(served, "c9", watermark_resource(*READ_OF_SALES))

    mine = served.of(served.token(Role.READ, app="sales"))

    assert ids(mine.get(COMMITS)) == ["c1", "c9"]
    assert [row["consumer"] for row in fetched(mine.get(WATERMARKS))["items"]] == ["sales/clean"]
    problem(mine.get(f"{COMMITS}?app=other"), 403)
    problem(mine.get(f"{COMMITS}?dataset=other/cleaned"), 403)
    problem(mine.get(f"{WATERMARKS}?app=other"), 403)
    problem(mine.get(f"{WATERMARKS}/other/clean/sales/raw"), 403)
    problem(served.client.get(COMMITS), 401)


def test_the_page_of_commits_shows_what_has_failed(served: Served):
    commits = served.service.commits
    commits.take("c1", "me", now=served.now, until=served.now + timedelta(minutes=2))
    commits.fail("c1", "me", "CommitFailed: no space", served.now)

    html = served.client.get("/board/commits?app=sales", headers=HTML).text

    assert "CommitFailed: no space" in html and "other/cleaned" not in html
