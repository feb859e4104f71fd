"""`tidegate watermarks`: what it shows, and that a reset comes between no run and its commit."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from tidegate.cli.commits import watermarks
from tidegate.cli.commits.watermarks import app
from tidegate.domain.error import UserError
from tidegate.project.environment import PROJECT_VARIABLE, STORE_VARIABLE
from tidegate.project.settings.settings import load_settings
from tidegate.scheduler.store.commits.steps import SqlCommitStepStore
from tidegate.scheduler.store.sql.open import open_sql_store
from tidegate.spark_jobs.commit.sequence import watermark_resource

pytestmark = pytest.mark.store  # each test migrates a database

LOAD = ("flights/load", "flights/landed")
D22, D23 = "2013-12-22", "2013-12-23"


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SqlCommitStepStore]:
    """A program has read two days of one dataset."""
    (tmp_path / "tidegate.toml").write_text('[warehouse]\ndefault_format = "parquet"\n')
    monkeypatch.setenv(PROJECT_VARIABLE, str(tmp_path))
    monkeypatch.delenv(STORE_VARIABLE, raising=False)
    opened = open_sql_store(load_settings().store_url)
    store = SqlCommitStepStore(opened.engine)
    for number, part, position in (
        (1, D22, '{"files":{}}'),
        (2, D22, '{"files":{"a":[1,2]}}'),
        (1, D23, "7"),
    ):
        store.set_watermark((*LOAD, part, number), position, f"job {number}")
    yield store
    opened.close()


def called(*arguments: str, answer: str = "") -> Result:
    return CliRunner().invoke(app, arguments, input=answer)


def run(*arguments: str) -> str:
    """What the command prints; its failure is raised."""
    result = called(*arguments)
    if result.exception is not None:
        raise result.exception
    return result.output


def positions(store: SqlCommitStepStore) -> dict[str, tuple[int, str]]:
    return {part: (mark.number, mark.position) for part, mark in store.watermarks(*LOAD).items()}


def promise(store: SqlCommitStepStore, *parts: str) -> None:
    """A run has put a commit that will move watermarks."""
    resource = watermark_resource(*LOAD)
    token = store.begin("c9", (resource,), until=datetime.now(UTC) + timedelta(minutes=2))
    marks = store.watermarks(*LOAD)
    moves = [(*LOAD, part, marks[part].number + 1) for part in parts]
    assert store.put("c9", (resource,), token, "{}", moves) == "stored"


def test_who_reads_what_is_listed(store: SqlCommitStepStore) -> None:
    assert run("list").split("\n")[2].split() == [*LOAD, "2", "-"]
    promise(store, D22)
    assert json.loads(run("list", "--format", "json")) == [
        {"consumer": LOAD[0], "source": LOAD[1], "parts": 2, "moving": ["c9"]}
    ]


def test_the_parts_are_shown(store: SqlCommitStepStore) -> None:
    shown = run("show", *LOAD)
    assert D22 in shown and '{"files":{"a":[1,2]}}' in shown and "job 2" in shown
    rows = json.loads(run("show", *LOAD, "--format", "json"))
    assert rows[1] == {"part": D23, "moves": 1, "position": "7", "commit": "job 1"}


def test_a_reset_of_everything_begins_anew(store: SqlCommitStepStore) -> None:
    printed = run("reset", *LOAD, "--yes")
    assert f"set the watermark of {LOAD[0]} in {LOAD[1]}, part {D22} to the beginning" in printed
    assert "2 watermarks set" in printed
    assert positions(store) == {D22: (3, ""), D23: (2, "")}
    assert store.list_unfinished() == () and store.attempts() == ()
    assert "the beginning" in run("show", *LOAD) and "reset-" in run("show", *LOAD)


def test_a_part_is_put_where_one_says(store: SqlCommitStepStore) -> None:
    run("reset", *LOAD, "--part", D23, "--to", "5", "--yes")
    run("reset", *LOAD, "--to", '{"snapshot":7}', "--yes")
    assert positions(store)[D23] == (2, "5")
    assert positions(store)[""] == (1, '{"snapshot":7}')
    run("reset", *LOAD, "--part", D22, "--to", "", "--yes")
    assert positions(store)[D22] == (3, "")


def test_nothing_happens_without_a_yes(store: SqlCommitStepStore) -> None:
    before = positions(store)
    declined = called("reset", *LOAD, answer="n\n")
    assert declined.exit_code == 1 and "nothing was changed" in declined.output
    assert positions(store) == before
    assert called("reset", *LOAD, "--part", D23, answer="y\n").exit_code == 0
    assert positions(store)[D23] == (2, "")


def test_a_commit_that_will_move_them_goes_first(store: SqlCommitStepStore) -> None:
    promise(store, D23)
    with pytest.raises(UserError, match="unfinished commit c9 moves watermarks of flights/load") as caught:
        run("reset", *LOAD, "--yes")
    assert caught.value.hint == "finish it first with: tidegate commits recover"


def test_one_that_comes_while_one_is_asked_wins(
    store: SqlCommitStepStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def agree(_: str) -> bool:
        promise(store, D22)
        return True

    monkeypatch.setattr(watermarks.typer, "confirm", agree)
    before = positions(store)
    with pytest.raises(UserError, match="another run has read the new rows"):
        run("reset", *LOAD)
    assert positions(store) == before


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (
            ("show", "flights/laod", LOAD[1]),
            "flights/laod has no watermark in",
            'did you mean "flights/load f',
        ),
        (
            ("reset", *LOAD, "--part", "2013-12-24"),
            "has no watermark in flights/landed, part",
            'mean "2013-12-2',
        ),
        (("reset", *LOAD, "--to", "yesterday"), "a position must be JSON, got yesterday", "copy it from"),
    ],
)
def test_what_does_not_exist_is_said(
    store: SqlCommitStepStore, arguments: tuple[str, ...], message: str, hint: str
) -> None:
    with pytest.raises(UserError) as caught:
        run(*arguments)
    assert message in caught.value.message
    assert hint in caught.value.hint


def test_a_project_without_incremental_reads(store: SqlCommitStepStore, tmp_path: Path) -> None:
    (tmp_path / "tidegate.toml").write_text('[store]\nurl = "sqlite:///other.db"\n')
    open_sql_store(load_settings().store_url).close()
    assert "no program has read incrementally" in run("list")
