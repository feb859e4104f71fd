"""What happens in the engine becomes alerts for the routed channels: each once, whatever crashes."""

import re
from collections.abc import Sequence
from datetime import timedelta

import msgspec
import pytest

from tests.worlds.world import DATASETS, World, app_of, at
from tidegate.alerts.texts import lines
from tidegate.scheduler.alerts.collect import BlockedCommit, collect
from tidegate.scheduler.launch.outbox import OFFERS_MAX, reject
from tidegate.scheduler.launch.run_report import note_failure
from tidegate.scheduler.model.deployed import APPS
from tidegate.scheduler.model.records.alert import INCIDENTS, Alert, AlertKind, AlertRules
from tidegate.scheduler.tick.deadlines import sweep_deadlines

SCHEDULES = """
by_day:
  program: p
  for_each: day
  trigger: {partitions: {dataset: raw}}
  alerts: {failed: [ops, team], recovered: [ops]}
  owner: flights
  status: active
pooled:
  program: q
  trigger: {partitions: {dataset: other}}
  retries: {max: 1, wait: 1m}
  status: active
silent:
  program: r
  trigger: {partitions: {dataset: plain}}
  alerts: {failed: []}
  status: active
"""
RULES = AlertRules(default={"failed": ("all",), "dead_letter": ("all",), "recovered": ("all",)})


@pytest.fixture
def world() -> World:
    return World(SCHEDULES)


def collected(world: World, clock: str, **more: BlockedCommit) -> list[Alert]:
    """The alerts that a collection makes."""
    before = alerts(world)
    collect(world.store, "", RULES, at(clock), more or None)
    known = {each.id for each in before}
    return [each for each in alerts(world) if each.id not in known]


def alerts(world: World) -> Sequence[Alert]:
    with world.store.reading() as reader:
        return reader.alerts("")


def end(world: World, clock: str, status: str, said: str = "") -> None:
    """Every job that is launched runs, and ends."""
    world.tick(clock)
    for request in world.offer_launches(clock):
        run = f"run of {request.run_key}"
        world.claim(clock, request.job, run, request.attempt)
        if said:
            note_failure(world.store, request.job, request.attempt, run, said, at(clock))
        world.run(clock, request.launch.program, status, run, request.job, request.attempt)


def seen(found: Sequence[Alert]) -> set[tuple[str, str, str]]:
    return {(each.channel, each.kind.value, each.subject) for each in found}


def test_a_failed_run_is_heard_in_the_channels_of_its_schedule_with_its_first_line(world: World) -> None:
    world.arrive("10:00", "raw", "2026-03-09")
    end(world, "10:00", "failed", "ValueError: no fares (programs/fares.py:17)")
    found = collected(world, "10:01")
    assert seen(found) == {("ops", "failed", "a/by_day"), ("team", "failed", "a/by_day")}
    said = found[0].message
    assert (said.key, said.reason, said.owner, said.count) == ("2026-03-09", "F-RUN", "flights", 1)
    assert said.text == "ValueError: no fares (programs/fares.py:17)"
    assert re.fullmatch(r"a\.by_day-\w+", said.job)
    assert collected(world, "10:02") == []


def test_a_failure_with_a_further_attempt_is_none_until_the_last(world: World) -> None:
    world.arrive("10:00", "other", "2026-03-09")
    end(world, "10:00", "failed", "one")
    assert collected(world, "10:00:30") == []
    end(world, "10:02", "failed", "two")
    (found,) = collected(world, "10:03")
    assert (found.channel, found.message.text) == ("all", "two")


def test_it_is_well_when_the_same_key_succeeds(world: World) -> None:
    world.arrive("10:00", "raw", "2026-03-09")
    end(world, "10:00", "failed")
    world.arrive("10:05", "raw", "2026-03-10")
    end(world, "10:05", "succeeded")
    assert {each.kind for each in collected(world, "10:06")} == {AlertKind.FAILED}
    world.arrive("10:10", "raw", "2026-03-09")
    end(world, "10:10", "succeeded")
    assert seen(collected(world, "10:11")) == {("ops", "recovered", "a/by_day")}
    assert collected(world, "10:12") == []


def test_failures_in_the_window_are_one_alert_with_a_count_after_it(world: World) -> None:
    for minute in range(5):
        world.arrive(f"10:0{minute}", "raw", f"2026-03-0{minute + 1}")
        end(world, f"10:0{minute}", "failed")
        collected(world, f"10:0{minute}:30")
    assert len(alerts(world)) == 2, "one for each of the two channels"
    found = collected(world, "11:00:30")
    assert [each.message.count for each in found] == [5, 5]


