"""A page that a browser has is not made again: the count of changes is all that is read."""

from collections.abc import Generator
from contextlib import contextmanager
from datetime import timedelta

import pytest
from sqlalchemy import event

from tests.server.board.board import DAYS, HTML, job_of, report
from tests.server.serving import Served
from tests.worlds.by import CLI
from tidegate.scheduler.commands.tokens import revoke_token
from tidegate.scheduler.model.records.token import Role
from tidegate.server.board.rendering import PAGES

pytestmark = [pytest.mark.store]


@contextmanager
def statements(server: Served) -> Generator[list[str]]:
    """The statements that are run within the context."""
    found: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_of_it: object) -> None:
        found.append(statement)

    event.listen(server.store.engine, "before_cursor_execute", note)
    try:
        yield found
    finally:
        event.remove(server.store.engine, "before_cursor_execute", note)


def tag_of(server: Served, path: str, **headers: str) -> str:
    answer = server.client.get(path, headers={**HTML, **headers})
    assert answer.status_code == 200
    return answer.headers["etag"]


def asked_again(server: Served, path: str, tag: str, **headers: str) -> int:
    return server.client.get(path, headers={**HTML, **headers, "If-None-Match": tag}).status_code


@pytest.mark.parametrize("path", [path for path, _ in PAGES])
def test_an_unchanged_page_costs_one_look_at_the_count(board: Served, path: str):
    tag = tag_of(board, path)
    with statements(board) as asked:
        answer = board.client.get(path, headers={**HTML, "If-None-Match": tag})
    assert (answer.status_code, answer.content) == (304, b"")
    assert answer.headers["etag"] == tag
    (read,) = [each for each in asked if "totals" in each]
    assert {each for each in asked if not each.startswith("BEGIN")} == {read}


def test_a_change_makes_another_page(board: Served):
    tag = tag_of(board, "/board/jobs")
    report(board, ("2026-03-08",))
    assert asked_again(board, "/board/jobs", tag) == 200


def test_ticks_that_do_nothing_change_no_page_and_a_minute_does(board: Served):
    board.pass_time(timedelta(minutes=1))
    tag = tag_of(board, "/")
    for _ in range(5):
        board.pass_time(timedelta(seconds=5))
    assert asked_again(board, "/", tag) == 304
    board.pass_time(timedelta(seconds=60))
    assert asked_again(board, "/", tag) == 200


def test_a_page_of_another_person_or_address_is_another_one(board: Served):
    one, other = board.token(Role.READ), board.token(Role.READ, app="sales")
    by_one, by_other = ({"Authorization": f"Bearer {each}"} for each in (one, other))
    tag = tag_of(board, "/board/jobs", **by_one)
    assert asked_again(board, "/board/jobs", tag, **by_one) == 304
    assert asked_again(board, "/board/jobs", tag, **by_other) == 200
    assert asked_again(board, "/board/jobs", tag) == 401
    assert asked_again(board, "/board/jobs", tag, **{**by_one, "Cookie": "tidegate_session=x"}) == 200
    assert asked_again(board, "/board/jobs", tag, **{**by_one, "X-Forwarded-For": "10.0.0.1"}) == 200
    assert asked_again(board, "/board/jobs?state=failed", tag, **by_one) == 200


def test_a_revoked_token_gets_no_page_that_it_had(board: Served):
    token = board.token(Role.READ)
    mine = {"Authorization": f"Bearer {token}"}
    tag = tag_of(board, "/board/jobs", **mine)
    with board.store.transaction() as transaction:
        revoke_token(transaction, token, board.now, CLI)
    assert asked_again(board, "/board/jobs", tag, **mine) == 401


def test_a_tag_of_somebody_else_is_worth_nothing(board: Served):
    for made in ('"0"', "*", 'W/"0"', tag_of(board, "/").replace('"', "")):
        assert asked_again(board, "/", made) == 200


def test_problems_and_answers_for_tools_have_no_tag(board: Served):
    assert "etag" not in board.client.get("/board/jobs/none", headers=HTML).headers
    assert "etag" not in board.client.get("/board/jobs").headers
    assert tag_of(board, f"/board/jobs/{job_of(board, DAYS[0])}")
