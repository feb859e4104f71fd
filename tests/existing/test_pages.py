"""Every page of an app whose programs are jobs and assets of others, and what `schedules show` says."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from typer.testing import CliRunner

from tests.server.board.board import HTML
from tests.server.board.hostile import Markup
from tests.server.serving import NS, Served, served
from tests.worlds.by import CLI
from tidegate.cli.main import application
from tidegate.scheduler.commands.by_hand.manual import trigger

pytestmark = [pytest.mark.store]

DAYS = {"cycle": "day", "start": "2026-01-01"}
SPEC: dict[str, Any] = {
    "app": "core",
    "datasets": {"orders": {"partitions": DAYS}, "demand": {"asset": "acme/core/demand", "partitions": DAYS}},
    "programs": {
        "load": {"job": "load_region", "location": "acme", "config": {"region": "{{ args.region }}"}},
        "orders": {"job": "orders_job", "writes": ["orders"]},
        "chosen": {"assets": 'key:"raw/*"', "partitions": DAYS},
        "theirs": {"job": "their_job"},
    },
    "schedules": {
        "load": {"program": "load", "trigger": {"cron": "0 6 * * *"}, "args": {"region": "eu"}},
        "orders": {"program": "orders", "trigger": {"cron": "0 6 * * *"}},
        "after": {"program": "load", "trigger": {"run": {"program": "theirs"}}, "args": {"region": "us"}},
        "chosen": {
            "program": "chosen",
            "trigger": {"partitions": {"dataset": "demand", "checks": "passed"}},
            "for_each": "partition",
        },
    },
}
LEAST_PAGES = 40
ENDLESS = re.compile(r"[?&](day|sign|cursor|until|period|row|after|format|from|to)=|^/board/static/")
LAUNCHED = {
    "load": "load: job load_region of acme",
    "orders": "orders: job orders_job",
    "chosen": 'chosen: assets "key:"raw/*""',
}


@pytest.fixture
def board(tmp_path: Path) -> Iterator[Served]:
    """The board of an app with some jobs."""
    with served(tmp_path) as server:
        answer = server.client.put(f"{NS}/apps/core", json={"spec": SPEC})
        assert answer.is_success, answer.text
        for schedule, key in (("load", ""), ("orders", ""), ("chosen", "2026-03-09")):
            with server.store.transaction() as transaction:
                trigger(transaction, f"core/{schedule}", server.now, by=CLI, key=key)
        yield server


def test_every_page_answers_and_a_schedule_says_which_job_it_launches(board: Served) -> None:
    answers: dict[str, int] = {}
    left = ["/", *(f"/board/schedules/core/{name}" for name in SPEC["schedules"])]
    while left:
        path = left.pop()
        if path in answers or ENDLESS.search(path) or not path.startswith("/"):
            continue
        answer = board.client.get(path, headers=HTML)
        answers[path] = answer.status_code
        left += sorted(link.partition("#")[0] for link in Markup(answer.text).links)

    assert len(answers) >= LEAST_PAGES
    assert {path: each for path, each in answers.items() if each != httpx.codes.OK} == {}
    for schedule, launched in LAUNCHED.items():
        text = Markup(board.client.get(f"/board/schedules/core/{schedule}", headers=HTML).text).text
        assert launched in text


@pytest.mark.usefixtures("board")
def test_schedules_show_names_the_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    shown = CliRunner().invoke(application, ["schedules", "show", "core/load"])

    assert shown.exit_code == 0, shown.output
    assert re.search("launches +job load_region of acme", shown.output)