def test_different_errors_are_different_alerts_and_numbers_make_no_difference(world: World) -> None:
    errors = (
        "ValueError: row 17 of 0x7fe3 (p.py:3)",
        "ValueError: row 4 of 0xaa01 (p.py:3)",
        "KeyError: 'x'",
    )
    for minute, error in enumerate(errors):
        world.arrive(f"10:0{minute}", "raw", f"2026-03-0{minute + 1}")
        end(world, f"10:0{minute}", "failed", error)
    found = [each.message.text for each in collected(world, "10:05") if each.channel == "ops"]
    assert sorted(found) == [errors[2], errors[0]]
    later = [each for each in collected(world, "11:05") if each.channel == "ops"]
    assert [(each.message.count, each.message.keys) for each in later] == [(2, ("2026-03-01", "2026-03-02"))]


def test_an_alert_after_the_window_names_ten_keys_and_counts_the_others(world: World) -> None:
    for day in range(1, 13):
        world.arrive(f"10:{day:02}", "raw", f"2026-02-{day:02}")
        end(world, f"10:{day:02}", "failed", "ValueError: no fares")
        collected(world, f"10:{day:02}:30")
    found = collected(world, "11:20")[0].message
    assert (found.count, found.keys[0], len(found.keys), found.more_keys) == (12, "2026-02-01", 10, 2)
    assert any(line.endswith(", and 2 more") for line in lines(found))


