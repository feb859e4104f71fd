"""`tidegate events replay`: what an edit has discarded is fed to the schedules that lack it."""

import pytest

from tests.tidegate.project import Project
from tests.worlds.by import ME
from tidegate.cli.operate.intake import events
from tidegate.scheduler.model.journal import EntryKind

pytestmark = pytest.mark.slow  # whole commands


def fed(project: Project, *arguments: str) -> dict[str, int]:
    """What a replay feeds to each schedule that is active."""
    found = project.json("events", "replay", "orders", *arguments)
    return {each["schedule"]: each["events"] for each in found if not each["suspended"]}


@pytest.fixture
def edited(deployed: Project) -> Project:
    """Two days of orders were collected, and an edit of the schedule discarded them."""
    deployed.edit("count: 2", "count: 3")
    deployed.arrive("2026-03-08", "2026-03-09")
    deployed.edit("count: 3", "count: 4")
    deployed.run("deploy")
    return deployed


def test_a_replay_feeds_what_was_discarded_and_says_what_is_collected_already(deployed: Project) -> None:
    deployed.arrive("2026-03-08")
    deployed.edit("count: 2", "count: 3")
    deployed.run("deploy")

    printed = deployed.run("events", "replay", "orders")
    assert "sales/report_daily: 1 event to collect\n" in printed
    assert "sales/report_by_day: suspended, collects nothing" in printed
    again = deployed.json("events", "replay", "sales/orders", "--key", "2026-03-08", "--again")
    assert {each["schedule"]: each["known"] for each in again} == {
        "sales/report_by_day": 0,
        "sales/report_daily": 1,
    }

    (repeated,) = [each for each in deployed.json("events", "list") if each.get("origin")]
    assert (repeated["origin"], repeated["only_for"]) == ("orders:2026-03-08", "sales/report_daily")


def test_an_unknown_dataset_or_key_is_refused(deployed: Project) -> None:
    assert deployed.refused("events", "replay", "order").hint == 'did you mean "orders"?'
    deployed.arrive("2026-03-08")
    refusal = deployed.refused("events", "replay", "orders", "--key", "2026-03-07")
    assert refusal.message == "sales/orders has no event of partition 2026-03-07"


def test_only_what_arrived_in_a_time_is_fed(edited: Project) -> None:
    first, second = (each["arrived"] for each in reversed(edited.json("events", "list")))

    assert "no event in that time" in edited.refused("events", "replay", "orders", "--to", first).message
    assert fed(edited, "--from", second) == {"sales/report_daily": 1}
    assert fed(edited, "--from", first, "--to", second) == {"sales/report_daily": 1}
    assert fed(edited, "--from", first) == {"sales/report_daily": 0}
    assert (
        "--from must have a zone"
        in edited.refused("events", "replay", "orders", "--from", first[:-1]).message
    )


def test_one_schedule_that_was_resumed_collects_what_it_missed(edited: Project) -> None:
    edited.run("schedules", "resume", "report_by_day")

    assert fed(edited, "--schedule", "report_by_day") == {"sales/report_by_day": 2}
    assert fed(edited, "--schedule", "report_by_day") == {"sales/report_by_day": 0}
    assert fed(edited) == {"sales/report_by_day": 0, "sales/report_daily": 2}
    wrong = edited.refused("events", "replay", "orders", "--schedule", "report_at_six")
    assert "sales/report_at_six does not count the partitions of sales/orders" in wrong.message


def test_many_events_are_fed_with_yes_only(edited: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "ASKED_BEYOND", 1)

    refused = edited.refused("events", "replay", "orders")
    assert "feeds 2 events to sales/report_daily" in refused.message
    assert "--yes" in refused.hint
    assert len(edited.json("events", "list")) == 2
    assert fed(edited, "--yes", "--reason", "edited by mistake") == {"sales/report_daily": 2}
    store = edited.store()
    with store.reading() as reader:
        (entry,) = (each for each in reader.journal() if each.kind is EntryKind.REPLAY)
    store.close()
    assert (entry.data["by"], entry.data["why"]) == (ME, "edited by mistake")
