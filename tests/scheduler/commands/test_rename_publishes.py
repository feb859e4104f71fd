"""Renames of what publishes have recorded: watermarks, finished publishes, and publishes on their way."""

from datetime import timedelta
from pathlib import Path

import pytest

from tests.scheduler.commands.renaming import (
    DAYS,
    EVERYTHING,
    HEAD,
    NAMES,
    WAITS,
    app,
    planned,
    put,
    read_once,
)
from tests.worlds.by import CLI
from tests.worlds.world import app_of, at
from tidegate.domain.error import UserError
from tidegate.scheduler.commands.deployment.deploy import deploy
from tidegate.scheduler.model.deployed import APPS
from tidegate.scheduler.model.refused import Refused
from tidegate.scheduler.store.commits.steps import SqlCommitStepStore
from tidegate.scheduler.store.open import open_store
from tidegate.scheduler.store.sql.store import SqlStore


@pytest.fixture
def sql(tmp_path: Path):
    found = open_store(f"sqlite:///{tmp_path}/s.db", create=True)
    assert isinstance(found, SqlStore)
    put(found, "08:00", app())
    yield found
    found.close()


def test_watermarks_and_evidence_move_with_a_rename(sql: SqlStore) -> None:
    commits = read_once(sql)
    commits.set_watermark(("b/l", "b/landed", "stale", 1), '["old"]', "c0")
    token = commits.begin("c2", ("a/out", "a/rest"), until=at("09:00"))
    assert commits.put("c2", ("a/out", "a/rest"), token, "{}") == "stored"
    published = '[{"dataset":"out","key":"2026-03-01","rows":1,"bytes":1,"files":1}]'
    assert commits.abandon("c2", "", at("09:00"), {"a/out": published})
    put(sql, "10:00", app(**EVERYTHING))
    assert commits.followers() == (("b/l", "b/landed"),)
    assert sorted(commits.watermarks("b/l", "b/landed")) == list(DAYS)
    assert commits.torn() == ()
    assert '"dataset":"o"' in (commits.result("c1") or "")
    (record,) = commits.output_records("c2")
    assert record.dataset == "b/o"
    assert '"dataset":"o"' in (record.published or "")


def test_a_rename_waits_for_a_publish_and_a_later_run_of_the_former_name_is_refused(sql: SqlStore) -> None:
    commits = SqlCommitStepStore(sql.engine)
    names = ("a/out", "a/load <- a/raw")
    token = commits.begin("c1", names, until=at("09:00"))
    renamed = app(load="l", load_from="load")
    with pytest.raises(Refused, match="a/load cannot be renamed to a/l while commit c1 is not finished"):
        put(sql, "10:00", renamed, force=True)
    commits.end(token)
    put(sql, "10:00", renamed)
    with pytest.raises(UserError, match="a/load was renamed to a/l after this run was started"):
        commits.begin("c2", names, until=at("11:00"))
    put(sql, "11:00", app())
    assert commits.begin("c2", names, until=at("12:00"))


def test_a_removed_app_must_not_leave_a_publish_unfinished(sql: SqlStore) -> None:
    commits = SqlCommitStepStore(sql.engine)
    token = commits.begin("c1", ("a/out",), until=at("09:00"))
    commits.put("c1", ("a/out",), token, "{}")
    # An open run of no publish, and a publish of another app, are not in the way.
    commits.begin("c2", ("a/out",), until=at("09:00"))
    token = commits.begin("c3", ("other/out",), until=at("09:00"))
    commits.put("c3", ("other/out",), token, "{}")
    with pytest.raises(Refused, match="app a cannot be removed: commit c1 of it is not finished"):
        put(sql, "10:00")
    put(sql, "10:00", force=True)
    with sql.reading() as reader:
        assert reader.records(APPS) == ()


@pytest.mark.parametrize(
    ("changed", "again", "remedy"),
    [
        ({"load": "l"}, ("a/l of a/raw",), "if program l is load renamed, write `renamed_from: load` in it"),
        ({"raw": "r"}, ("a/load of a/r",), "if dataset r is raw renamed, write `renamed_from: raw` in it"),
    ],
)
def test_a_plan_names_the_watermarks_that_are_left_behind(sql: SqlStore, changed, again, remedy) -> None:
    read_once(sql)
    (left,) = planned(sql, app(**changed)).left
    assert (left.consumer, left.source, left.parts) == ("a/load", "a/raw", 2)
    assert (left.again, left.remedy) == (again, remedy)


def test_a_former_app_is_suggested_too(sql: SqlStore) -> None:
    read_once(sql)
    (left,) = planned(sql, app(app="b")).left
    assert left.remedy == "if app b is a renamed, write `renamed_from: a` in it"


def test_a_source_that_is_cut_in_another_way_leaves_its_watermarks(sql: SqlStore) -> None:
    read_once(sql)
    zone = HEAD.replace("{raw}: {{partitions: {{", "{raw}: {{partitions: {{timezone: Asia/Tokyo, ")
    start = HEAD.replace("start: 2013-01-01", "start: 2026-03-02")
    for head, parts in ((zone, 2), (start, 1)):
        names = {**NAMES, "raw_from": "", "out_from": "", "load_from": "", "app_from": ""}
        other = app_of(WAITS.format(**names), head.format(**names))
        (left,) = planned(sql, other).left
        assert (left.parts, left.again) == (parts, ("a/load of a/raw",))


def test_a_publish_of_another_dataset_is_not_in_the_way(sql: SqlStore) -> None:
    SqlCommitStepStore(sql.engine).begin("c1", ("other/out",), until=at("09:00"))
    assert not planned(sql, app(load="l", load_from="load", raw="r", raw_from="raw")).blocked


def test_a_rename_is_all_or_nothing(sql: SqlStore) -> None:
    commits = read_once(sql)
    with pytest.raises(ZeroDivisionError), sql.transaction() as transaction:
        renamed = app(load="l", load_from="load")
        deploy(transaction, {"a": renamed}, at("10:00") + timedelta(seconds=1), by=CLI)
        _ = 1 / 0
    assert commits.followers() == (("a/load", "a/raw"),)
    with sql.reading() as reader:
        assert list(reader.records(APPS)[0].app.programs) == ["load"]