def test_a_channel_with_a_window_of_its_own_hears_when_that_is_over(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = msgspec.structs.replace(RULES, windows={"team": timedelta(minutes=10)}, board="https://b")
    monkeypatch.setitem(globals(), "RULES", rules)
    for minute in range(2):
        world.arrive(f"10:0{minute}", "raw", f"2026-03-0{minute + 1}")
        end(world, f"10:0{minute}", "failed")
        collected(world, f"10:0{minute}:30")
    assert sorted(each.channel for each in alerts(world)) == ["ops", "team"]
    assert [(each.channel, each.message.count) for each in collected(world, "10:11")] == [("team", 2)]
    (last,) = collected(world, "11:01")
    assert (last.channel, last.message.count) == ("ops", 2)
    assert last.message.board_url == f"https://b/board/jobs/{last.message.job}"
    for minute in range(2):
        world.arrive(f"12:0{minute}", "raw", f"2026-03-0{minute + 1}")
        end(world, f"12:0{minute}", "succeeded")
    assert [each.channel for each in collected(world, "12:05")] == ["ops"]


def test_a_schedule_without_channels_is_silent(world: World) -> None:
    world.arrive("10:00", "plain")
    end(world, "10:00", "failed")
    assert collected(world, "10:01") == []
    with world.store.reading() as reader:
        assert reader.records(INCIDENTS, project=[""]) == ()


def test_a_dead_letter_is_one_kind_of_its_own(world: World) -> None:
    world.arrive("10:00", "other", "2026-03-09")
    for minute in range(OFFERS_MAX):
        world.tick(f"1{minute}:00")
        for request in world.offer_launches(f"1{minute}:00"):
            with world.store.transaction() as transaction:
                reject(transaction, request.job, 1, "no such partition", at(f"1{minute}:00"))
    (found,) = collected(world, "17:00")
    assert (found.kind, found.message.text) == (AlertKind.DEAD_LETTER, "no such partition")


def test_a_run_that_a_person_cancelled_is_no_failure(world: World) -> None:
    world.arrive("10:00", "raw", "2026-03-09")
    end(world, "10:00", "cancelled")
    assert collected(world, "10:01") == []


def test_an_attempt_that_a_suspend_abandons_is_a_failure(world: World) -> None:
    world.arrive("10:00", "other", "2026-03-09")
    end(world, "10:00", "failed", "one")
    world.suspend("10:00:30", "pooled")
    (found,) = collected(world, "10:01")
    assert (found.kind, found.message.reason) == (AlertKind.FAILED, "D-SUSPENDED")


def test_a_failure_that_a_person_has_retried_before_the_collection_is_not_lost(world: World) -> None:
    world.arrive("10:00", "raw", "2026-03-09")
    end(world, "10:00", "failed", "one")
    (job,) = world.jobs("by_day")
    world.retry("10:01", job.id)
    assert {each.message.text for each in collected(world, "10:02")} == {"one"}


def test_a_blocked_commit_is_heard_once_and_when_it_is_over(world: World) -> None:
    rules = AlertRules(default={"blocked_commit": ("ops",), "recovered": ("ops",)})
    blocked = {"c1": BlockedCommit(commit="c1", dataset="a/out", error="disk full", at=at("10:00"))}
    assert collect(world.store, "", rules, at("10:00"), blocked) == 1
    assert collect(world.store, "", rules, at("10:01"), blocked) == 0
    assert collect(world.store, "", rules, at("10:02"), None) == 0, "they were not looked at"
    assert collect(world.store, "", rules, at("10:03"), {}) == 1
    last, first = alerts(world)
    assert (first.kind, first.subject, first.message.text) == (AlertKind.BLOCKED_COMMIT, "a/out", "disk full")
    assert last.message.recovered_from is AlertKind.BLOCKED_COMMIT


def test_apps_of_another_project_are_not_this_projects_business(world: World) -> None:
    with world.store.transaction() as transaction:
        (app,) = transaction.records(APPS)
        transaction.put_records(
            APPS, [type(app)(app=app.app, revision=2, deployed_at=app.deployed_at, project="q")]
        )
    world.arrive("10:00", "raw", "2026-03-09")
    end(world, "10:00", "failed")
    assert collected(world, "10:01") == []
    assert collect(world.store, "q", RULES, at("10:01")) == 2


def test_a_missed_deadline_is_heard_and_so_is_the_success_after_it() -> None:
    routed = SCHEDULES.replace("{failed: [ops, team], recovered", "{late: [ops], recovered")
    world = World(routed.replace("  owner: flights", "  deadline: 30m\n  owner: flights"))
    world.arrive("10:00", "raw", "2026-03-09")
    world.tick("10:00")
    assert sweep_deadlines(world.store, at("10:31")) == 1
    (found,) = collected(world, "10:32")
    assert (found.kind, found.message.reason) == (AlertKind.LATE, "L-DEADLINE")
    assert found.message.text == (
        "not successful by 2026-03-10T10:30:00+00:00 (deadline 30m after the trigger)"
    )
    end(world, "10:40", "succeeded")
    (over,) = collected(world, "10:41")
    assert (over.kind, over.message.recovered_from) == (AlertKind.RECOVERED, AlertKind.LATE)


class Expecting(World):
    """A world whose dataset `raw` has a deadline; a schedule has the same name."""

    def __init__(self, schedules: str) -> None:
        raw = "{partitions: {cycle: day, start: 2026-01-01}, deadline: '08:00', owner: feeds, alerts: [data]}"
        head = DATASETS.replace("raw: {partitions: {cycle: day, start: 2013-01-01}}", f"raw: {raw}")
        self.compiled = lambda text: app_of(text, head)
        super().__init__(schedules)


def test_late_data_is_heard_in_the_channels_of_its_dataset_and_so_is_its_landing() -> None:
    world = Expecting("raw: {program: p, trigger: {partitions: {dataset: raw}}, status: active}")
    world.tick("1d 07:59")
    world.tick("1d 08:00")
    (found,) = collected(world, "1d 08:00:01")
    assert (found.channel, found.kind, found.subject) == ("data", AlertKind.LATE, "a/raw")
    said = found.message
    assert (said.key, said.reason, said.owner, said.data) == ("2026-03-10", "L-DATASET", "feeds", True)
    assert said.text == "not landed by 2026-03-11T08:00:00+00:00 (deadline 08:00)"
    assert lines(said)[-1] == "more: tidegate late --dataset a/raw"
    world.arrive("1d 09:00", "raw", "2026-03-10")
    world.tick("1d 09:00")
    (over,) = collected(world, "1d 09:00:01")
    assert (over.kind, over.message.recovered_from, over.message.owner) == (
        AlertKind.RECOVERED,
        AlertKind.LATE,
        "feeds",
    )


def test_late_data_and_blocked_commits_of_another_project_are_not_heard() -> None:
    world = Expecting("raw: {program: p, trigger: {partitions: {dataset: raw}}, status: active}")
    with world.store.transaction() as transaction:
        (app,) = transaction.records(APPS)
        transaction.put_records(APPS, [msgspec.structs.replace(app, project="q", revision=2)])
    world.tick("1d 07:59")
    world.tick("1d 08:00")
    rules = AlertRules(default={"blocked_commit": ("ops",)})
    blocked = {"c1": BlockedCommit(commit="c1", dataset="a/out", error="disk full", at=at("10:00"))}
    for project, heard in (("", 0), ("q", 2)):
        assert collect(world.store, project, rules, at("1d 08:00:01"), blocked) == heard


def test_the_first_collection_leaves_old_entries_alone(world: World) -> None:
    world.arrive("10:00", "raw", "2026-03-09")
    end(world, "10:00", "failed")
    world.arrive("13:30", "raw", "2026-03-08")
    end(world, "13:30", "failed")
    assert {each.message.key for each in collected(world, "14:00")} == {"2026-03-08"}


def test_a_crash_before_the_commit_makes_each_alert_at_the_next_time(world: World) -> None:
    world.arrive("10:00", "raw", "2026-03-09")
    end(world, "10:00", "failed")

    class Dies(Exception):
        pass

    class Dying:
        def __init__(self) -> None:
            self.reading = world.store.reading

        def transaction(self) -> object:
            return self

        def __enter__(self) -> object:
            self._open = world.store.transaction()
            return self._open.__enter__()

        def __exit__(self, *_: object) -> None:
            error = Dies()
            self._open.__exit__(Dies, error, None)
            raise error

    with pytest.raises(Dies):
        collect(Dying(), "", RULES, at("10:01"))  # pyright: ignore[reportArgumentType] - only what it calls
    assert alerts(world) == ()
    assert len(collected(world, "10:02")) == 2
