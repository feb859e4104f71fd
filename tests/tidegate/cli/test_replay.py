"""`tidegate events replay`: what an edit has discarded is fed to the schedules that lack it."""

from tests.tidegate.project import Project


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
