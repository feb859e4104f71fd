"""Renames: what the store has under a former name goes on under the new one."""

from datetime import timedelta
from pathlib import Path

import pytest

from tests.scheduler.world import app_of, at
from tidegate.domain.error import UserError
from tidegate.domain.model import App
from tidegate.scheduler.commands.deploy import deploy
from tidegate.scheduler.commands.live import difference
from tidegate.scheduler.commands.rename import record_of
from tidegate.scheduler.explain.past import store_at
from tidegate.scheduler.model.event import Event, EventKind
from tidegate.scheduler.model.refused import Refused
from tidegate.scheduler.store.commits.steps import SqlCommitStepStore
from tidegate.scheduler.store.memory.store import MemoryStore
from tidegate.scheduler.store.open import open_store
from tidegate.scheduler.store.protocol import Store
from tidegate.scheduler.store.sql.store import SqlStore
from tidegate.scheduler.tick.tick import tick

HEAD = """app: {app}
{app_from}
datasets:
  {raw}: {{partitions: {{cycle: day, start: 2013-01-01}}, format: iceberg{raw_from}}}
  {out}: {{partitions: {{cycle: day, start: 2013-01-01}}, format: iceberg, write: append{out_from}}}
programs:
  {load}: {{run: programs.load, reads: [{{dataset: {raw}, incremental: true}}], writes: [{out}]{load_from}}}
schedules:
"""

WAITS = """daily:
  program: {load}
  trigger: {{all: [{{partitions: {{dataset: {raw}, count: 3}}}}, {{cron: "0 6 * * *"}}]}}
  args: {{days: "{{{{ trigger.partitions.{raw} }}}}"}}
  status: active
"""
NAMES = {"app": "a", "raw": "raw", "out": "out", "load": "load"}
DAYS = ("2026-03-01", "2026-03-02")


def app(**changed: str) -> App:
    """The app, with some names changed; `raw_from="x"` writes `renamed_from: x`."""
    names = {**NAMES, **{key: name for key, name in changed.items() if not key.endswith("_from")}}
    former = {
        f"{key}_from": f", renamed_from: {changed[f'{key}_from']}" if f"{key}_from" in changed else ""
        for key in ("raw", "out", "load")
    }
    of_app = f"renamed_from: {changed['app_from']}" if "app_from" in changed else ""
    return app_of(WAITS.format(**names), HEAD.format(**names, **former, app_from=of_app))


def put(store: Store, clock: str, *apps: App, force: bool = False):
    with store.transaction() as transaction:
        return deploy(transaction, {each.name: each for each in apps}, at(clock), force=force)


def planned(store: Store, *apps: App):
    with store.reading() as reader:
        return difference(reader, {each.name: each for each in apps})


def arrive(store: Store, clock: str, *days: str, dataset: str = "a/raw") -> None:
    events = [
        Event(
            id=f"e:{day}",
            kind=EventKind.PARTITION,
            key=f"partition:{dataset}",
            time=at(clock),
            arrived=at(clock),
            partition=day,
        )
        for day in days
    ]
    with store.transaction() as transaction:
        transaction.add_events(events)
    tick(store, at(clock))


def waiting(store: Store) -> list[tuple[str, list[str]]]:
    """The schedule and the events of each waiting job."""
    with store.reading() as reader:
        jobs = [job for job in reader.jobs() if job.waiting]
        found = reader.deliveries([job.id for job in jobs])
    return [(job.schedule, [f"{e.event.key} {e.event.partition}" for e in found[job.id]]) for job in jobs]


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path):
    found = (
        MemoryStore() if request.param == "memory" else open_store(f"sqlite:///{tmp_path}/s.db", create=True)
    )
    yield found
    found.close()


@pytest.mark.parametrize(
    ("changed", "schedule", "event"),
    [
        ({"load": "load2", "load_from": "load"}, "a/daily", "partition:a/raw"),
        ({"raw": "raw2", "raw_from": "raw"}, "a/daily", "partition:a/raw2"),
        ({"app": "b", "app_from": "a"}, "b/daily", "partition:b/raw"),
        (
            {
                "app": "b",
                "app_from": "[z, a]",
                "raw": "raw2",
                "raw_from": "[x, raw]",
                "load": "l",
                "load_from": "load",
            },
            "b/daily",
            "partition:b/raw2",
        ),
    ],
)
def test_a_renamed_part_keeps_what_waits(store, changed, schedule, event) -> None:
    put(store, "08:00", app())
    arrive(store, "09:00", *DAYS)
    plan = planned(store, app(**changed))
    assert [change.action for change in plan.schedules()] == ["unchanged"]
    assert not plan.empty and not plan.refused and not plan.left

    put(store, "10:00", app(**changed))

    assert waiting(store) == [(schedule, [f"{event} {day}" for day in DAYS])]
    # It stays in the YAML and has no effect any more.
    assert planned(store, app(**changed)).empty
    arrive(store, "11:00", "2026-03-03", dataset=event.partition(":")[2])
    ((_, events),) = waiting(store)
    assert len(events) == 3
    tick(store, at("1d 06:00"))
    with store.reading() as reader:
        (job,) = reader.jobs()
        assert job.launch is not None
        assert job.launch.args == {"days": ["2026-03-01", "2026-03-02", "2026-03-03"]}
        assert len(store_at(reader, at("09:30")).committed.jobs) == 1


