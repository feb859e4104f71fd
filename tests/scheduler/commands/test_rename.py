"""Renames: what the store has under a former name goes on under the new one."""

from pathlib import Path

import msgspec
import pytest

from tests.scheduler.commands.renaming import DAYS, app, arrive, planned, put, waiting
from tests.worlds.world import at
from tidegate.domain.model import Program
from tidegate.scheduler.commands.deployment.rename import record_of
from tidegate.scheduler.explain.past.store_at import store_at
from tidegate.scheduler.model.deployed import APPS
from tidegate.scheduler.model.job import Job, JobState
from tidegate.scheduler.model.refused import Refused
from tidegate.scheduler.model.run import Run, RunStatus
from tidegate.scheduler.store.memory.store import MemoryStore
from tidegate.scheduler.store.open import open_store
from tidegate.scheduler.tick.tick import tick


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
        (deployed,) = reader.records(APPS)
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
        (deployed,) = reader.records(APPS)
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


def test_a_plan_counts_what_a_changed_schedule_carries_under_its_new_names(store) -> None:
    put(store, "08:00", app())
    arrive(store, "09:00", *DAYS)
    renamed = app(raw="raw2", raw_from="raw", load="l", load_from="load")
    (schedule,) = renamed.schedules.values()
    changed = msgspec.structs.replace(schedule, args={}, on_update="carry")
    wanted = msgspec.structs.replace(renamed, schedules={"daily": changed})
    (change,) = planned(store, wanted).schedules()
    carried = change.consequences[0]
    assert (carried.kind, carried.count, carried.events) == ("carries", 1, 2)
    put(store, "10:00", wanted)
    assert waiting(store) == [("a/daily", [f"partition:a/raw2 {day}" for day in DAYS])]


def test_runs_of_other_programs_are_not_in_the_way(store) -> None:
    two = msgspec.structs.replace(
        app(), programs={**app().programs, "x": Program(name="x", run="programs.x")}
    )
    put(store, "08:00", two)
    run = Run(run_id="r", program="a/x", status=RunStatus.STARTED, seen_at=at("09:00"))
    job = Job(id="j", schedule="a/daily", state=JobState.LAUNCHED, opened_at=at("09:00"))
    with store.transaction() as transaction:
        transaction.put_runs([run])
        transaction.put_jobs([job])
    renamed = app(raw="raw2", raw_from="raw")
    wanted = msgspec.structs.replace(renamed, programs={**renamed.programs, "x": two.programs["x"]})
    assert not planned(store, wanted).blocked
