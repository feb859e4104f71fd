"""One search over names: by scope, within its limit, by indexes only, and of any text."""

from pathlib import Path
from typing import Any

import pytest

from tests.crashes.statements import listening
from tests.databases import new_url
from tests.server.board.board import DAYS, HOSTILE, HTML, fill, job_of
from tests.server.serving import NS, Served, problem
from tests.server.shop import shop
from tests.server.yard import yard
from tidegate.project.settings.settings import load_settings
from tidegate.scheduler.model.records.token import Role
from tidegate.scheduler.store.open import open_store
from tidegate.server.board.search import MOST

pytestmark = [pytest.mark.store]


@pytest.fixture
def board(server: Served) -> Served:
    """A board with two jobs, see `fill`."""
    return fill(server)


def found(server: Served, q: str, client: Any = None) -> list[tuple[str, str]]:
    answer = (client or server.client).get(f"{NS}/search", params={"q": q})
    assert answer.status_code == 200, answer.text
    body = answer.json()
    assert body["q"] == q
    assert len(body["items"]) <= MOST
    return [(each["kind"], each["name"]) for each in body["items"]]


def test_each_kind_of_name_is_found(board: Served):
    shop(board)
    assert ("schedule", "sales/each_day") in found(board, ["each", "day"][0])
    assert ("schedule", "sales/each_day") in found(board, "DAY sales")
    assert ("task", "shop/revenue") in found(board, "revenue")
    assert ("dataset", "sales/raw") in found(board, "raw")
    assert ("page", "Deadlines") in found(board, "deadl")
    assert ("code", "W-WINDOW") in found(board, "w-win")
    assert ("code", "W-WINDOW") in found(board, "launch window")
    assert found(board, "no such name") == []


def test_a_job_is_found_by_its_id_and_by_the_beginning_of_its_hash(board: Served):
    id_ = job_of(board, DAYS[0])
    for q in (id_, id_.rpartition("-")[2], id_.rpartition("-")[2][:8]):
        assert found(board, q) == [("job", id_)]
    assert [kind for kind, _ in found(board, "sales")].count("job") == 0


def test_every_page_of_a_match_is_there(board: Served):
    shop(board)
    for q in ("", "sales", "shop", "w-", job_of(board, DAYS[0])):
        for each in board.client.get(f"{NS}/search", params={"q": q}).json()["items"]:
            assert board.client.get(each["page"], headers=HTML).status_code == 200, each


def test_what_has_failed_comes_first(board: Served):
    items = board.client.get(f"{NS}/search", params={"q": "sales"}).json()["items"]
    schedules = [each for each in items if each["kind"] == "schedule"]
    assert len(schedules) > 1
    failed = [each["state"] == "FAILED" for each in schedules]
    assert failed == sorted(failed, reverse=True)


def test_an_answer_has_some_of_each_kind_and_is_full_at_most(board: Served):
    shop(board)
    yard(board)
    kinds = [kind for kind, _ in found(board, "a")]
    assert len(kinds) == MOST
    assert {"schedule", "dataset", "code", "page"} <= {*kinds}


def test_a_token_for_one_app_finds_what_is_of_that_app(board: Served):
    shop(board)
    of_shop = board.of(board.token(Role.READ, app="shop"))
    names = {
        name for q in ("sales", "each", "raw", job_of(board, DAYS[0])) for _, name in found(board, q, of_shop)
    }
    assert not [name for name in names if name.startswith("sales")]
    assert ("task", "shop/revenue") in found(board, "revenue", of_shop)
    assert "sales/" not in of_shop.get("/board/search?q=sales", headers=HTML).text
    problem(board.client.get(f"{NS}/search"), 401)


@pytest.mark.parametrize(
    "q", [HOSTILE, "'; DROP TABLE jobs; --", "%", "_", "*", "\\", "..", "ß" * 100, "a" * 100, " "]
)
def test_any_text_is_a_text(board: Served, q: str):
    found(board, q)
    text = board.client.get("/board/search", params={"q": q}, headers=HTML).text
    assert HOSTILE not in text


def test_a_longer_text_is_refused(board: Served):
    problem(board.client.get(f"{NS}/search", params={"q": "a" * 101}), 400)


LARGE = ("jobs", "schedules", "events", "deliveries", "runs")
"""Tables that grow with the work of a project."""


def plans(server: Served, explain: str, *before: str) -> list[str]:
    """What a database says of how it answers all that a search asks it.

    Args:
        explain: what it says so to.
        before: statements that it gets first.
    """
    store: Any = server.store
    asked: list[tuple[str, Any]] = []
    job = job_of(server, DAYS[0])
    with listening(store.engine, lambda *given: asked.append((given[2], given[3]))):
        for q in ("each", job, "abcdef12"):
            found(server, q)
    with store.engine.connect() as connection:
        for statement in before:
            connection.exec_driver_sql(statement)
        return [
            row[-1]
            for statement, parameters in asked
            if statement.startswith(("SELECT", "WITH"))
            for row in connection.exec_driver_sql(f"{explain} {statement}", parameters)
        ]


def test_nothing_is_scanned_but_an_index(board: Served):
    scans = {plan for plan in plans(board, "EXPLAIN QUERY PLAN") if plan.startswith("SCAN")}
    of_names = "SCAN schedules USING COVERING INDEX"
    assert {plan for plan in scans if plan.split()[1] in LARGE and not plan.startswith(of_names)} == set()


def test_nothing_is_scanned_but_an_index_in_postgresql(request: pytest.FixtureRequest, tmp_path: Path):
    (tmp_path / "tidegate.toml").write_text("")
    store = open_store(new_url("postgres", request, tmp_path))
    board = fill(Served(load_settings(tmp_path), store))
    # A small table is read whole even where an index would do: here only where none does.
    said = plans(board, "EXPLAIN", "SET enable_seqscan = off")
    store.close()
    assert any("ix_jobs_short" in line for line in said)
    whole = {line.split("Seq Scan on ")[1].split()[0] for line in said if "Seq Scan on " in line}
    assert whole & {*LARGE} == set()
