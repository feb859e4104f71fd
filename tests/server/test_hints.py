"""Hints of refusals name what the caller has: a call over REST, a page or a button in a browser."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import tidegate.scheduler
from tests.server.board.board import HTML
from tests.server.sales import SCHEDULES, deployed
from tests.server.serving import NS, Served, problem
from tidegate.server.hints import COMMANDS, for_call, for_page, known

pytestmark = [pytest.mark.store]

ENGINE = Path(tidegate.scheduler.__file__).parent
REFUSING = ("alerts", "commands", "launch", "model/refused.py", "decision/changes")
"""Where the engine refuses what people ask for."""

COMMAND_ONLY = {"events list", "events replay", "overrides show", "token revoke"}
"""Commands whose hints no call of the server leads to."""


@pytest.mark.parametrize(
    ("hint", "call", "page"),
    [
        ("`tidegate jobs list` shows the jobs", "`GET /jobs` shows the jobs", "the page Jobs shows the jobs"),
        (
            "name the key, for example --key 2013-12-22",
            'name the key, for example `"key": "2013-12-22"` in the body',
            "name the key, for example 2013-12-22",
        ),
        (
            "`tidegate jobs list --dead-letters` shows the dead letters",
            "`GET /jobs?reason=F-LAUNCH` shows the dead letters",
            "the page Jobs shows the dead letters",
        ),
        ("leave the key out", "leave the key out", "leave the key out"),
        ("`tidegate unknown` does", "`tidegate unknown` does", "`tidegate unknown` does"),
    ],
)
def test_a_hint_is_worded_for_its_reader(hint: str, call: str, page: str):
    assert (for_call(hint), for_page(hint)) == (call, page)


def test_refusals_over_rest_and_on_the_board_name_no_command(server: Served):
    deployed(server)
    without_key = f"{SCHEDULES}/each_day/trigger"
    assert '`"key": "2026-03-10"`' in problem(server.client.post(without_key, json={}), 400)["hint"]
    assert "`GET /backfills` lists them" in problem(server.client.get(f"{NS}/backfills/9"), 404)["hint"]
    path = "/board/schedules/sales/each_day/trigger"
    html = server.client.post(path, data={"key": ""}, headers=HTML).text
    assert "for example 2026-03-10" in html and "--key" not in html


def test_every_command_that_the_engine_names_in_a_hint_has_its_call_and_page():
    named = {found for path in _sources() for found in _commands(path)}
    assert {"jobs list", "backfill status"} <= {known(each) for each in named}
    forgotten = {each for each in named if known(each) is None and known_only(each) is None}
    assert forgotten == set()


def test_every_call_of_a_hint_exists(server: Served):
    paths = server.client.get("/openapi.json").json()["paths"]
    for call, _ in COMMANDS.values():
        method, _, path = call.partition(" ")
        path = path.partition("?")[0]
        whole = path if path.startswith("/api/") else f"/v3/namespaces/{{ns}}{path}"
        action = whole.rpartition("/")[0] + "/{action}"
        assert method.lower() in paths.get(whole, paths.get(action, {})), call


def known_only(command: str) -> str | None:
    return next((each for each in COMMAND_ONLY if command.startswith(each)), None)


def _sources() -> Iterator[Path]:
    for part in REFUSING:
        path = ENGINE / part
        yield from [path] if path.is_file() else sorted(path.rglob("*.py"))


def _commands(path: Path) -> Iterator[str]:
    """The commands in the texts of a module, without its docstrings."""
    tree = ast.parse(path.read_text())
    # Docstrings, also of attributes, are expressions of their own.
    docs = {id(each.value) for each in ast.walk(tree) if isinstance(each, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            yield from re.findall(r"`tidegate ([^`]+)", node.value)