def test_without_it_the_rename_discards_what_waits(store) -> None:
    put(store, "08:00", app())
    arrive(store, "09:00", *DAYS)
    put(store, "10:00", app(raw="raw2"))
    assert waiting(store) == []


def test_a_rename_back_and_a_chain(store) -> None:
    put(store, "08:00", app())
    arrive(store, "09:00", *DAYS)
    for clock, changed in (
        ("10:00", {"raw": "b", "raw_from": "raw"}),
        ("11:00", {"raw": "c", "raw_from": "[b, raw]"}),
        ("12:00", {"raw": "raw", "raw_from": "c"}),
    ):
        put(store, clock, app(**changed))
        assert waiting(store) == [("a/daily", [f"partition:a/{changed['raw']} {day}" for day in DAYS])]
    with store.reading() as reader:
        assert record_of(reader).places == {}
        assert sorted(record_of(reader).former) == ["a/b", "a/c"]


def test_a_renamed_dataset_stays_where_its_rows_are(store) -> None:
    put(store, "08:00", app())
    put(store, "09:00", app(out="out2", out_from="out"))
    put(store, "10:00", app(out="out2"))
    with store.reading() as reader:
        (deployed,) = reader.apps()
    assert deployed.app.datasets["out2"].stored_as == "a/out"
    (blocked,) = planned(store, app(out="out2", raw="out")).blocked
    assert (
        blocked.summary == "dataset a/out would share its place with a/out2, which keeps it since its rename"
    )


def test_a_renamed_app_is_not_removed_and_keeps_its_owner_and_places(store) -> None:
    put(store, "08:00", app())
    found = put(store, "09:00", app(app="b", app_from="a"))
    assert [(change.name, change.action) for change in found.apps] == [("b", "unchanged")]
    with store.reading() as reader:
        (deployed,) = reader.apps()
    assert {each.stored_as for each in deployed.app.datasets.values()} == {"a/raw", "a/out"}


def test_an_unknown_former_name_is_fine(store) -> None:
    found = put(store, "08:00", app(load_from="nothing", raw_from="[x, y]", app_from="z"))
    assert not found.renames


def test_a_rename_waits_for_the_runs_under_the_former_name(store) -> None:
    put(store, "08:00", app())
    arrive(store, "1d 05:00", *DAYS, "2026-03-03")
    tick(store, at("1d 06:00"))
    for changed in (
        {"load": "l", "load_from": "load"},
        {"out": "o", "out_from": "out"},
        {"app": "b", "app_from": "a"},
    ):
        with pytest.raises(Refused, match=r"cannot be renamed to .* while job .* of a/load is active"):
            put(store, "1d 06:01", app(**changed))


# --- what publishes have recorded -------------------------------------------------------


@pytest.fixture
def sql(tmp_path: Path):
    found = open_store(f"sqlite:///{tmp_path}/s.db", create=True)
    assert isinstance(found, SqlStore)
    put(found, "08:00", app())
    yield found
    found.close()


def read_once(sql: SqlStore, consumer: str = "a/load", source: str = "a/raw") -> SqlCommitStepStore:
    """A commit that has read two days and is finished."""
    commits = SqlCommitStepStore(sql.engine)
    names = ("a/out", f"{consumer} <- {source}")
    moves = [(consumer, source, day, 1) for day in DAYS]
    token = commits.begin("c1", names, until=at("09:00"))
    assert commits.put("c1", names, token, "{}", moves) == "stored"
    for move in moves:
        assert commits.set_watermark(move, '["x"]', "c1")
    commits.remove("c1", '[{"dataset":"out","key":"2026-03-01","rows":1,"bytes":1,"files":1}]')
    return commits


def test_watermarks_and_evidence_move_with_a_rename(sql: SqlStore) -> None:
    commits = read_once(sql)
    commits.set_watermark(("b/l", "b/landed", "stale", 1), '["old"]', "c0")
    put(
        sql,
        "10:00",
        app(
            app="b",
            app_from="a",
            load="l",
            load_from="load",
            raw="landed",
            raw_from="raw",
            out="o",
            out_from="out",
        ),
    )
    assert commits.followers() == (("b/l", "b/landed"),)
    assert sorted(commits.watermarks("b/l", "b/landed")) == list(DAYS)
    assert commits.torn() == ()
    assert '"dataset":"o"' in (commits.result("c1") or "")


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
    with pytest.raises(Refused, match="app a cannot be removed: commit c1 of it is not finished"):
        put(sql, "10:00")
    put(sql, "10:00", force=True)
    with sql.reading() as reader:
        assert reader.apps() == ()


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


def test_a_rename_is_all_or_nothing(sql: SqlStore) -> None:
    commits = read_once(sql)
    with pytest.raises(ZeroDivisionError), sql.transaction() as transaction:
        renamed = app(load="l", load_from="load")
        deploy(transaction, {"a": renamed}, at("10:00") + timedelta(seconds=1))
        _ = 1 / 0
    assert commits.followers() == (("a/load", "a/raw"),)
    with sql.reading() as reader:
        assert list(reader.apps()[0].app.programs) == ["load"]
