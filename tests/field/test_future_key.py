"""One mistyped year, 2062 for 2026, and the day never ran: the key made the launch of all good ones fail.

A key of a period that has not begun is refused where it comes in: it cannot have data. The period that runs
may come, from its first instant on, in the zone of its dataset.
"""

from datetime import timedelta
from pathlib import Path

import pytest

from tests.watcher.landing import Landing
from tests.worlds.by import CLI
from tests.worlds.world import DATASETS, World, at
from tidegate.scheduler.commands.existing_events import EventsToReplay, replay_events
from tidegate.scheduler.decision import route
from tidegate.scheduler.intake.report_partitions import Landed, ReportRefused, report_partitions
from tidegate.scheduler.launch.outbox import OFFERS_MAX
from tidegate.scheduler.model.refused import Refused

GOOD, FUTURE = ("2026-03-08", "2026-03-09"), "2062-03-09"
DAILY = "s: {program: p, status: active, trigger: {partitions: {dataset: raw}}}"
IN_TOKYO = DATASETS.replace("raw: {partitions: {", "raw: {partitions: {timezone: Asia/Tokyo, ")


def reported(world: World, clock: str, dataset: str, *keys: str) -> None:
    with world.store.transaction() as transaction:
        landed = [Landed(key=key) for key in keys]
        report_partitions(transaction, "", "a", dataset, landed, at(clock), CLI, f"{clock} {keys}")


def launched(world: World, clock: str) -> dict[str, tuple[str, ...]]:
    world.tick(clock)
    (request,) = world.offer_launches(clock)
    return request.launch.manifest


def test_a_report_with_a_future_key_is_refused_as_a_whole() -> None:
    world = World(DAILY)
    with pytest.raises(ReportRefused, match=r"2062-03-09.*has not begun") as refused:
        reported(world, "10:00", "raw", *GOOD, FUTURE)
    assert [(each.code, each.path) for each in refused.value.wrong] == [("E-KEY", "partitions[2].key")]
    world.tick("10:00")
    assert world.jobs("s") == ()


def test_an_event_of_a_run_or_of_another_store_is_dropped_and_the_good_keys_are_launched() -> None:
    world = World(DAILY)
    world.arrive("10:00", "raw", *GOOD, FUTURE)
    assert launched(world, "10:00") == {"raw": GOOD}
    assert world.ledger("s").discarded == {"D-KEY": 1}


@pytest.mark.parametrize(
    ("dataset", "key", "early", "begin"),
    [
        ("raw", "2026-03-11", "23:59:59", "1d 00:00"),
        ("hourly", "2026-03-10-14:00", "13:59", "14:00"),
        ("chunks", "2026-03-11|EWR", "23:59", "1d 00:00"),
    ],
)
def test_the_period_that_runs_may_come_from_its_first_instant_on(
    dataset: str, key: str, early: str, begin: str
) -> None:
    world = World(f"s: {{program: q, status: active, trigger: {{partitions: {{dataset: {dataset}}}}}}}")
    with pytest.raises(ReportRefused):
        reported(world, early, dataset, key)
    reported(world, begin, dataset, key)
    assert launched(world, begin) == {dataset: (key,)}


def test_the_zone_of_the_dataset_decides() -> None:
    """In Tokyo the day begins nine hours before it does in UTC."""

    class Tokyo(World):
        compiled = staticmethod(lambda schedules: World.compiled(schedules, IN_TOKYO))

    world = Tokyo(DAILY.replace("program: p", "program: q"))
    with pytest.raises(ReportRefused):
        reported(world, "14:59", "raw", "2026-03-11")
    reported(world, "15:00", "raw", "2026-03-11")
    assert launched(world, "15:00") == {"raw": ("2026-03-11",)}


@pytest.mark.parametrize("rest", ["for_each: month", "for_each: year"])
def test_of_a_coarser_period_the_key_itself_counts(rest: str) -> None:
    world = World(DAILY.replace("program: p", f"program: q, {rest}"))
    world.arrive("10:00", "raw", "2026-03-10", "2026-03-11")
    assert launched(world, "10:00") == {"raw": ("2026-03-10",)}


def test_what_came_too_early_is_collected_by_a_replay_once_its_period_has_begun() -> None:
    world = World(DAILY)
    world.arrive("10:00", "raw", "2026-03-11")
    world.tick("10:00")
    with world.store.transaction() as transaction:
        replay_events(transaction, EventsToReplay(key="partition:a/raw"), at("1d 01:00"), CLI)
    assert launched(world, "1d 01:00") == {"raw": ("2026-03-11",)}


def dead_letter(monkeypatch: pytest.MonkeyPatch, *keys: str) -> World:
    """A dead letter of a version that took keys of the future."""
    world = World(DAILY)
    with monkeypatch.context() as before:
        before.setattr(route, "is_early", lambda *_: False)
        world.arrive("10:00", "raw", *keys)
        world.tick("10:00")
    for offer in range(OFFERS_MAX):
        world.offer_launches(f"{11 + offer}:00")
    world.offer_launches("18:00")
    assert world.outcome("s") == ("FAILED", "F-LAUNCH")
    return world


def test_a_requeue_drops_such_keys_from_an_older_dead_letter(monkeypatch: pytest.MonkeyPatch) -> None:
    world = dead_letter(monkeypatch, *GOOD, FUTURE)
    world.requeue("19:00", world.only("s").id)
    assert launched(world, "19:00") == {"raw": GOOD}
    ledger = world.ledger("s")
    assert (ledger.consumed + ledger.pending, ledger.discarded) == (2, {"D-KEY": 1})


def test_a_dead_letter_without_another_key_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    world = dead_letter(monkeypatch, FUTURE)
    with pytest.raises(Refused, match=r"not begun \(2062-03-09\)"):
        world.requeue("19:00", world.only("s").id)
    assert world.outcome("s") == ("FAILED", "F-LAUNCH")


def test_a_watched_folder_is_reported_when_its_period_begins(tmp_path: Path) -> None:
    landing = Landing(tmp_path)
    landing.land("a.parquet")
    landing.land("a.parquet", folder="day=2026-03-11/region=north")
    assert landing.settled() == ("2026-03-09|north",)
    assert landing.settled() == ()
    assert landing.after(timedelta(days=1).total_seconds()) == ("2026-03-11|north",)
    assert landing.settled() == ()
