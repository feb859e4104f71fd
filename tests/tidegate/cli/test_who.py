"""Every change that a command makes is in the journal with the user of the machine, and the reason given."""

from tests.tidegate.project import Project
from tests.worlds.by import ME


def test_the_journal_has_the_user_and_the_reason_of_every_command(deployed: Project) -> None:
    deployed.arrive("2026-03-09")
    (job,) = deployed.json("jobs", "list")
    commands = [
        ("jobs", "cancel", job["id"]),
        ("schedules", "suspend", "report_at_six"),
        ("schedules", "resume", "report_at_six"),
        ("schedules", "trigger", "report_at_six", "--key", "2026-03-09"),
        ("schedules", "update", "report_daily", "--set", "timeout=5h"),
        ("overrides", "revert", "report_daily"),
        ("apps", "hold", "sales"),
        ("apps", "release", "sales"),
        ("report", "orders", "--key", "2026-03-10", "--anyway"),
        ("gauge", "set", "cpu", "20"),
        ("token", "create", "ops", "--role", "read"),
        ("token", "revoke", "ops"),
        ("events", "replay", "orders", "--key", "2026-03-09", "--again"),
        ("schedules", "delete", "report_by_day"),
        ("deploy",),
    ]
    for number, command in enumerate(commands):
        deployed.run(*command, "--reason", f"no. {number}")

    store = deployed.store()
    with store.reading() as reader:
        noted = [entry.data for entry in reader.journal() if "by" in entry.data]
    store.close()

    assert {each["by"] for each in noted} == {ME}
    said = {each.get("why") for each in noted}
    assert [command for number, command in enumerate(commands) if f"no. {number}" not in said] == []
    assert deployed.json("deployments", "log")[0]["by"] == ME
